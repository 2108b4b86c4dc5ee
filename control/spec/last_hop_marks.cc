#include "control/spec/last_hop_marks.h"

#include <algorithm>

#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"

namespace railyard::spec {

bool marks_last_hop(const Lab& lab, const QosProfile& qos, std::size_t k, const HostProfile& host) {
  if (const auto& said = qos.classes[k].ecn.last_hop) return *said;
  if (!has_rccc(host.uet.congestion)) return true;
  const auto is_other = [&](const TrafficSpec& t) {
    return !t.is_uet() && static_cast<std::size_t>(class_at_switch(lab, qos, t)) == k;
  };
  return std::ranges::any_of(lab.traffic, is_other) ||
         std::ranges::any_of(lab.collectives, [&](const CollectiveSpec& c) {
           return !c.is_uet() && std::ranges::any_of(all_like_traffic(c), is_other);
         });
}

}  // namespace railyard::spec
