#include <map>

#include <fmt/format.h>

#include "control/spec/cable_medium.h"
#include "control/spec/link_bundle.h"
#include "control/spec/check/check.h"
#include "control/spec/port_class.h"

namespace railyard::spec {
namespace {

// Of a link that somebody wrote, its n-th element; of a preset's, the preset.
const Tree& element(const Tree& said, std::size_t n) { return n < said.items.size() ? said.items[n] : said; }

// A preset says all its links in one place, so the message has to say which one it is about.
std::string which(const Tree& said, const LinkSpec& link) {
  return said.kind == Tree::Kind::kList ? "" : fmt::format("link {} to {}: ", format(link.a), format(link.b));
}

Duration latency(const Lab& lab, const NodeSpec& node) {
  if (node.kind == NodeSpec::Kind::kTrunk) return Duration{1};  // whatever it is, above 0
  return node.kind == NodeSpec::Kind::kSwitch ? lab.switches.at(node.profile).latency
                                              : lab.hosts.at(node.profile).latency;
}

class LinkCheck {
 public:
  explicit LinkCheck(const Draft& draft) : draft_(draft), lab_(draft.lab) {}

  void run() {
    for (std::size_t i = 0; i < lab_.links.size(); ++i) check(lab_.links[i], *draft_.links[i]);
    for (std::size_t i = 0; i < lab_.nodes.size(); ++i) check(lab_.nodes[i], *draft_.nodes[i]);
    for (const LinkBundle& bundle : link_bundles(lab_)) check(bundle);
  }

 private:
  void check(const LinkSpec& link, const Tree& said) {
    const NodeSpec& a = check_end(link.a, element(said, 0), link, said);
    const NodeSpec& b = check_end(link.b, element(said, 1), link, said);
    if (&a == &b) element(said, 1).fail(fmt::format("links {} to itself", a.name));
    if (a.kind == NodeSpec::Kind::kTrunk) check_trunk(a, b, 1, link, said);
    if (b.kind == NodeSpec::Kind::kTrunk) check_trunk(b, a, 0, link, said);
    if (link.llr)
      for (const NodeSpec* node : {&a, &b}) check_retry(*node, link, said);
    check_reach(link, said);
    check_credits(a, b, link, said);
    check_thresholds(a, link.a, link, element(said, 0));
    check_thresholds(b, link.b, link, element(said, 1));
    for (const NodeSpec* node : {&a, &b})
      if (link.delay == Duration{} && latency(lab_, *node) == Duration{})
        element(said, 2).fail(
            fmt::format("{}no delay, and {} (profile {}) has no latency; expected a delay or a latency above 0",
                        which(said, link), node->name, node->profile));
  }

  void check(const LinkBundle& bundle) const {
    const LinkSpec& first = lab_.links[bundle.links.front()];
    const auto is_switch = [&](const PortName& end) {
      const NodeSpec* node = lab_.find(end.node);
      return node != nullptr && node->kind == NodeSpec::Kind::kSwitch;
    };
    for (const std::size_t i : bundle.links) {
      const LinkSpec& link = lab_.links[i];
      const Tree& where = element(*draft_.links[i], 2).at_or_self("bundle");
      const std::string here = which(*draft_.links[i], link);
      if (!is_switch(link.a) || !is_switch(link.b))
        where.fail(fmt::format("{}bundle {}: expected a link between two switches", here, bundle.name));
      const bool same = (link.a.node == first.a.node && link.b.node == first.b.node) ||
                        (link.a.node == first.b.node && link.b.node == first.a.node);
      if (!same)
        where.fail(fmt::format("{}bundle {} is between {} and {}; expected a link between these, or another name", here,
                               bundle.name, first.a.node, first.b.node));
      if (link.rate != first.rate)
        where.fail(fmt::format("{}bundle {} has links of {}; expected the same rate, and not {}", here, bundle.name,
                               format(first.rate), format(link.rate)));
    }
  }

  void check_reach(const LinkSpec& link, const Tree& said) const {
    if (!link.medium || !link.cable || *link.cable <= reach(*link.medium, link.rate)) return;
    std::string others;
    for (const CableMediumInfo& m : cable_media())
      if (*link.cable <= reach(m.medium, link.rate))
        others += fmt::format("{}{} ({})", others.empty() ? ", or " : ", ", m.name, format(reach(m.medium, link.rate)));
    element(said, 2).at_or_self("medium").fail(
        fmt::format("{}a cable of {} is beyond the reach of {} at {}; expected at most {}{}", which(said, link),
                    format(*link.cable), name(*link.medium), format(link.rate), format(reach(*link.medium, link.rate)),
                    others));
  }

