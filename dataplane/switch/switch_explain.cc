// What the switch would do with a packet now, for people who ask which way it goes. Nothing is counted.
#include <algorithm>

#include "dataplane/device/classify.h"
#include "dataplane/switch/switch.h"

namespace railyard {

Switch::NextHop Switch::next_hop(const Packet& packet, PortIndex in) const {
  NextHop out;
  out.in_class = classify(*facts_[in.index()].trust, packet);
  const TrustMap& trust = *facts_[in.index()].trust;
  const NextHops& hops = forwarding_.lookup(packet.fec);
  out.kind = hops.kind;
  if (hops.kind != NextHops::Kind::kGroup) return out;
  for (std::uint32_t i = 0; i < hops.count; ++i) {
    const PortIndex port = forwarding_.member(hops, i);
    const Priority out_class{config_.ports[port.index()].remap.to[out.in_class.index()]};
    const auto dscp = std::find(trust.dscp_to_class.begin(), trust.dscp_to_class.end(), out_class.value);
    const auto out_dscp = dscp == trust.dscp_to_class.end()
                              ? static_cast<std::uint8_t>(packet.traffic_class_octet >> 2)
                              : static_cast<std::uint8_t>(dscp - trust.dscp_to_class.begin());
    out.members.push_back({port, forwarding_.weight(hops, i), facts_[port.index()].up, out_class, out_dscp});
  }
  out.policy = config_.paths.by_class[out.in_class.index()].policy;
  out.hash = paths_.hash(packet, in);
  if (const auto member = paths_.by_hash(hops, packet, in, out.in_class))
    out.chosen = forwarding_.member(hops, *member);
  return out;
}

}  // namespace railyard
