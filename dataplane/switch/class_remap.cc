// Per-hop class remap: the code point, DSCP or PCP, by which the next hop finds the class that a frame is in from here
// on.
#include <algorithm>

#include "dataplane/base/planted_bug.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/switch/switch.h"

namespace railyard {

// The PCP by which the next hop will find class `to`, if it is what the map is about.
void Switch::remark_pcp(Packet& p, const TrustMap& map, Priority to) noexcept {
  if (map.trust != Trust::kPcp || !p.has(Packet::kTagged)) return;
  const auto pcp = std::find(map.pcp_to_class.begin(), map.pcp_to_class.end(), to.value);
  if (pcp != map.pcp_to_class.end()) set_pcp(p, static_cast<std::uint8_t>(pcp - map.pcp_to_class.begin()));
}

// The class of a frame from here on.
Priority Switch::review_class(Packet& p, PortIndex in, PortIndex out, Priority priority) noexcept {
  const SwitchPortConfig& port = config_.ports[in.index()];
  const PortFacts& f = facts_[in.index()];
  if (classify(port.trust, p) != priority) misclassified_[in.index()].increment();
  const Priority to = planted(PlantedBug::kNoClassChange)
                          ? priority
                          : Priority{config_.ports[out.index()].remap.to[priority.index()]};
  if (to != priority) remark(p, f, to);
  return to;
}

// The code point by which the next hop will find class `to`.
void Switch::remark(Packet& p, const PortFacts& in, Priority to) noexcept {
  const TrustMap& map = *in.trust;
  if (map.trust == Trust::kPcp) return remark_pcp(p, map, to);
  const auto dscp = std::find(map.dscp_to_class.begin(), map.dscp_to_class.end(), to.value);
  if (dscp == map.dscp_to_class.end()) return;
  set_traffic_class(p,
                    static_cast<std::uint8_t>((dscp - map.dscp_to_class.begin()) << 2 | (p.traffic_class_octet & 3)));
}

}  // namespace railyard
