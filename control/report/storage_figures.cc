#include "control/report/storage_figures.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::report {
namespace {

// The lower one of two in the middle, as of steps.
std::optional<std::int64_t> median(std::vector<std::int64_t> times) {
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

std::optional<std::int64_t> longer(std::vector<std::int64_t> times, std::optional<std::int64_t> ordinary) {
  const auto m = median(std::move(times));
  if (!m || !ordinary) return std::nullopt;
  return *m - *ordinary;
}

}  // namespace

std::optional<StorageFigures> storage_figures(const jobs::Storage& storage, std::uint64_t checkpoint_bytes,
                                              std::span<const StepTime> steps) {
  if (storage.ranks == 0 && storage.failures.empty()) return std::nullopt;
  const jobs::Course course = jobs::course(storage);
  StorageFigures out{.checkpoint_bytes = checkpoint_bytes,
                     .checkpoints = static_cast<int>(course.checkpoints.size()),
                     .restores = storage.ranks > 0 ? static_cast<int>(course.restores.size()) : 0,
                     .failures = static_cast<int>(storage.failures.size()),
                     .lost_steps = course.lost,
                     .checkpoint_ns = {},
                     .restore_ns = {},
                     .ettr = {}};
  std::vector<std::int64_t> ordinary, writing, reading;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (!steps[s].time_ns) continue;
    std::int64_t time = *steps[s].time_ns;
    const bool writes = std::ranges::binary_search(course.checkpoints, s);
    const bool reads = std::ranges::binary_search(course.restores, s);
    const auto restart = std::ranges::find(course.restarts, s, &std::pair<std::uint32_t, Duration>::first);
    if (restart != course.restarts.end()) time -= restart->second.ps / 1000;
    if (!writes && !reads && restart == course.restarts.end()) ordinary.push_back(time);
    if (writes && !reads) writing.push_back(time);
    if (reads && !writes) reading.push_back(time);
  }
  const std::optional<std::int64_t> usual = median(std::move(ordinary));
  out.checkpoint_ns = longer(std::move(writing), usual);
  out.restore_ns = longer(std::move(reading), usual);
  if (usual && static_cast<int>(steps.size()) == storage.steps && steps.back().time_ns)
    if (const std::int64_t all = steps.back().start_ns + *steps.back().time_ns - steps.front().start_ns; all > 0)
      out.ettr = static_cast<double>(storage.steps - course.lost) * static_cast<double>(*usual) / static_cast<double>(all);
  return out;
}

std::string storage_text(const std::string& name, const StorageFigures& f) {
  std::string text = fmt::format("  {}: ", name);
  const auto out = std::back_inserter(text);
  const char* next = "";
  const auto part = [&]<class... A>(fmt::format_string<A...> format, A&&... args) {
    text += next;
    next = "; ";
    fmt::format_to(out, format, std::forward<A>(args)...);
  };
  const auto longer = [](std::optional<std::int64_t> ns) {
    return ns ? fmt::format(", {} longer than other steps", nanoseconds_text(static_cast<std::uint64_t>(std::max<std::int64_t>(*ns, 0)))) : "";
  };
  if (f.checkpoints > 0)
    part("{} checkpoint{} of {}{}", f.checkpoints, f.checkpoints == 1 ? "" : "s", size_text(f.checkpoint_bytes), longer(f.checkpoint_ns));
  if (f.restores > 0) part("{} read{}", f.restores, longer(f.restore_ns));
  if (f.failures > 0)
    part("{} failure{}, {} step{} of work lost", f.failures, f.failures == 1 ? "" : "s", f.lost_steps, f.lost_steps == 1 ? "" : "s");
  if (f.ettr) part("effective training time ratio (ETTR) {}", percent_text(*f.ettr));
  if (*next == '\0') return "";
  return text + "\n";
}

}  // namespace railyard::report
