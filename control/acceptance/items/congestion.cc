// What congestion makes of the fabric: marks before pauses, pauses in the steady state.
#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

Finding from_verdict(const nlohmann::ordered_json& report, const std::string& name) {
  Finding f;
  const auto v = verdict_of(report, name);
  if (!v) {
    f.found = "there was nothing to judge";
    return f;
  }
  f.answer = v->first == "fail"   ? Answer::kFail
             : v->first == "pass" ? Answer::kPass
             : v->first == "note" ? Answer::kReport
                                  : Answer::kNotRun;
  f.found = v->second;
  return f;
}

// What the incast has done to queues of switches.
struct Congestion {
  std::uint64_t marked = 0, paused = 0;  // packets with CE, XOFF frames sent
  std::uint64_t deepest = 0;             // octets
  std::string where{};                   // of that queue
};

Congestion congestion_in(const nlohmann::ordered_json& report) {
  Congestion out;
  const auto count = [](const nlohmann::ordered_json& of, const char* key) {
    const auto found = of.find(key);
    return found != of.end() && found->is_number() ? found->get<std::uint64_t>() : 0;
  };
  const auto ports = report.find("ports");
  if (ports == report.end()) return out;
  for (const auto& p : *ports)
    for (const auto& c : p["classes"]) {
      out.marked += count(c, "ecn_marked");
      out.paused += count(c, "xoff_sent");
      if (const std::uint64_t depth = count(c, "max_depth_bytes"); depth > out.deepest) {
        out.deepest = depth;
        out.where = fmt::format("{}:{}", p["node"].get<std::string>(), p["port"].get<int>());
      }
    }
  return out;
}

Finding marks(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kIncast);
  Finding f = from_verdict(report, "ce-before-xoff");
  f.threshold = "each queue marks CE before it sends XOFF";
  const Congestion seen = congestion_in(report);
  const std::string incast =
      fmt::format("{}:1 incast into {}", report["flows"].size(), report["flows"][0]["dst"].get<std::string>());
  f.evidence.push_back(incast);
  f.evidence.push_back(fmt::format("{} packets marked CE, {} XOFF frames sent", report::count_text(seen.marked),
                                   report::count_text(seen.paused)));
  if (seen.deepest > 0)
    f.evidence.push_back(fmt::format("deepest queue {}, at {}", report::size_text(seen.deepest), seen.where));
  if (f.answer == Answer::kNotRun) {
    f.found = "no class of this traffic is lossless: no port sends PFC";
  } else if (f.answer == Answer::kPass && seen.marked == 0) {
    // Nothing that came first: the order is not known.
    f.answer = Answer::kReport;
    f.found = fmt::format("not shown: the {} marked nothing{}{}", incast,
                          seen.paused == 0 ? " and paused nothing" : fmt::format(", {} XOFF frames were sent", seen.paused),
                          seen.deepest > 0 ? fmt::format("; deepest queue {}", report::size_text(seen.deepest)) : "");
  } else if (f.answer == Answer::kPass && seen.paused == 0) {
    f.found = fmt::format("{} packets marked CE, no pause: ECN alone held the {}", report::count_text(seen.marked), incast);
  }
  if (f.answer == Answer::kFail)
    f.remedy = s.uet ? "Lower Kmin, or run UET in a lossy class with trimming."
                     : "Lower Kmin below XOFF, or raise XOFF (alpha): `railyard check` names the values.";
  return f;
}

Finding pauses(const Subject& s, const Runs& runs) {
  Finding f = from_verdict(report_of(runs, ProbeKind::kSteady), "pauses");
  const spec::BudgetSpec& b = s.lab.run.budgets;
  if (b.pause_share)
    f.threshold = fmt::format("<= {} of the time, at any class of a port",
                              report::percent_text(static_cast<double>(b.pause_share->numerator) /
                                                   static_cast<double>(b.pause_share->denominator)));
  f.evidence.push_back("every NIC sends to one far away at line rate");
  if (f.answer == Answer::kFail)
    f.remedy =
        "Congestion control should slow the senders before PFC does: ECN thresholds, DCQCN, or fewer flows on one "
        "link.";
  return f;
}

}  // namespace

namespace list {
const Item kEcnBeforePfc{"ecn-before-pfc",
                         "In an incast, does ECN come before PFC?",
                         "design guides: marks appear before pauses",
                         {ProbeKind::kIncast},
                         marks};
const Item kPauses{"pauses",
                   "Are links paused in the steady state?",
                   "design guides: frequent pauses in the steady state mean retuning; the limit is run.budgets",
                   {ProbeKind::kSteady},
                   pauses};
}  // namespace list

}  // namespace railyard::acceptance
