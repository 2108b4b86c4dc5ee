// Which VLAN a frame is in, and with or without which tag it leaves (IEEE 802.1Q).
#include "dataplane/packet/rewrite.h"
#include "dataplane/switch/switch.h"

namespace railyard {

bool Switch::apply_vlan(Packet& p, PortIndex in, PortIndex out) {
  const auto vlan = vlan_of(p, in);
  return vlan && leave_in_vlan(p, *vlan, out);
}

// The VLAN of a frame as it came in; nothing if the port is no member of it.
std::optional<std::uint16_t> Switch::vlan_of(const Packet& p, PortIndex in) const noexcept {
  return config_.ports[in.index()].vlans.classify(p.has(Packet::kTagged), p.vid);
}

bool Switch::leave_in_vlan(Packet& p, std::uint16_t vlan, PortIndex out) const noexcept {
  switch (config_.ports[out.index()].vlans.egress(vlan)) {
    case VlanMembership::Egress::kNotMember:
      return false;
    case VlanMembership::Egress::kUntagged:
      pop_vlan_tag(p);
      break;
    case VlanMembership::Egress::kTagged:
      push_vlan_tag(p, vlan);
      break;
  }
  return true;
}

}  // namespace railyard
