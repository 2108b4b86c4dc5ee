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

// Times of steps with the same copies: those of ordinary ones, and which one is usual.
struct Usual {
  std::vector<std::int64_t> times;
  std::optional<std::int64_t> ns;
};

}  // namespace

std::optional<StorageFigures> storage_figures(const jobs::Storage& storage, std::uint64_t checkpoint_bytes,
                                              std::span<const StepTime> steps, const std::vector<jobs::Era>& eras) {
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
  const auto era = [&](std::uint32_t step) {
    return eras.empty() ? std::size_t{0} : static_cast<std::size_t>(&jobs::era_of(eras, step) - eras.data());
  };
  std::vector<Usual> usual(std::max<std::size_t>(eras.size(), 1));
  struct Special {
    std::size_t era;
    std::int64_t ns;
  };
  std::vector<Special> writing, reading;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (!steps[s].time_ns) continue;
    std::int64_t time = *steps[s].time_ns;
    const bool writes = std::ranges::binary_search(course.checkpoints, s);
    const bool reads = std::ranges::binary_search(course.restores, s);
    const auto restart = std::ranges::find(course.restarts, s, &std::pair<std::uint32_t, Duration>::first);
    if (restart != course.restarts.end()) time -= restart->second.ps / 1000;
    if (!writes && !reads && restart == course.restarts.end()) usual[era(s)].times.push_back(time);
    if (writes && !reads) writing.push_back({era(s), time});
    if (reads && !writes) reading.push_back({era(s), time});
  }
  for (Usual& u : usual) u.ns = median(u.times);
  const auto longer = [&](const std::vector<Special>& special) {
    std::vector<std::int64_t> more;
    for (const Special& one : special)
      if (usual[one.era].ns) more.push_back(one.ns - *usual[one.era].ns);
    return median(std::move(more));
  };
  out.checkpoint_ns = longer(writing);
  out.restore_ns = longer(reading);
  for (std::size_t e = 0; e < eras.size(); ++e) {
    StorageFigures::Era& one = out.eras.emplace_back(StorageFigures::Era{
        .first_step = static_cast<int>(eras[e].first) + 1, .steps = static_cast<int>(eras[e].end - eras[e].first),
        .copies = static_cast<int>(eras[e].copies.size()), .step_ns = usual[e].ns});
    if (usual[e].ns && *usual[e].ns > 0) one.tokens_per_second = eras[e].tokens() * 1e9 / static_cast<double>(*usual[e].ns);
  }
  double counted = 0;  // steps of all copies
  for (const std::uint32_t s : course.counted) counted += eras.empty() ? 1 : eras[era(s)].tokens() / eras.front().tokens();
  if (usual.front().ns && static_cast<int>(steps.size()) == storage.steps && steps.back().time_ns)
    if (const std::int64_t all = steps.back().start_ns + *steps.back().time_ns - steps.front().start_ns; all > 0)
      out.ettr = counted * static_cast<double>(*usual.front().ns) / static_cast<double>(all);
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
  for (std::size_t e = 1; e < f.eras.size(); ++e) {
    const StorageFigures::Era& era = f.eras[e];
    part("from step {} on {} of {} copies", era.first_step, era.copies, f.eras.front().copies);
    if (era.copies == f.eras.front().copies) continue;
    if (era.tokens_per_second && f.eras.front().tokens_per_second)
      fmt::format_to(out, ", {:.4g} tokens/s instead of {:.4g}", *era.tokens_per_second, *f.eras.front().tokens_per_second);
  }
  if (f.ettr) part("effective training time ratio (ETTR) {}", percent_text(*f.ettr));
  if (*next == '\0') return "";
  return text + "\n";
}

}  // namespace railyard::report
