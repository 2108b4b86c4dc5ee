#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/fault_place.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

using Kind = NodeSpec::Kind;

bool has_link(const Lab& lab, const PortName& port) {
  return std::ranges::any_of(lab.links, [&](const LinkSpec& l) { return l.a == port || l.b == port; });
}

// The ports of `nodes` that have a link: "1-3, 9".
std::string ports_with_links(const Lab& lab, const std::vector<const NodeSpec*>& nodes) {
  std::set<int> ports;
  for (const LinkSpec& l : lab.links)
    for (const PortName& end : {l.a, l.b})
      if (std::ranges::any_of(nodes, [&](const NodeSpec* n) { return n->name == end.node; })) ports.insert(end.port);
  std::string text;
  for (auto p = ports.begin(); p != ports.end();) {
    const int first = *p;
    int last = first;
    for (++p; p != ports.end() && *p == last + 1; ++p) last = *p;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  return text;
}

bool is_built_in(const NodeSpec& host) {
  return std::ranges::all_of(host.nics, [](const NicSpec& n) {
    return std::holds_alternative<std::monostate>(n.attach) || std::holds_alternative<AttachPcap>(n.attach);
  });
}

class FaultCheck {
 public:
  FaultCheck(const Lab& lab, const FaultSpec& fault, const Tree& said)
      : lab_(lab), fault_(fault), kind_(fault_kind(fault.action)), said_(said) {}

  void run() {
    for (std::size_t i = 0; i < fault_.on.size(); ++i) check_place(fault_.on[i], place_tree(i));
    if (fault_.when) check_trigger(*fault_.when, said_.at_or_self("when"));
    check_flow();
    check_end();
  }

 private:
  const Tree& place_tree(std::size_t i) const {
    const Tree& on = said_.at_or_self("on");
    return i < on.items.size() ? on.items[i] : on;
  }
  const std::string& what() const { return kind_.key; }

  void check_node(const std::string& name, const Tree& where) const {
    if (lab_.find(name) != nullptr) return;
    std::vector<std::string> names;
    for (const NodeSpec& n : lab_.nodes) names.push_back(n.name);
    where.fail(fmt::format("there is no node '{}'{}", name, did_you_mean(name, names)));
  }

  void check_place(const FaultPlace& p, const Tree& where) const {
    const std::vector<const NodeSpec*> nodes = nodes_at(lab_, p);
    if (nodes.empty()) {
      if (p.node.find_first_of("*?") == std::string::npos) check_node(p.node, where);
      where.fail(fmt::format("{} selects no node of this lab", format(p)));
    }
    const std::vector<PortName> ports = ports_at(lab_, p);
    if (ports.empty())
      where.fail(p.port == 0 ? fmt::format("{} has no link", p.node)
                             : fmt::format("there is no link at {}; expected one of the {} {}",
                                           format(FaultPlace{.node = p.node, .port = p.port, .is_rail = p.is_rail}),
                                           p.is_rail ? "rails" : "ports with a link,", ports_with_links(lab_, nodes)));
    if (p.direction != FaultPlace::Direction::kBoth && !kind_.one_direction)
      where.fail(fmt::format("{} has no direction; expected {} without in or out", what(), p.node));
    if (p.traffic_class >= 0 && !kind_.one_class)
      where.fail(fmt::format("{} does not apply to one class; expected a place without /{}", what(), p.traffic_class));
    if (kind_.scope == FaultScope::kSwitch && p.port != 0)
      where.fail(fmt::format("{} applies to a whole switch; expected a place without a port", what()));
    if (kind_.scope == FaultScope::kHost && p.port != 0)
      where.fail(fmt::format("{} applies to a whole host; expected a place without a NIC", what()));
    for (const NodeSpec* n : nodes) check_node_of(*n, where);
    for (const PortName& port : ports) check_port(port, where);
  }

  void check_node_of(const NodeSpec& n, const Tree& where) const {
    using enum FaultScope;
    const FaultScope scope = kind_.scope;
    const bool of_switch = scope == kSwitch || scope == kSwitchPort || scope == kQueue;
    const bool of_host = scope == kHost || scope == kNic;
    if (of_switch && n.kind != Kind::kSwitch)
      where.fail(fmt::format("{} is a {}; expected a switch for {}", n.name, n.kind == Kind::kHost ? "host" : "trunk",
                             what()));
    if (of_host && n.kind != Kind::kHost)
      where.fail(fmt::format("{} is a {}; expected a host for {}", n.name, n.kind == Kind::kSwitch ? "switch" : "trunk",
                             what()));
    if (n.kind == Kind::kTrunk && scope == kPort)
      where.fail(fmt::format("{} is a trunk; expected a switch or a host for {}", n.name, what()));
    if (kind_.built_in_hosts && !is_built_in(n))
      where.fail(fmt::format("{} is attached and has its own speed and clock; expected a built-in host for {}", n.name,
                             what()));
    if (kind_.check_node) kind_.check_node({lab_, fault_, n, where, said_});
  }

  void check_port(const PortName& port, const Tree& where) const {
    if (!kind_.store_and_forward) return;
    const auto link = std::ranges::find_if(lab_.links, [&](const LinkSpec& l) { return l.a == port || l.b == port; });
    for (const PortName& end : {link->a, link->b}) {
      const NodeSpec& n = *lab_.find(end.node);
      if (n.kind == Kind::kTrunk)
        where.fail(fmt::format("the link of {} leads to another daemon, and its rate is fixed; expected another link",
                               format(port)));
      if (n.kind == Kind::kSwitch && lab_.switches.at(n.profile).mode == ForwardingMode::kCutThrough)
        where.fail(
            fmt::format("{} uses cut-through, which needs a fixed receiving rate; expected a link between "
                        "store-and-forward devices",
                        n.name));
    }
  }

  void check_trigger(const FaultTrigger& t, const Tree& where) const {
    check_node(t.node, where);
    if (!has_link(lab_, {t.node, t.port}))
      where.fail(fmt::format("there is no link at {}:{}; expected one of the ports with a link, {}", t.node, t.port,
                             ports_with_links(lab_, {lab_.find(t.node)})));
    if (lab_.find(t.node)->kind != Kind::kSwitch)
      where.fail(fmt::format("{} is not a switch; expected a queue of a switch", t.node));
  }

  void check_flow() const {
    for (const MatchTerm& m : fault_.match) {
      if (m.field != "flow") continue;
      const std::string traffic = m.value.substr(0, m.value.find('/'));
      std::vector<std::string> names;
      for (const TrafficSpec& t : lab_.traffic) names.push_back(t.name);
      if (std::ranges::find(names, traffic) == names.end())
        said_.at_or_self("match").fail(
            fmt::format("there is no traffic '{}' for flow {}{}", traffic, m.value, did_you_mean(traffic, names)));
    }
  }

  // Under the virtual clock a run without a duration ends when nothing is left to do.
  void check_end() const {
    if (lab_.run.clock != Clock::kVirtual || lab_.run.duration || kind_.on_frames) return;
    const bool again =
        (fault_.every || kind_.own_times) && fault_.count == 0 && !(kind_.own_times && fault_.lasts);
    if (again)
      said_.at_or_self(fault_.every ? "every" : what())
          .fail("the fault never ends, nor does the run; expected count, or run.duration");
    if (kind_.endless_work && !fault_.lasts)
      said_.at_or_self(what()).fail("the fault never ends, nor does the run; expected for, or run.duration");
  }

  const Lab& lab_;
  const FaultSpec& fault_;
  const FaultKind& kind_;
  const Tree& said_;
};

}  // namespace

void check_fault(const Lab& lab, const FaultSpec& fault, const Tree& said) { FaultCheck(lab, fault, said).run(); }

void check_faults(const Draft& draft) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < draft.lab.faults.size(); ++i) {
    const FaultSpec& fault = draft.lab.faults[i];
    const Tree& said = *draft.faults[i];
    if (!names.insert(fault.name).second)
      said.at_or_self("name").fail(fmt::format("two faults have the name {}; expected unique names", fault.name));
    check_fault(draft.lab, fault, said);
  }
}

}  // namespace railyard::spec
