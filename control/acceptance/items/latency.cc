// Latency as a distribution, idle and loaded.
#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

std::string time_of(const nlohmann::ordered_json& j) { return report::nanoseconds_text(j.get<std::uint64_t>()); }

// Over a limit, if there is one.
bool is_over(const nlohmann::ordered_json& found, const std::optional<Duration>& limit) {
  return limit && found.get<double>() * 1000 > static_cast<double>(limit->ps);
}

// `p99`, `p999`: limits.
Finding distribution(const nlohmann::ordered_json& report, std::optional<Duration> p99, std::optional<Duration> p999) {
  Finding f;
  const auto& traffic = report["traffic"][0];
  const auto& l = traffic["latency_ns"];
  if (!l.is_object()) {
    f.found = "no packet arrived";
    f.answer = Answer::kFail;
    return f;
  }
  f.found = fmt::format("p50 {}, p99 {}, p99.9 {}, max {}", time_of(l["p50"]), time_of(l["p99"]), time_of(l["p999"]),
                        time_of(l["max"]));
  f.answer = p99 || p999 ? Answer::kPass : Answer::kReport;
  if (p99) f.threshold = fmt::format("p99 <= {}", report::time_text(*p99));
  if (p999) f.threshold += fmt::format("{}p99.9 <= {}", f.threshold.empty() ? "" : ", ", report::time_text(*p999));
  if (is_over(l["p99"], p99) || is_over(l["p999"], p999)) f.answer = Answer::kFail;
  f.evidence.push_back(
      fmt::format("{} packets, one way from NIC to NIC", report::count_text(l["samples"].get<std::uint64_t>())));
  return f;
}

Finding idle(const Subject& s, const Runs& runs) {
  return distribution(report_of(runs, ProbeKind::kIdleLatency), s.settings.p99, s.settings.p999);
}

Finding loaded(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kSteady);
  Finding f = distribution(report, s.settings.loaded_p99, {});
  const auto& unloaded = report_of(runs, ProbeKind::kIdleLatency)["traffic"][0]["latency_ns"];
  const auto& l = report["traffic"][0]["latency_ns"];
  if (l.is_object() && unloaded.is_object())
    f.evidence.push_back(fmt::format("p99 is {:.1f} times that of the idle fabric",
                                     l["p99"].get<double>() / unloaded["p99"].get<double>()));
  return f;
}

}  // namespace

namespace list {
const Item kIdleLatency{"latency-idle",
                        "How long does a packet take on the idle fabric?",
                        "design guides: the distribution, not the mean; draft-calabria-bmwg-ai-fabric-training-bench "
                        "T5.2: 10,000 samples or more",
                        {ProbeKind::kIdleLatency},
                        idle};
const Item kLoadedLatency{"latency-loaded",
                          "And with every NIC sending at line rate?",
                          "the same",
                          {ProbeKind::kSteady, ProbeKind::kIdleLatency},
                          loaded};
}  // namespace list

}  // namespace railyard::acceptance
