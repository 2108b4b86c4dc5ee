#include "control/report/check_measure.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "control/report/measure.h"
#include "control/report/metrics/field_path.h"
#include "control/spec/fault_place.h"
#include "control/spec/select.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/drop_reason.h"

namespace railyard::report {
namespace {

std::vector<std::string> names_of(const std::vector<MeasureKind>& kinds) {
  std::vector<std::string> names;
  for (const MeasureKind& k : kinds) names.emplace_back(k.name);
  return names;
}

[[noreturn]] void fail(const spec::Place& place, const std::string& text, const std::string& what) {
  throw spec::SpecError(place, fmt::format("'{}': {}", text, what));
}

MeasureKind known(const std::vector<MeasureKind>& kinds, const spec::Measure& m, const spec::Place& place,
                         const std::string& text, std::string_view measured_where) {
  for (const MeasureKind& k : kinds)
    if (k.name == m.figure) return k;
  fail(place, text,
       fmt::format("there is no figure '{}' {}{}", m.figure, measured_where,
                   spec::meant_or_known(m.figure, names_of(kinds))));
}

std::optional<Unit> check_of(const spec::Lab& lab, const spec::Measure& m, const spec::Place& place,
                             const std::string& text) {
  if (!m.reason.empty()) fail(place, text, "a reason needs drops at a port; expected drops(REASON) at PORT");
  std::vector<std::string> names;
  for (const spec::TrafficSpec& t : lab.traffic) names.push_back(t.name);
  const std::size_t traffics = names.size();
  for (const spec::CollectiveSpec& c : lab.collectives) names.push_back(c.name);
  bool flows = std::ranges::any_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(traffics),
                                   [&](const std::string& n) { return spec::matches(m.of, n); });
  const bool collectives = std::ranges::any_of(names.begin() + static_cast<std::ptrdiff_t>(traffics), names.end(),
                                               [&](const std::string& n) { return spec::matches(m.of, n); });
  if (!flows && !collectives) {
    for (const workload::FlowPlan& f : workload::plan_flows(lab)) {
      flows = flows || spec::matches(m.of, f.name);
      names.push_back(f.name);
    }
    if (!flows)
      fail(place, text,
           fmt::format("no flow, traffic or collective is called '{}'{}", m.of, spec::meant_or_known(m.of, names)));
  }
  std::vector<MeasureKind> kinds;
  if (flows) kinds = flow_measures();
  if (collectives) std::ranges::copy(collective_measures(), std::back_inserter(kinds));
  return known(kinds, m, place, text, collectives && !flows ? "of a collective" : "of a flow or traffic").unit;
}

// "flows.incast/h2->h1.share", and what an element of the list is called in this lab.
Unit check_field(const spec::Lab& lab, const std::string& figure, const spec::Place& place, const std::string& text) {
  const auto field = find_field(figure);
  if (!field) fail(place, text, field.error());
  std::vector<std::string> names;
  if (field->list == "traffic")
    for (const spec::TrafficSpec& t : lab.traffic) names.push_back(t.name);
  if (field->list == "collectives")
    for (const spec::CollectiveSpec& c : lab.collectives) names.push_back(c.name);
  if (field->list == "flows")
    for (const workload::FlowPlan& f : workload::plan_flows(lab)) names.push_back(f.name);
  if (field->list == "ports")
    for (const spec::LinkSpec& l : lab.links) names.insert(names.end(), {format(l.a), format(l.b)});
  if (field->list == "faults")
    for (const spec::FaultSpec& f : lab.faults) names.push_back(f.name);
  // What is in other lists is known when the run has ended.
  const bool is_known = field->list == "traffic" || field->list == "collectives" || field->list == "flows" ||
                        field->list == "ports" || field->list == "faults";
  if (is_known && std::ranges::find(names, field->element) == names.end())
    fail(place, text,
         fmt::format("there is no '{}' in {}{}", field->element, field->list, spec::meant_or_known(field->element, names)));
  return field->unit;
}

std::optional<Unit> check_at(const spec::Lab& lab, const spec::Measure& m, const spec::Place& place,
                             const std::string& text) {
  const MeasureKind kind = known(port_measures(), m, place, text, "at ports");
  if (!m.reason.empty()) {
    if (!kind.has_reasons)
      fail(place, text, fmt::format("{} takes no reason; expected drops({})", m.figure, m.reason));
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < kDropReasons; ++i) reasons.emplace_back(name(static_cast<DropReason>(i)));
    if (std::ranges::find(reasons, m.reason) == reasons.end())
      fail(place, text,
           fmt::format("there is no drop reason '{}'{}", m.reason, spec::meant_or_known(m.reason, reasons)));
  }
  if (!m.at) return kind.unit;
  if (spec::nodes_at(lab, *m.at).empty()) {
    std::vector<std::string> nodes;
    for (const spec::NodeSpec& n : lab.nodes) nodes.push_back(n.name);
    fail(place, text,
         fmt::format("there is no node '{}'{}", m.at->node, spec::meant_or_known(m.at->node, nodes)));
  }
  if (m.at->port != 0 && spec::ports_at(lab, *m.at).empty())
    fail(place, text, fmt::format("{} has no linked port {}", m.at->node, m.at->port));
  if (kind.at == CountedAt::kSwitch && (m.at->port != 0 || m.at->traffic_class >= 0))
    fail(place, text, fmt::format("{} is a figure of a switch; expected a switch without a port", m.figure));
  if (kind.at == CountedAt::kPort && m.at->traffic_class >= 0)
    fail(place, text, fmt::format("{} is a figure of a port; expected a port without a class", m.figure));
  return kind.unit;
}

}  // namespace

std::optional<Unit> check_measure(const spec::Lab& lab, const spec::Measure& m, const spec::Place& place,
                                  const std::string& text) {
  if (!m.of.empty()) return check_of(lab, m, place, text);
  if (m.is_path()) {
    if (!m.of_whole_run()) fail(place, text, fmt::format("{} is a full path; expected nothing after it", m.figure));
    if (!m.figure.starts_with('/')) return check_field(lab, m.figure, place, text);
    if (const std::string problem = problem_of_pointer(m.figure); !problem.empty()) fail(place, text, problem);
    return std::nullopt;
  }
  if (!m.of_whole_run()) return check_at(lab, m, place, text);
  std::vector<std::string> names = known_figures();
  if (std::ranges::find(names, m.figure) != names.end()) return kind_of(m.figure).unit;
  for (const MeasureKind& k : port_measures()) {
    if (k.name == m.figure) return k.unit;
    names.emplace_back(k.name);
  }
  fail(place, text, fmt::format("there is no figure '{}'{}", m.figure, spec::meant_or_known(m.figure, names)));
}

}  // namespace railyard::report
