#include "control/spec/job_graph.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/gpu.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/spec_error.h"
#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"

namespace railyard::spec {

void make_job_graph(const Lab& lab, CollectiveSpec& c, const Tree& said) {
  JobSpec& job = *c.job;
  jobs::Training& t = job.training;
  t.model = job.model.model;
  if (t.model.name.empty()) t.model.name = "model";
  t.seed = mix64(lab.run.seed.value ^ hash_string("job/" + c.name));
  const auto gpu = std::ranges::find(jobs::kGpus, job.gpu, &jobs::Gpu::name);
  t.flops = gpu->flops * static_cast<double>(job.mfu.numerator) / static_cast<double>(job.mfu.denominator);

  const auto there = static_cast<int>(ranks_at(lab, c).size());
  int& data = t.parallelism.degree(jobs::Axis::kData);
  data = job.data.value_or(1);
  const std::int64_t others = t.parallelism.ranks() / data;
  if (!job.data && there % others == 0) data = static_cast<int>(std::max<std::int64_t>(there / others, 1));
  if (const std::int64_t wanted = t.parallelism.ranks(); there < wanted || (!job.data && there != wanted))
    said.at_or_self("parallelism")
        .fail(fmt::format("needs {}{} ranks, but there are {} NICs or GPUs; expected {}", job.data ? "" : "a multiple of ", wanted,
                          there, job.data ? "as many, or fewer copies" : "other degrees, or dp"));
  if (const auto right = jobs::check(t); !right) said.at_or_self(std::string(right.error().key)).fail(right.error().text);
  auto graph = jobs::make_graph(t);
  auto matches = jobs::check(graph);
  RAILYARD_ASSERT(matches.has_value(), "a schedule of our own fits together");
  c.size = Bytes{static_cast<std::int64_t>(jobs::total_octets(graph))};
  c.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)),
              std::make_shared<const jobs::Matches>(std::move(*matches))};
}

}  // namespace railyard::spec