  // Frames that the far daemon has sent may come at any time; that they act some time later is what lets ours advance.
  void check_trunk(const NodeSpec& trunk, const NodeSpec& peer, std::size_t peer_end, const LinkSpec& link,
                   const Tree& said) {
    if (peer.kind != NodeSpec::Kind::kSwitch)
      element(said, peer_end)
          .fail(
              fmt::format("{} is not a switch; expected a switch at the other end of trunk {}", peer.name, trunk.name));
    if (latency(lab_, peer) == Duration{})
      element(said, peer_end)
          .fail(fmt::format("{} (profile {}) has no latency; expected a latency above 0 at a switch with a trunk",
                            peer.name, peer.profile));
    if (link.framing != Framing{})
      element(said, 2).at_or_self("framing").fail(
          fmt::format("{} leads to another daemon; expected Ethernet framing on a trunk's link, {{ preamble: {}, "
                      "gap: {} }}",
                      trunk.name, kPreambleOctets, kGapOctets));
    if (link.delay == Duration{})
      element(said, 2).fail(fmt::format(
          "no delay to trunk {}; expected at least the delay of the network between the daemons, such as 200us",
          trunk.name));
  }

  // A frame that is retried has gone nowhere yet, and its sender knows what the link does to it.
  void check_retry(const NodeSpec& node, const LinkSpec& link, const Tree& said) const {
    const Tree& where = element(said, 2).at_or_self("llr");
    if (node.kind == NodeSpec::Kind::kTrunk)
      where.fail(fmt::format("{}{} leads to another daemon; expected llr: off on the link of a trunk",
                             which(said, link), node.name));
    if (node.kind == NodeSpec::Kind::kSwitch && lab_.switches.at(node.profile).mode == ForwardingMode::kCutThrough)
      where.fail(
          fmt::format("{}{} (profile {}) uses cut-through and forwards unverified frames; expected llr: off, or mode: "
                      "store-and-forward",
                      which(said, link), node.name, node.profile));
  }

  // Both ends of a link have credits for a class, or neither has.
  void check_credits(const NodeSpec& a, const NodeSpec& b, const LinkSpec& link, const Tree& said) const {
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const NodeSpec* with = has_credits(a, k) ? &a : has_credits(b, k) ? &b : nullptr;
      if (with == nullptr) continue;
      const NodeSpec& other = with == &a ? b : a;
      if (other.kind == NodeSpec::Kind::kTrunk)
        said.fail(
            fmt::format("{}{} leads to another daemon, but class {} has credits at {} (QoS {}); expected cbfc: off at "
                        "a switch with a trunk",
                        which(said, link), other.name, k, with->name, qos_of(*with)));
      if (!has_credits(other, k))
        said.fail(fmt::format(
            "{}class {} has credits (cbfc) at {} (QoS {}) but not at {} (QoS {}); expected the same at both ends",
            which(said, link), k, with->name, qos_of(*with), other.name, qos_of(other)));
    }
  }
  const std::string& qos_of(const NodeSpec& node) const {
    return node.kind == NodeSpec::Kind::kSwitch ? lab_.switches.at(node.profile).qos : lab_.hosts.at(node.profile).qos;
  }
  bool has_credits(const NodeSpec& node, std::size_t k) const {
    if (node.kind == NodeSpec::Kind::kTrunk) return false;
    const TrafficClass& c = lab_.qos.at(qos_of(node)).classes[k];
    return c.lossless && c.cbfc;
  }

  const NodeSpec& check_end(const PortName& end, const Tree& where, const LinkSpec& link, const Tree& said) {
    const NodeSpec& node = lab_.nodes[draft_.node(end.node, where)];
    if (node.kind == NodeSpec::Kind::kHost && static_cast<std::size_t>(end.port) > node.nics.size())
      where.fail(fmt::format("{}{} has {} NIC{}; expected one of them", which(said, link), node.name, node.nics.size(),
                             node.nics.size() == 1 ? "" : "s"));
    if (node.kind == NodeSpec::Kind::kTrunk && end.port != 1)
      where.fail(fmt::format("{}trunk {} has port 1 only; expected {}:1", which(said, link), node.name, node.name));
    if (node.kind == NodeSpec::Kind::kSwitch) check_radix(node, end, where, link, said);
    const auto [used, is_new] = used_.try_emplace(end, &link);
    if (!is_new)
      where.fail(fmt::format("{} is already linked: to {}, at {}", format(end),
                             format(used->second->a == end ? used->second->b : used->second->a),
                             to_string(used->second->place)));
    return node;
  }

  // Of a link that is yet to be checked, too: its node may not be there.
  bool is_reducer(const PortName& end) const {
    const NodeSpec* const node = lab_.find(end.node);
    return node != nullptr && node->reduces;
  }

