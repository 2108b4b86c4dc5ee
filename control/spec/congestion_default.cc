#include "control/spec/congestion_default.h"

#include <algorithm>
#include <vector>

#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"

namespace railyard::spec {
namespace {

bool has_services(const Lab& lab) {
  return std::ranges::any_of(lab.hosts, [](const auto& host) { return !host.second.roce.services.empty(); });
}

bool has_applications(const Lab& lab) {
  return std::ranges::any_of(lab.nodes, [](const NodeSpec& node) {
    return !node.nics.empty() && std::holds_alternative<AttachApplication>(node.nics[0].attach);
  });
}

std::vector<TrafficSpec> roce_traffic(const Lab& lab) {
  std::vector<TrafficSpec> all;
  for (const TrafficSpec& t : lab.traffic)
    if (t.is_roce()) all.push_back(t);
  for (const CollectiveSpec& c : lab.collectives)
    if (!c.is_uet())
      for (TrafficSpec& like : all_like_traffic(c)) all.push_back(std::move(like));
  // What services answer, and applications send, has the class of RoCE traffic that says nothing else.
  if (has_services(lab) || has_applications(lab)) {
    TrafficSpec other;
    other.transport = TrafficSpec::Transport::kRoce;
    all.push_back(other);
  }
  return all;
}

bool marks(const Lab& lab, const std::vector<TrafficSpec>& traffic) {
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind != NodeSpec::Kind::kSwitch) continue;
    const QosProfile& qos = qos_of(lab, node);
    for (const TrafficSpec& t : traffic)
      if (t.ect && qos.classes[static_cast<std::size_t>(class_at_switch(lab, qos, t))].ecn.enabled) return true;
  }
  return false;
}

}  // namespace

bool marks_roce(const Lab& lab) { return marks(lab, roce_traffic(lab)); }

void choose_congestion(Lab& lab) {
  const std::vector<TrafficSpec> traffic = roce_traffic(lab);
  if (traffic.empty()) return;
  const std::size_t chosen = marks(lab, traffic) ? roce::congestion_number<roce::Dcqcn>() : 0;
  for (auto& [name, host] : lab.hosts)
    if (host.roce.congestion == roce::kAutomaticCongestion) host.roce.congestion = chosen;
}

}  // namespace railyard::spec
