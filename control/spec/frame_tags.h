// The 802.1Q tags of what built-in NICs send.
#pragma once

#include <array>
#include <optional>

#include "control/spec/spec.h"

namespace railyard::spec {

// VLAN of HostProfile::vlan kVlanAuto at a port that says nothing of VLANs, which therefore carries it tagged. At a port
// that does, frames get priority tags (VID 0) and are in its native VLAN.
inline constexpr int kAutomaticVlan = 2;

struct NicTags {
  int vid = 0;                         // 0: priority-tagged, IEEE 802.1Q clause 9.6
  std::array<int, kPriorities> pcp{};  // by class at the NIC: one that the NIC's QoS profile puts into the class

  bool operator==(const NicTags&) const = default;
};

// Of a NIC of a host; nothing: its frames have none. With `vlan: auto` they have one where the switch at the other end
// of its link trusts PCP.
std::optional<NicTags> tags_of(const Lab& lab, const PortName& nic);

// Of the frames of a traffic between built-in NICs, as `nic` sends them; nothing: they have none.
struct TrafficTag {
  int vid = 0;
  std::optional<int> pcp;  // nothing: by class, as the NIC's
};
std::optional<TrafficTag> tag_of(const Lab& lab, const PortName& nic, const TrafficSpec& traffic);

// The class of a traffic's data at switches with this QoS profile, when it comes as NICs of hosts like the first send
// it.
int class_at_switch(const Lab& lab, const QosProfile& qos, const TrafficSpec& traffic);
// The same of frames with this DSCP in the class that their NIC's QoS profile makes of it.
int class_at_switch(const Lab& lab, const QosProfile& qos, int dscp);

}  // namespace railyard::spec
