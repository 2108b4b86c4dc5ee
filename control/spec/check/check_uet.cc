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
    return;
  }
  if (t.dscp != other.dscp) refuse("dscp");
  if (t.priority != other.priority) refuse("class");
  if (t.ect != other.ect) refuse("ecn");
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
