#include "control/estimate/storage_estimate.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace railyard::estimate {

void take_step(spec::CollectiveSpec& job, const jobs::JobGraph& whole, std::uint32_t step) {
  jobs::JobGraph graph = jobs::of_repeat(whole, step);
  jobs::Matches matches = *jobs::check(graph);
  job.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)), std::make_shared<const jobs::Matches>(std::move(matches))};
}

std::expected<std::optional<report::StorageFigures>, std::string> storage_of(const spec::Lab& lab, std::size_t job,
                                                                             const jobs::JobGraph& whole, Duration time) {
  const jobs::Storage& storage = lab.collectives[job].job->training.storage;
  auto figures = report::storage_figures(storage, jobs::checkpoint_octets(whole), {});
  if (!figures) return std::nullopt;
  const jobs::Course course = jobs::course(storage);
  // How much longer the first of `steps` takes that does not do what `others` do.
  const auto longer = [&](const std::vector<std::uint32_t>& steps, const std::vector<std::uint32_t>& others)
      -> std::expected<std::optional<std::int64_t>, std::string> {
    const auto step = std::ranges::find_if(steps, [&](std::uint32_t s) { return !std::ranges::binary_search(others, s); });
    if (storage.ranks == 0 || step == steps.end()) return std::nullopt;
    spec::Lab one = lab;
    take_step(one.collectives[job], whole, *step);
    const auto estimated = fluid(one);
    if (!estimated) return std::unexpected(estimated.error());
    Duration took = std::ranges::find(estimated->collectives, lab.collectives[job].name, &CollectiveEstimate::name)->time - time;
    for (const auto& [at, restart] : course.restarts)
      if (at == *step) took = took - restart;
    return took.ps / 1000;
  };
  const auto checkpoint = longer(course.checkpoints, course.restores);
  if (!checkpoint) return std::unexpected(checkpoint.error());
  const auto restore = longer(course.restores, course.checkpoints);
  if (!restore) return std::unexpected(restore.error());
  figures->checkpoint_ns = *checkpoint;
  figures->restore_ns = *restore;
  const double step = static_cast<double>(time.ps) / 1000;
  double all = storage.steps * step + figures->checkpoints * static_cast<double>(checkpoint->value_or(0)) +
               figures->restores * static_cast<double>(restore->value_or(0));
  for (const auto& [at, restart] : course.restarts) all += static_cast<double>(restart.ps) / 1000;
  if (all > 0) figures->ettr = (storage.steps - course.lost) * step / all;
  return figures;
}

}  // namespace railyard::estimate
