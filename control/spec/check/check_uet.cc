#include "control/spec/check/check_uet.h"

#include <fmt/format.h>

namespace railyard::spec {

void UetCheck::check(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) {
  if (first_ == nullptr) first_ = &t;
  // UET page §1.5: it is not on the wire, so that all ends have to have the same.
  if (t.roce.path_mtu != first_->roce.path_mtu)
    said.at_or_self("path-mtu")
        .fail(fmt::format("traffic '{}' has {}, and the Payload MTU of UET is one for all: expected the same",
                          first_->name, first_->roce.path_mtu));
  for (const std::vector<PortName>* nics : {&ends.from, &ends.to})
    for (const PortName& nic : *nics) check_nic(t, said, nic);
  check_ends_agree(said, ends);
}

// A NIC's data has one class and one code point.
void UetCheck::check_nic(const TrafficSpec& t, const Tree& said, const PortName& nic) {
  const auto [at, is_new] = by_nic_.try_emplace(nic, &t);
  const TrafficSpec& other = *at->second;
  const auto refuse = [&](const char* key) {
    said.at_or_self(key).fail(
        fmt::format("traffic '{}' has another at {}, and data over UET of one NIC have one; expected the same",
                    other.name, format(nic)));
  };
  if (is_new) {
    if (t.dscp == uet_of(nic).control_dscp)
      said.at_or_self("dscp").fail(fmt::format("{} is control-dscp of {}, too; expected another", t.dscp, format(nic)));
    if (uet_of(nic).trimmed_dscp == t.dscp)
      said.at_or_self("dscp").fail(fmt::format("{} is trimmed-dscp of {}, too; expected another", t.dscp, format(nic)));
    if (uet_of(nic).trimmed_lasthop_dscp == t.dscp)
      said.at_or_self("dscp").fail(
          fmt::format("{} is trimmed-lasthop-dscp of {}, too; expected another", t.dscp, format(nic)));
    check_last_hop(t, said, nic);
    return;
  }
  if (t.dscp != other.dscp) refuse("dscp");
  if (t.priority != other.priority) refuse("class");
  if (t.ect != other.ect) refuse("ecn");
}

// NICs know by it what was cut at the last hop: nothing else may have it.
void UetCheck::check_last_hop(const TrafficSpec& t, const Tree& said, const PortName& nic) const {
  for (const NodeSpec& n : lab_.nodes) {
    if (n.kind != NodeSpec::Kind::kSwitch) continue;
    const QosProfile& qos = lab_.qos.at(lab_.switches.at(n.profile).qos);
    const auto priority = static_cast<std::size_t>(qos.dscp_to_class[static_cast<std::size_t>(t.dscp)]);
    const std::optional<Trim>& trim = qos.classes[priority].trim;
    if (!trim || !trim->last_hop_dscp) continue;
    if (*trim->last_hop_dscp == t.dscp)
      said.at_or_self("dscp").fail(
          fmt::format("{} is last-hop-dscp of class {} at {}, too; expected another", t.dscp, priority, n.name));
    if (*trim->last_hop_dscp == uet_of(nic).control_dscp)
      said.at_or_self("transport")
          .fail(fmt::format("{} is control-dscp of {} and last-hop-dscp of class {} at {}; expected two",
                            uet_of(nic).control_dscp, format(nic), priority, n.name));
  }
}

void UetCheck::check_ends_agree(const Tree& said, const TrafficEnds& ends) const {
  const auto same = [](const UetNicSpec& a, const UetNicSpec& b) {
    return a.udp == b.udp && a.crc == b.crc && (a.udp ? a.udp_port == b.udp_port : a.ip_protocol == b.ip_protocol);
  };
  const PortName* first = nullptr;
  for (const std::vector<PortName>* nics : {&ends.from, &ends.to})
    for (const PortName& nic : *nics) {
      if (first == nullptr) first = &nic;
      if (same(uet_of(*first), uet_of(nic))) continue;
      said.at_or_self("transport")
          .fail(fmt::format("{} and {} put UET into packets in different ways; expected the same encapsulation, port "
                            "and crc in hosts.<profile>.uet of both",
                            format(*first), format(nic)));
    }
}

}  // namespace railyard::spec
