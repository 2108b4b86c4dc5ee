#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/acceptance/item.h"

namespace railyard::acceptance {
namespace {

constexpr std::array kAll{
    &list::kBandwidthAlone, &list::kBandwidthTogether,
    &list::kRacks,          &list::kIdleLatency,
    &list::kLoadedLatency,  &list::kMtu,
    &list::kClasses,        &list::kEcnBeforePfc,
    &list::kPauses,         &list::kLoss,
    &list::kAllReduce,      &list::kAllGather,
    &list::kAllToAll,       &list::kJob,
    &list::kOwnWork,        &list::kFailover,
    &list::kSoak,           &list::kScale,
};

constexpr std::array kAllLive{
    &list::kBandwidthAlone, &list::kBandwidthTogether,
    &list::kRacks,          &list::kIdleLatency,
    &list::kLoadedLatency,  &list::kMtu,
    &list::kClasses,        &list::kEcnBeforePfc,
    &list::kPauses,         &list::kLoss,
    &list::kHostBandwidth,  &list::kHostLatency,
    &list::kHostMtu,        &list::kHostClasses,
    &list::kHostRdma,       &list::kHostLibfabric,
    &list::kAllReduce,      &list::kAllGather,
    &list::kAllToAll,       &list::kJob,
    &list::kOwnCollectives, &list::kOwnJobs,
    &list::kOwnWork,        &list::kLiveFailover,
    &list::kLiveSoak,       &list::kPace,
    &list::kScale,
};

}  // namespace

const char* word(Answer answer) noexcept {
  switch (answer) {
    case Answer::kPass:
      return "pass";
    case Answer::kWarn:
      return "warn";
    case Answer::kFail:
      return "FAIL";
    case Answer::kReport:
      return "report";
    case Answer::kNotRun:
      return "not run";
    case Answer::kBroken:
      return "broken";
  }
  return "";
}

std::vector<const Item*> items(const std::vector<std::string>& kept, Where where) {
  const std::span<const Item* const> all = where == Where::kFile ? std::span<const Item* const>(kAll) : kAllLive;
  std::vector<std::string_view> known;
  for (const Item* i : all) known.emplace_back(i->id);
  for (const std::string& id : kept)
    if (std::ranges::find(known, id) == known.end())
      throw std::invalid_argument(
          fmt::format("'{}' is no line of the list; expected one of {}", id, fmt::join(known, ", ")));
  std::vector<const Item*> out;
  for (const Item* i : all)
    if (kept.empty() || std::ranges::find(kept, std::string_view(i->id)) != kept.end()) out.push_back(i);
  return out;
}

Finding judge(const Item& item, const Subject& subject, const Runs& runs) {
  for (const ProbeKind kind : item.probes) {
    const auto run = runs.find(kind);
    if (run == runs.end()) return {.found = why_not(kind)};
    if (!run->second.not_run.empty()) return {.found = run->second.not_run};
    if (run->second.report.is_null())
      return {.answer = Answer::kBroken,
              .found = fmt::format("the probe '{}' did not come to its report: {}", name(kind), run->second.failure)};
  }
  return item.judge(subject, runs);
}

}  // namespace railyard::acceptance
