// Collectives of all ranks against a reference.
#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

Finding judge_collective(const Subject& s, const Runs& runs, ProbeKind kind) {
  const Run& run = runs.at(kind);
  const auto& c = run.report["collectives"][0];
  Finding f;
  if (!c["completed"].get<bool>() || !c["time_ns"]["median"].is_number()) {
    f.answer = Answer::kFail;
    f.found = "it did not complete";
    return f;
  }
  const auto ns = c["time_ns"]["median"].get<double>();
  f.found = fmt::format("busbw {} in {}", report::rate_text(c["busbw_bps"].get<double>()),
                        report::nanoseconds_text(static_cast<std::uint64_t>(ns)));
  f.evidence.push_back(
      fmt::format("{} ranks, {}, {}; headers leave {} at most", c["ranks"].size(),
                  report::size_text(c["bytes"].get<std::uint64_t>()), c["algorithm"].get<std::string>(),
                  report::rate_text(c["framing_limit_bps"].is_number() ? c["framing_limit_bps"].get<double>() : 0)));
  if (c["wrong_bytes"].get<std::uint64_t>() > 0) {
    f.answer = Answer::kFail;
    f.found +=
        fmt::format("; {} bytes of results are wrong", report::count_text(c["wrong_bytes"].get<std::uint64_t>()));
    return f;
  }
  if (!run.reference_ns) {
    f.answer = Answer::kReport;
    return f;
  }
  const double below = 1 - *run.reference_ns / ns;  // busbw goes with 1 / time
  f.threshold = fmt::format("at most {} below the reference", share_text(s.settings.below_reference));
  f.found += below > 0 ? fmt::format(", {} below the reference", share_text(below)) : ", not below the reference";
  f.evidence.push_back(fmt::format("reference: {}, of links that are shared perfectly (railyard estimate)",
                                   report::nanoseconds_text(static_cast<std::uint64_t>(*run.reference_ns))));
  f.answer = below > s.settings.below_reference ? Answer::kFail : Answer::kPass;
  f.evidence.push_back(fmt::format("{} packets marked CE, {} retransmitted",
                                   report::count_text(c["ecn_marked"].get<std::uint64_t>()),
                                   report::count_text(c["retransmitted_packets"].get<std::uint64_t>())));
  constexpr double kUneven = 1.2;
  for (const auto& g : run.report["path_groups"])
    if (g["max_over_mean"].is_number() && g["max_over_mean"].get<double>() > kUneven)
      f.evidence.push_back(fmt::format("of {} equal paths of {} one carries {:.2f} times the mean", g["members"].size(),
                                       g["node"].get<std::string>(), g["max_over_mean"].get<double>()));
  if (f.answer == Answer::kFail)
    f.remedy =
        "`railyard run` of the probe shows the busiest links and who waited: flows that share a link, pauses, "
        "retransmissions.";
  return f;
}

Finding all_reduce(const Subject& s, const Runs& runs) { return judge_collective(s, runs, ProbeKind::kAllReduce); }
Finding all_gather(const Subject& s, const Runs& runs) { return judge_collective(s, runs, ProbeKind::kAllGather); }
Finding all_to_all(const Subject& s, const Runs& runs) { return judge_collective(s, runs, ProbeKind::kAllToAll); }

constexpr const char* kSource =
    "design guides: collectives at full size against a reference; the limit of 10 % is Railyard's";

}  // namespace

namespace list {
const Item kAllReduce{
    "all-reduce", "Is the all-reduce of all ranks as fast as it can be?", kSource, {ProbeKind::kAllReduce}, all_reduce};
const Item kAllGather{"all-gather", "And the all-gather?", kSource, {ProbeKind::kAllGather}, all_gather};
const Item kAllToAll{"all-to-all", "And the all-to-all?", kSource, {ProbeKind::kAllToAll}, all_to_all};
}  // namespace list

}  // namespace railyard::acceptance
