#include "control/estimate/storage_estimate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "control/estimate/fluid.h"

namespace railyard::estimate {

void take_step(spec::CollectiveSpec& job, const jobs::JobGraph& whole, std::uint32_t step) {
  jobs::JobGraph graph = jobs::of_repeat(whole, step);
  jobs::Matches matches = *jobs::check(graph);
  job.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)), std::make_shared<const jobs::Matches>(std::move(matches))};
}

namespace {

// Times of a job's steps, of each kind once: steps of one era that write and read the same take the same time.
class Steps {
 public:
  Steps(const spec::Lab& lab, std::size_t job, const spec::TraceSpec& traced, const jobs::Course& course)
      : lab_(lab), job_(job), traced_(traced), course_(course) {}

  // Without the restart that a step may begin with.
  std::expected<Duration, std::string> time(std::uint32_t step) {
    const auto key = std::tuple{traced_.eras.empty() ? 0u : jobs::era_of(traced_.eras, step).first,
                                std::ranges::binary_search(course_.checkpoints, step), std::ranges::binary_search(course_.restores, step)};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    spec::Lab one = lab_;
    take_step(one.collectives[job_], traced_.whole(), step);
    const auto estimated = fluid(one);
    if (!estimated) return std::unexpected(estimated.error());
    const Duration took = std::ranges::find(estimated->collectives, lab_.collectives[job_].name, &CollectiveEstimate::name)->time;
    return known_[key] = took - restart(step);
  }
  Duration restart(std::uint32_t step) const {
    const auto found = std::ranges::find(course_.restarts, step, &std::pair<std::uint32_t, Duration>::first);
    return found == course_.restarts.end() ? Duration{} : found->second;
  }

 private:
  const spec::Lab& lab_;
  std::size_t job_;
  const spec::TraceSpec& traced_;
  const jobs::Course& course_;
  std::map<std::tuple<std::uint32_t, bool, bool>, Duration> known_;  // by the era's first step, writing and reading
};

}  // namespace

std::expected<std::optional<report::StorageFigures>, std::string> storage_of(const spec::Lab& lab, std::size_t job,
                                                                             const spec::TraceSpec& traced) {
  const jobs::Storage& storage = lab.collectives[job].job->training.storage;
  if (storage.ranks == 0 && storage.failures.empty()) return std::nullopt;
  const jobs::Course course = jobs::course(storage);
  Steps times(lab, job, traced, course);
  std::vector<report::StepTime> steps;
  Duration now{};
  for (int step = 0; step < storage.steps; ++step) {
    const auto time = times.time(static_cast<std::uint32_t>(step));
    if (!time) return std::unexpected(time.error());
    const Duration all = *time + times.restart(static_cast<std::uint32_t>(step));
    steps.push_back({now.ps / 1000, all.ps / 1000});
    now += all;
  }
  return report::storage_figures(storage, jobs::checkpoint_octets(*traced.graph), steps, traced.eras);
}

}  // namespace railyard::estimate
