#include "control/spec/job_graph.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/gpu.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/select.h"
#include "control/spec/spec_error.h"
#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"

namespace railyard::spec {

namespace {

void check_storage(const jobs::Storage& s, const Tree& said) {
  const char* const needs = s.ranks > 0        ? nullptr
                            : s.every > 0      ? "checkpoint"
                            : s.restore        ? "checkpoint"
                            : s.sample.n > 0   ? "sample-size"
                                               : nullptr;
  if (needs != nullptr) said.at_or_self(needs).fail("found without storage; expected storage: [hosts that store]");
  std::vector<int> steps;
  for (const jobs::Failure& f : s.failures) {
    if (f.rank && f.elastic == jobs::Elastic::kOff)
      said.at_or_self("failures").fail(fmt::format("step {}: rank {} is replaced, whichever it is; expected no rank, or elastic: "
                                                   "smaller-batch or same-batch", f.step, *f.rank));
    if (f.returns > 0 && f.elastic == jobs::Elastic::kOff)
      said.at_or_self("failures").fail(fmt::format("step {}: returns, but no copy is left out; expected elastic: smaller-batch or "
                                                   "same-batch, or no returns", f.step));
    if (f.returns > 0 && (f.returns <= f.step || f.returns > s.steps))
      said.at_or_self("failures").fail(fmt::format("step {}: its copy returns in step {}; expected {}..{}", f.step, f.returns,
                                                   f.step + 1, s.steps));
    if (f.step > s.steps) said.at_or_self("failures").fail(fmt::format("step {} of {}; expected 1..{}", f.step, s.steps, s.steps));
    if (std::ranges::find(steps, f.step) != steps.end())
      said.at_or_self("failures").fail(fmt::format("step {} fails twice; expected each step once", f.step));
    steps.push_back(f.step);
  }
}

double number(Ratio r) { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

jobs::JobGraph make_training(const Lab& lab, const CollectiveSpec& c, JobSpec& job, const Tree& said) {
  jobs::Training& t = job.training;
  t.model = job.model.model;
  if (t.model.name.empty()) t.model.name = "model";
  t.seed = mix64(lab.run.seed.value ^ hash_string("job/" + c.name));
  t.flops = std::ranges::find(jobs::kGpus, job.gpu, &jobs::Gpu::name)->flops * number(job.mfu);

  for (const std::string& selector : job.storage)
    if (rank_nics(lab, {selector}).empty())
      said.at_or_self("storage").fail(fmt::format("'{}' matches no host or NIC; expected one such as h1, h* or h1:2", selector));
  const std::vector<RankAt> all = ranks_at(lab, c);
  t.storage.ranks = static_cast<int>(storage_ranks(lab, job));
  t.storage.steps = c.repeats;
  check_storage(t.storage, said);
  for (std::size_t s = all.size() - static_cast<std::size_t>(t.storage.ranks); s < all.size(); ++s)
    if (std::ranges::find(all, all[s]) != all.begin() + static_cast<std::ptrdiff_t>(s))
      said.at_or_self("storage").fail(fmt::format("{} is placed as a rank of the job; expected others", format(lab, all[s])));
  const int there = static_cast<int>(all.size()) - t.storage.ranks;
  int& data = t.parallelism.degree(jobs::Axis::kData);
  data = job.data.value_or(1);
  const std::int64_t others = t.parallelism.ranks() / data;
  if (!job.data && there % others == 0) data = static_cast<int>(std::max<std::int64_t>(there / others, 1));
  if (const std::int64_t wanted = t.parallelism.ranks(); there < wanted || (!job.data && there != wanted))
    said.at_or_self("parallelism")
        .fail(fmt::format("needs {}{} ranks, but there are {} NICs or GPUs; expected {}", job.data ? "" : "a multiple of ", wanted,
                          there, job.data ? "as many, or fewer copies" : "other degrees, or dp"));
  if (const auto right = jobs::check(t); !right) said.at_or_self(std::string(right.error().key)).fail(right.error().text);
  return jobs::make_graph(t);
}

jobs::JobGraph make_inference(const Lab& lab, const CollectiveSpec& c, JobSpec& job, const Tree& said) {
  jobs::Inference& i = *job.inference;
  i.model = job.model.model;
  if (i.model.name.empty()) i.model.name = "model";
  i.seed = mix64(lab.run.seed.value ^ hash_string("job/" + c.name));
  const jobs::Gpu& gpu = *std::ranges::find(jobs::kGpus, job.gpu, &jobs::Gpu::name);
  i.flops = gpu.flops * number(job.mfu);
  i.memory = gpu.memory * number(job.mbu);
  const auto there = static_cast<int>(ranks_at(lab, c).size());
  if (there < i.ranks())
    said.at_or_self("inference")
        .fail(fmt::format("needs {} ranks ({} for prefill, {} for decode), but there are {} NICs or GPUs; expected as many, or fewer "
                          "replicas",
                          i.ranks(), i.prefill.ranks(), i.decode.ranks(), there));
  if (const auto right = jobs::check(i); !right)
    said.at_or_self("inference").at_or_self(std::string(right.error().key)).fail(right.error().text);
  return jobs::serve(i).graph;
}

// What a job does that shrinks.
void set_eras(CollectiveSpec& c, const Tree& said) {
  auto eras = jobs::eras(c.job->training);
  if (!eras) said.at_or_self(std::string(eras.error().key)).fail(eras.error().text);
  if (eras->size() == 1) return;
  auto graph = jobs::make_graph(c.job->training, *eras);
  auto matches = jobs::check(graph);
  RAILYARD_ASSERT(matches.has_value(), "a schedule of our own fits together");
  c.traced.eras = std::move(*eras);
  c.traced.of_eras = std::make_shared<const jobs::JobGraph>(std::move(graph));
  c.traced.matches_of_eras = std::make_shared<const jobs::Matches>(std::move(*matches));
}

}  // namespace

void make_job_graph(const Lab& lab, CollectiveSpec& c, const Tree& said) {
  auto graph = c.job->inference ? make_inference(lab, c, *c.job, said) : make_training(lab, c, *c.job, said);
  auto matches = jobs::check(graph);
  RAILYARD_ASSERT(matches.has_value(), "a schedule of our own fits together");
  c.size = Bytes{static_cast<std::int64_t>(jobs::total_octets(graph))};
  c.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)),
              std::make_shared<const jobs::Matches>(std::move(*matches))};
  if (!c.job->inference) set_eras(c, said);
}

}  // namespace railyard::spec