  void check_radix(const NodeSpec& node, const PortName& end, const Tree& where, const LinkSpec& link,
                   const Tree& said) const {
    // A reducer is in the switch and takes no port of it.
    if (is_reducer(link.a) || is_reducer(link.b)) return;
    const SwitchProfile& profile = lab_.switches.at(node.profile);
    const std::string split =
        profile.breakout > 1 ? fmt::format(", with breakout: {}", profile.breakout) : std::string();
    if (profile.ports > 0 && end.port > profile.linked_ports())
      where.fail(fmt::format("{}{} is beyond the radix of switch profile {}{}; expected a port of 1..{}",
                             which(said, link), format(end), node.profile, split, profile.linked_ports()));
    if (profile.port_rate > BitRate{} && link.rate > profile.link_rate())
      element(said, 2).fail(fmt::format("{}{} is faster than {} allows (switch profile {}{}); expected at most {}",
                                        which(said, link), format(link.rate), format(end), node.profile, split,
                                        format(profile.link_rate())));
  }

  void check_reducer(const NodeSpec& node, const Tree& said) const {
    const auto link = used_.find({node.name, 1});
    if (node.nics.size() != 1 || link == used_.end())
      said.at_or_self("reduces").fail(fmt::format("{} has {} NICs; expected one, at a switch", node.name, node.nics.size()));
    if (node.nics[0].attach != Attachment{} || node.agent)
      said.at_or_self("reduces").fail(fmt::format("{} is attached; expected a built-in host", node.name));
    const PortName& peer = link->second->a.node == node.name ? link->second->b : link->second->a;
    if (const NodeSpec* const its = lab_.find(peer.node); its == nullptr || its->kind != NodeSpec::Kind::kSwitch)
      said.at_or_self("reduces").fail(fmt::format("{} is linked to {}; expected a switch", node.name, peer.node));
    for (const NodeSpec& other : lab_.nodes)
      if (&other != &node && other.reduces)
        if (const auto its = used_.find({other.name, 1}); its != used_.end())
          if ((its->second->a.node == other.name ? its->second->b : its->second->a).node == peer.node)
            said.at_or_self("reduces").fail(
                fmt::format("{} and {} are both reducers of {}; expected one", node.name, other.name, peer.node));
  }

  void check(const NodeSpec& node, const Tree& said) const {
    if (node.reduces) check_reducer(node, said);
    for (std::size_t nic = 0; nic < node.nics.size(); ++nic)
      if (const PortName port{node.name, static_cast<int>(nic) + 1}; !used_.contains(port))
        said.fail(fmt::format("NIC {} has no link", format(port)));
    if (node.kind == NodeSpec::Kind::kTrunk && !used_.contains({node.name, 1}))
      said.fail(fmt::format("trunk {} has no link; expected one from a switch to {}:1", node.name, node.name));
    for (const auto& [port, vlan] : node.vlans)
      if (!used_.contains({node.name, port}))
        said.at_or_self("vlans")
            .at_or_self(std::to_string(port))
            .fail(fmt::format("port {}:{} has no link", node.name, port));
    for (const auto& [port, said_of_it] : node.ports) check_port(node, port, said_of_it, said.at_or_self("ports"));
  }

  // What a port has of its own must fit what its profile says.
  void check_port(const NodeSpec& node, int port, const PortSpec& port_spec, const Tree& said) const {
    const Tree& here = said.at_or_self(std::to_string(port));
    const auto used = used_.find({node.name, port});
    if (used == used_.end()) here.fail(fmt::format("port {}:{} has no link", node.name, port));
    for (const auto& [k, over] : port_spec.classes) {
      const Tree& at = here.at_or_self("classes").at_or_self(std::to_string(k));
      const bool buffer = over.alpha_exponent || over.xoff || over.xon_offset || over.headroom;
      if (buffer && node.kind == NodeSpec::Kind::kHost)
        at.fail("thresholds belong to switches; a NIC has those of its host profile (receive)");
      const TrafficClass c = class_at(lab_, node, port, used->second->rate, static_cast<std::size_t>(k));
      if (c.lossless && c.cbfc && over.pfc != PfcMode::kAuto && over.pfc != PfcMode::kOff)
        at.at_or_self("pfc").fail("the class has cbfc, whose senders are never paused; expected one of the two");
    }
  }
  // Together with what the class says for the rate of the link.
  void check_thresholds(const NodeSpec& node, const PortName& end, const LinkSpec& link, const Tree& said) const {
    if (node.kind != NodeSpec::Kind::kSwitch) return;
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const TrafficClass c = class_at(lab_, node, end.port, link.rate, k);
      if (c.lossless && c.xoff && c.xon_offset >= *c.xoff)
        said.fail(fmt::format("{}, class {}: xon-offset ({}) is not below xoff ({}): the sender would never resume",
                              format(end), k, format(c.xon_offset), format(*c.xoff)));
    }
  }

  const Draft& draft_;
  const Lab& lab_;
  std::map<PortName, const LinkSpec*> used_;
};

}  // namespace

void check_links(const Draft& draft) { LinkCheck(draft).run(); }

}  // namespace railyard::spec
