#include "control/spec/check/check_uet.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/spec/frame_tags.h"
#include "control/spec/uet_security_octets.h"

namespace railyard::spec {

void UetCheck::check(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) {
  if (first_ == nullptr) first_ = &t;
  // UET page §1.5: it is not on the wire, so that all ends have to have the same.
  if (t.roce.path_mtu != first_->roce.path_mtu)
    said.at_or_self("path-mtu")
        .fail(fmt::format("traffic '{}' has {}, but all UET traffic has one Payload MTU; expected the same",
                          first_->name, first_->roce.path_mtu));
  for (const std::vector<PortName>* nics : {&ends.from, &ends.to})
    for (const PortName& nic : *nics) check_nic(t, said, nic);
  check_ends_agree(said, ends);
  check_windows(t, said, ends);
}

int UetCheck::octets(const std::vector<PortName>& nics, int ip_version) const {
  constexpr int kCrc = 4;
  const bool secured = std::ranges::any_of(nics, [&](const PortName& nic) { return uet_of(nic).security.has_value(); });
  return secured ? kUetOctets - kCrc + uet_security_octets(ip_version) : kUetOctets;
}

// Data of a NIC have a class for each DSCP, class and ECN that traffic says.
void UetCheck::check_nic(const TrafficSpec& t, const Tree& said, const PortName& nic) {
  std::vector<const TrafficSpec*>& classes = by_nic_[nic];
  if (std::ranges::any_of(classes, [&](const TrafficSpec* other) {
        return t.dscp == other->dscp && t.priority == other->priority && t.ect == other->ect;
      }))
    return;
  constexpr std::size_t kMostClasses = 64;
  if (classes.size() == kMostClasses)
    said.at_or_self("dscp").fail(fmt::format(
        "{} already sends UET data in {} combinations of dscp, class and ecn, the limit; expected one of these",
        format(nic), kMostClasses));
  classes.push_back(&t);
  const UetNicSpec& uet = uet_of(nic);
  const auto refuse = [&](const char* what) {
    said.at_or_self("dscp").fail(fmt::format("{} is also {} of {}; expected another", t.dscp, what, format(nic)));
  };
  if (t.dscp == uet.control_dscp) refuse("control-dscp");
  if (uet.trimmed_dscp == t.dscp) refuse("trimmed-dscp");
  if (uet.trimmed_lasthop_dscp == t.dscp) refuse("trimmed-lasthop-dscp");
  check_last_hop(t, said, nic);
}

void UetCheck::find_kinds() {
  std::set<std::string> profiles;
  for (const NodeSpec& n : lab_.nodes)
    if (n.kind == NodeSpec::Kind::kSwitch && profiles.insert(n.profile).second) kinds_.push_back(&n);
}

// NICs know by it what was cut at the last hop: nothing else may have it.
void UetCheck::check_last_hop(const TrafficSpec& t, const Tree& said, const PortName& nic) {
  if (kinds_.empty()) find_kinds();
  for (const NodeSpec* const kind : kinds_) {
    const NodeSpec& n = *kind;
    const QosProfile& qos = lab_.qos.at(lab_.switches.at(n.profile).qos);
    const auto priority = static_cast<std::size_t>(class_at_switch(lab_, qos, t));
    const std::optional<Trim>& trim = qos.classes[priority].trim;
    if (!trim || !trim->last_hop_dscp) continue;
    const int dscp = *trim->last_hop_dscp;
    if (dscp == t.dscp)
      said.at_or_self("dscp").fail(
          fmt::format("{} is also last-hop-dscp of class {} at {}; expected another", t.dscp, priority, n.name));
    if (dscp == uet_of(nic).control_dscp)
      said.at_or_self("transport")
          .fail(fmt::format("{} is both control-dscp of {} and last-hop-dscp of class {} at {}; expected two DSCPs",
                            dscp, format(nic), priority, n.name));
    if (dscp == trim->dscp) continue;  // it says nothing of its own
    if (const auto [known, is_new] = last_hop_dscp_.try_emplace(nic, dscp); known->second != dscp)
      said.at_or_self("dscp").fail(fmt::format(
          "last-hop-dscp of class {} at {} is {}, but that of other UET data of {} is {}; expected the same", priority,
          n.name, dscp, format(nic), known->second));
  }
  const auto known = last_hop_dscp_.find(nic);
  if (known == last_hop_dscp_.end()) return;
  for (const TrafficSpec* of : by_nic_.at(nic))
    if (of->dscp == known->second)
      said.at_or_self("dscp").fail(
          fmt::format("{} is also last-hop-dscp of other UET data of {}; expected another", of->dscp, format(nic)));
}

// Before anything is heard of a receiver a sender does not know what it takes. Data of READs go the other way.
void UetCheck::check_windows(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const {
  const auto group = [&](const PortName& nic) {
    return static_cast<std::size_t>(uet_of(nic).window) << 16 | static_cast<std::size_t>(uet_of(nic).mp_range);
  };
  const auto check = [&](const PortName& sender, const PortName& receiver) {
    const int window = uet_of(sender).window, range = uet_of(receiver).mp_range;
    if (window <= range) return;
    said.at_or_self("transport")
        .fail(fmt::format("window of {} is {}, above mp-range of {} ({}), which would refuse packets; expected in "
                          "hosts.<profile>.uet a window of at most the other end's mp-range",
                          format(sender), window, format(receiver), range));
  };
  for (const auto& [from, to] : possible_pairs(t, ends, group)) {
    check(from, to);
    check(to, from);
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
          .fail(fmt::format("{} and {} differ in their UET packet format; expected the same encapsulation, port and "
                            "crc in hosts.<profile>.uet of both",
                            format(*first), format(nic)));
    }
}

}  // namespace railyard::spec
