#include "control/report/job_figures.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/gpu.h"
#include "control/jobs/ideal.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"

namespace railyard::report {
namespace {

std::string parallelism_text(const jobs::Parallelism& p) {
  std::vector<std::string> parts;
  for (const jobs::Axis axis : {jobs::Axis::kTensor, jobs::Axis::kContext, jobs::Axis::kPipeline, jobs::Axis::kData})
    if (p.degree(axis) > 1) parts.push_back(fmt::format("{} {}", name(axis), p.degree(axis)));
  if (p.expert > 1) parts.push_back(fmt::format("ep {}", p.expert));
  return parts.empty() ? "one rank" : fmt::format("{}", fmt::join(parts, ", "));
}

JobFigures::Training training_figures(const spec::JobSpec& job, const jobs::JobGraph& graph,
                                      std::optional<std::int64_t> median_ns) {
  const jobs::Training& t = job.training;
  JobFigures::Training out;
  out.parallelism = parallelism_text(t.parallelism);
  out.microbatches = t.microbatches;
  out.tokens = static_cast<double>(t.microbatches) * t.microbatch_size * t.used_sequence() *
               t.parallelism.degree(jobs::Axis::kData);
  if (median_ns && *median_ns > 0) {
    const double seconds = static_cast<double>(*median_ns) / 1e9;
    out.tokens_per_second = out.tokens / seconds;
    const auto gpu = std::ranges::find(jobs::kGpus, job.gpu, &jobs::Gpu::name);
    if (t.forward == Duration{}) out.mfu = jobs::step_flops(t) / (seconds * t.parallelism.ranks() * gpu->flops);
  }
  jobs::Volumes most;
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
    const jobs::Volumes v = jobs::volumes(graph, r);
    for (double jobs::Volumes::*kind : {&jobs::Volumes::tensor, &jobs::Volumes::context, &jobs::Volumes::expert,
                                        &jobs::Volumes::pipeline, &jobs::Volumes::data})
      most.*kind = std::max(most.*kind, v.*kind);
  }
  for (const auto& [kind, bytes] : {std::pair{"tp", most.tensor}, std::pair{"cp", most.context}, std::pair{"ep", most.expert},
                                    std::pair{"pp", most.pipeline}, std::pair{"dp", most.data}})
    if (bytes > 0) out.volumes.push_back({kind, bytes});
  return out;
}

// Of an ordinary step.
Duration ideal_step(const spec::CollectiveSpec& c) {
  const jobs::JobGraph& graph = *c.traced.graph;
  const std::vector<double> slowness = spec::slowness_of(c, graph.ranks.size());
  if (graph.occasions.size() == 1) return jobs::ideal_time(graph, *c.traced.matches, slowness);
  const jobs::JobGraph ordinary = jobs::of_repeat(graph, graph.ordinary(static_cast<std::uint32_t>(c.repeats)));
  return jobs::ideal_time(ordinary, *jobs::check(ordinary), slowness);
}

}  // namespace

std::optional<JobFigures> job_figures(const spec::CollectiveSpec& c, std::optional<std::int64_t> median_ns) {
  if (!c.is_graph() || c.traced.graph == nullptr) return std::nullopt;
  JobFigures out;
  out.ideal_ns = ideal_step(c).ps / 1000;
  if (median_ns && *median_ns > 0)
    out.efficiency = std::min(1.0, static_cast<double>(out.ideal_ns) / static_cast<double>(*median_ns));
  if (c.is_job() && !c.job->inference) out.training = training_figures(*c.job, *c.traced.graph, median_ns);
  return out;
}

std::string job_text(const std::string& name, const JobFigures& f) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (f.training) {
    const JobFigures::Training& t = *f.training;
    fmt::format_to(out, "  {}: {}; {} microbatch{} per step", name, t.parallelism, t.microbatches, t.microbatches == 1 ? "" : "es");
    if (t.tokens_per_second) fmt::format_to(out, "; {:.4g} tokens/s", *t.tokens_per_second);
    if (t.mfu) fmt::format_to(out, ", MFU {}", percent_text(*t.mfu));
    text += '\n';
  }
  if (f.inference) text += inference_text(name, *f.inference);
  if (f.ideal_ns > 0) {
    fmt::format_to(out, "  {}: with an ideal network {} {}", name, f.inference ? "all requests take" : "a step takes", nanoseconds_text(static_cast<std::uint64_t>(f.ideal_ns)));
    if (f.efficiency) fmt::format_to(out, "; {} of that speed is reached", percent_text(*f.efficiency));
    text += '\n';
  }
  if (f.training && !f.training->volumes.empty()) {
    fmt::format_to(out, "  {}: sent per rank and step, at most:", name);
    const char* comma = "";
    for (const JobFigures::Training::Volume& v : f.training->volumes) {
      std::string kind = v.kind;
      std::ranges::replace(kind, '_', ' ');
      fmt::format_to(out, "{} {} {}", comma, kind, size_text(static_cast<std::uint64_t>(v.bytes)));
      comma = ",";
    }
    text += '\n';
  }
  return text;
}

}  // namespace railyard::report
