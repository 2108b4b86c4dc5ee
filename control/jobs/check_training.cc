// Whether a training's model, parallelism and schedule fit together.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/training.h"
#include "control/jobs/training_size.h"

namespace railyard::jobs {
namespace {

std::unexpected<TrainingError> error(std::string_view key, std::string text) {
  return std::unexpected(TrainingError{key, std::move(text)});
}

}  // namespace

std::expected<void, TrainingError> check(const Training& t) {
  const Parallelism& p = t.parallelism;
  const int tp = p.degree(Axis::kTensor), cp = p.degree(Axis::kContext), dp = p.degree(Axis::kData),
            pp = p.degree(Axis::kPipeline);
  const Model& m = t.model;
  if (t.schedule == PipelineSchedule::kInterleaved) {
    if (pp == 1) return error("schedule", "interleaved, but there is one stage; expected pp of 2 or more");
    if (t.chunks < 2) return error("chunks", fmt::format("{} per stage; expected 2 or more of an interleaved schedule", t.chunks));
    if (t.microbatches % pp != 0)
      return error("microbatches", fmt::format("{} is not a multiple of the {} stages, as an interleaved schedule needs it; "
                                               "expected {} or {}", t.microbatches, pp,
                                               std::max(t.microbatches / pp, 1) * pp, (t.microbatches / pp + 1) * pp));
  } else if (t.chunks != 1) {
    return error("chunks", "applies to an interleaved schedule only; expected schedule: interleaved");
  }
  if (m.layers % (pp * t.chunks) != 0)
    return error("parallelism", fmt::format("{} layers cannot be divided among {} stages{}; expected a divisor of {}", m.layers, pp,
                                            t.chunks > 1 ? fmt::format(" of {} chunks", t.chunks) : "", m.layers));
  if (m.heads % tp != 0)
    return error("parallelism", fmt::format("{} attention heads cannot be divided among tp {}; expected a divisor of {}", m.heads,
                                            tp, m.heads));
  if (t.used_sequence() % (cp * (t.sequence_parallel ? tp : 1)) != 0)
    return error("sequence", fmt::format("{} tokens cannot be divided among {} ranks; expected a multiple of it",
                                         t.used_sequence(), cp * (t.sequence_parallel ? tp : 1)));
  if (p.expert > 1 && m.experts == 0) return error("parallelism", fmt::format("ep {}, but {} has no experts; expected no ep", p.expert, m.name));
  if (m.experts > 0 && m.experts % p.expert != 0)
    return error("parallelism", fmt::format("{} experts cannot be divided among ep {}; expected a divisor of {}", m.experts, p.expert,
                                            m.experts));
  if (dp % p.expert != 0)
    return error("parallelism", fmt::format("ep {} does not divide dp {}: experts are shared out along the data axis; expected a "
                                            "divisor of {}", p.expert, dp, dp));
  if (t.shard > 0 && t.sharding == Sharding::kNone) return error("shard", "nothing is sharded; expected sharding: zero-1, zero-2 or zero-3");
  if (t.shard > 0 && dp * cp % t.shard != 0)
    return error("shard", fmt::format("{} does not divide the {} ranks that have the same parameters; expected a divisor of {}",
                                      t.shard, dp * cp, dp * cp));
  if (t.shard > 1 && p.expert > 1) return error("shard", "applies to models without experts only");
  if (const double all = operations(t); all > kMostTrainingOperations) return std::unexpected(too_many_operations(t, all));
  return {};
}

}  // namespace railyard::jobs
