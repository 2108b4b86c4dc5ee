// What traffic over UET must have in common at one NIC, and in one lab.
#pragma once

#include <map>
#include <vector>

#include "control/spec/check/traffic_ends.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// Beside IP header and payload, UDP or entropy header, PDS and SES header, CRC: as much as any packet with payload has.
inline constexpr int kUetOctets = 8 + 12 + 44 + 4;

class UetCheck {
 public:
  explicit UetCheck(const Lab& lab) : lab_(lab) {}

  // Fails at what `said` says of `traffic`.
  void check(const TrafficSpec& traffic, const Tree& said, const TrafficEnds& ends);

  // As kUetOctets, of packets of one of these NICs: the most.
  int octets(const std::vector<PortName>& nics, int ip_version) const;

 private:
  void check_nic(const TrafficSpec& traffic, const Tree& said, const PortName& nic);
  void find_kinds();
  void check_last_hop(const TrafficSpec& t, const Tree& said, const PortName& nic);
  void check_ends_agree(const Tree& said, const TrafficEnds& ends) const;
  void check_windows(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const;
  const UetNicSpec& uet_of(const PortName& nic) const { return lab_.hosts.at(lab_.find(nic.node)->profile).uet; }

  const Lab& lab_;
  const TrafficSpec* first_ = nullptr;
  std::map<PortName, std::vector<const TrafficSpec*>> by_nic_;  // one of each class there
  std::map<PortName, int> last_hop_dscp_;  // by which NICs know what was cut at its last hop
  std::vector<const NodeSpec*> kinds_;  // the first switch of each profile: others of it do the same
};

}  // namespace railyard::spec
