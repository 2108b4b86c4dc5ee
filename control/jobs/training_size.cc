#include "control/jobs/training_size.h"

#include <fmt/format.h>

namespace railyard::jobs {
namespace {

// Operations of a rank, as Builder (training.cc) adds them.
struct OfRank {
  const Training& t;
  int tensor = t.parallelism.degree(Axis::kTensor);
  int context = t.parallelism.degree(Axis::kContext);
  int copies = context * t.parallelism.degree(Axis::kData);
  bool zero3 = t.sharding == Sharding::kZero3;
  int parts = t.model.experts > 0 ? 2 : 1;  // gradients and parameters of experts go on their own

  // Gathers of a segment's parameters, or reductions of its gradients.
  int gathers() const { return copies > 1 ? parts : 0; }
  int reductions() const { return copies > 1 ? parts * (t.shard > 0 ? 2 : 1) : 0; }
  // Of a segment in a pass.
  int segment() const {
    int all = 2;  // attention and MLP
    if (context > 1) all += 1;
    if (tensor > 1) all += t.sequence_parallel ? 4 : 2;
    if (t.parallelism.expert > 1) all += 2;
    if (zero3 && copies > 1) all += gathers() + 1;
    return all;
  }
  double step() const {
    const double segments = t.used_segments();
    const double passes = 2.0 * t.microbatches * t.chunks;
    double all = passes * segments * segment();
    if (t.parallelism.degree(Axis::kPipeline) > 1) all += passes * 3;  // receive, wait, send
    all += t.chunks * segments * reductions() * (zero3 ? t.microbatches : 1);
    if (t.sharding == Sharding::kZero1 || t.sharding == Sharding::kZero2) all += t.chunks * segments * gathers();
    return all + 2;  // the last gradients, the optimizer
  }
};

}  // namespace

double operations(const Training& t) noexcept { return OfRank{t}.step() * t.parallelism.ranks(); }

TrainingError too_many_operations(const Training& t, double count) {
  return {t.microbatches > 1 ? "microbatches" : "segments",
          fmt::format("a step has about {:.0f} operations; expected at most {:.0f}: fewer microbatches, segments or ranks", count,
                      kMostTrainingOperations)};
}

}  // namespace railyard::jobs
