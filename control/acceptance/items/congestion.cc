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

Finding marks(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kIncast);
  Finding f = from_verdict(report, "ce-before-xoff");
  f.threshold = "each queue marks CE before it sends XOFF";
  f.evidence.push_back(
      fmt::format("{}:1 incast into {}", report["flows"].size(), report["flows"][0]["dst"].get<std::string>()));
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
