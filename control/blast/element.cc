#include "control/blast/element.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::blast {
namespace {

constexpr std::array kNames{std::pair{Kind::kLink, "link"}, std::pair{Kind::kNic, "nic"},
                            std::pair{Kind::kSwitch, "switch"}, std::pair{Kind::kRail, "rail"},
                            std::pair{Kind::kRack, "rack"}, std::pair{Kind::kPort, "port"},
                            std::pair{Kind::kMaintenance, "maintenance"}};

bool is_switch(const spec::Lab& lab, const std::string& node) {
  return lab.find(node)->kind == spec::NodeSpec::Kind::kSwitch;
}
bool is_host(const spec::Lab& lab, const std::string& node) {
  return lab.find(node)->kind == spec::NodeSpec::Kind::kHost;
}
std::string down(const spec::PortName& port) { return fmt::format("on: \"{}\", down: true", format(port)); }

void add_links(const spec::Lab& lab, std::vector<Element>& all) {
  for (std::size_t l = 0; l < lab.links.size(); ++l) {
    const spec::LinkSpec& link = lab.links[l];
    if (is_switch(lab, link.a.node) && is_switch(lab, link.b.node))
      all.push_back({Kind::kLink, format(link.a) + "-" + format(link.b), {down(link.a)}, {}, {l}});
  }
}

void add_nics(const spec::Lab& lab, std::vector<Element>& all) {
  for (std::size_t l = 0; l < lab.links.size(); ++l)
    for (const spec::PortName& end : {lab.links[l].a, lab.links[l].b})
      if (is_host(lab, end.node)) all.push_back({Kind::kNic, format(end), {down(end)}, {}, {l}});
}

void crash(const spec::Lab& lab, std::size_t node, Element& element) {
  const std::string& name = lab.nodes[node].name;
  element.faults.push_back(fmt::format("on: \"{}\", crash: true", name));
  element.nodes.push_back(node);
  for (std::size_t l = 0; l < lab.links.size(); ++l)
    if (lab.links[l].a.node == name || lab.links[l].b.node == name) element.links.push_back(l);
}

void add_switches(const spec::Lab& lab, std::vector<Element>& all) {
  for (std::size_t n = 0; n < lab.nodes.size(); ++n)
    if (lab.nodes[n].kind == spec::NodeSpec::Kind::kSwitch)
      crash(lab, n, all.emplace_back(Element{Kind::kSwitch, lab.nodes[n].name, {}, {}, {}}));
}

void add_maintenance(const spec::Lab& lab, std::vector<Element>& all) {
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) {
    if (lab.nodes[n].kind != spec::NodeSpec::Kind::kSwitch) continue;
    Element& element = all.emplace_back(Element{Kind::kMaintenance, lab.nodes[n].name, {}, {}, {}});
    element.faults.push_back(fmt::format("on: \"{}\", drain: true", lab.nodes[n].name));
    crash(lab, n, element);
  }
}

void add_rails(const spec::Lab& lab, std::vector<Element>& all) {
  std::map<std::string, std::set<int>> served;  // NICs of hosts, by the switch
  for (const spec::LinkSpec& link : lab.links)
    for (const auto& [host, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
      if (is_host(lab, host.node) && is_switch(lab, other.node)) served[other.node].insert(host.port);
  std::map<int, std::vector<std::string>> rails;
  for (const auto& [name, nics] : served) {
    if (nics.size() != 1) return;  // switches that serve several rails: there is no such thing to fail
    rails[*nics.begin()].push_back(name);
  }
  if (rails.size() < 2) return;
  for (const auto& [rail, switches] : rails) {
    Element& element = all.emplace_back(Element{Kind::kRail, fmt::format("rail {}", rail), {}, {}, {}});
    for (std::size_t n = 0; n < lab.nodes.size(); ++n)
      if (std::ranges::find(switches, lab.nodes[n].name) != switches.end()) crash(lab, n, element);
  }
}

void add_racks(const spec::Lab& lab, std::vector<Element>& all) {
  std::map<std::string, std::size_t> element_of;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) {
    const spec::NodeSpec& node = lab.nodes[n];
    if (node.rack.empty()) continue;
    const auto [known, is_new] = element_of.try_emplace(node.rack, all.size());
    if (is_new) all.push_back({Kind::kRack, node.rack, {}, {}, {}});
    Element& element = all[known->second];
    if (node.kind == spec::NodeSpec::Kind::kSwitch) {
      crash(lab, n, element);
    } else if (node.kind == spec::NodeSpec::Kind::kHost) {
      element.nodes.push_back(n);
      element.hosts.push_back(node.name);
    }
  }
  // A switch that crashes takes links of hosts along.
  for (std::size_t l = 0; l < lab.links.size(); ++l)
    for (const auto& [host, other] : {std::pair{lab.links[l].a, lab.links[l].b}, std::pair{lab.links[l].b, lab.links[l].a}}) {
      const spec::NodeSpec& node = *lab.find(host.node);
      const spec::NodeSpec& peer = *lab.find(other.node);
      if (node.kind != spec::NodeSpec::Kind::kHost || node.rack.empty()) continue;
      if (peer.kind == spec::NodeSpec::Kind::kSwitch && peer.rack == node.rack) continue;
      Element& element = all[element_of.at(node.rack)];
      if (std::ranges::find(element.links, l) != element.links.end()) continue;
      element.faults.push_back(down(host));
      element.links.push_back(l);
    }
}

void add_ports(const spec::Lab& lab, std::vector<Element>& all) {
  for (std::size_t l = 0; l < lab.links.size(); ++l) {
    const spec::LinkSpec& link = lab.links[l];
    if (!is_switch(lab, link.a.node) || !is_switch(lab, link.b.node)) continue;
    for (const spec::PortName& end : {link.a, link.b}) {
      const std::string place = format(end) + " out";
      all.push_back({Kind::kPort, place, {fmt::format("on: \"{}\", loss: 100%", place)}, {}, {l}});
    }
  }
}

}  // namespace

const char* name(Kind kind) noexcept {
  return std::ranges::find(kNames, kind, &std::pair<Kind, const char*>::first)->second;
}

Kind parse_kind(const std::string& word) {
  for (const auto& [kind, text] : kNames)
    if (word == text) return kind;
  throw std::invalid_argument(fmt::format("'{}'; expected link, nic, switch, rail, rack, port or maintenance", word));
}

std::vector<Element> elements(const spec::Lab& lab, const std::vector<Kind>& kinds) {
  std::vector<Element> all;
  for (const Kind kind : kinds) {
    switch (kind) {
      case Kind::kLink:
        add_links(lab, all);
        break;
      case Kind::kNic:
        add_nics(lab, all);
        break;
      case Kind::kSwitch:
        add_switches(lab, all);
        break;
      case Kind::kRail:
        add_rails(lab, all);
        break;
      case Kind::kRack:
        add_racks(lab, all);
        break;
      case Kind::kPort:
        add_ports(lab, all);
        break;
      case Kind::kMaintenance:
        add_maintenance(lab, all);
        break;
    }
  }
  return all;
}

namespace {

// Ordered pairs of hosts, but for those of `but`, that reach each other over links and switches that are not `down`;
// hosts forward nothing.
std::uint64_t reachable_pairs(const spec::Lab& lab, const std::vector<bool>& link_down, const std::vector<std::string>& but) {
  std::map<std::string, std::size_t> number;
  for (const spec::NodeSpec& n : lab.nodes) number.emplace(n.name, number.size());
  std::vector<std::size_t> parent(lab.nodes.size());
  for (std::size_t n = 0; n < parent.size(); ++n) parent[n] = n;
  const auto root = [&](std::size_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  for (std::size_t l = 0; l < lab.links.size(); ++l)
    if (!link_down[l] && is_switch(lab, lab.links[l].a.node) && is_switch(lab, lab.links[l].b.node))
      parent[root(number.at(lab.links[l].a.node))] = root(number.at(lab.links[l].b.node));
  const auto counts = [&](const std::string& host) {
    return is_host(lab, host) && std::ranges::find(but, host) == but.end();
  };
  // Hosts with NICs in the same parts of the fabric are alike.
  std::map<std::size_t, std::set<std::size_t>> parts_of;
  std::uint64_t pairs = 0;
  for (std::size_t l = 0; l < lab.links.size(); ++l) {
    if (link_down[l]) continue;
    const spec::LinkSpec& link = lab.links[l];
    if (counts(link.a.node) && counts(link.b.node)) ++pairs;
    for (const auto& [host, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
      if (counts(host.node) && is_switch(lab, other.node))
        parts_of[number.at(host.node)].insert(root(number.at(other.node)));
  }
  std::map<std::set<std::size_t>, std::uint64_t> alike;
  for (const auto& [host, parts] : parts_of) ++alike[parts];
  for (const auto& [a, n] : alike)
    for (const auto& [b, m] : alike) {
      const bool meet = std::ranges::any_of(a, [&](std::size_t part) { return b.contains(part); });
      if (meet) pairs += a == b ? n * (n - 1) : n * m;
    }
  return pairs;
}

}  // namespace

bool divides(const spec::Lab& lab, const Element& element) {
  std::vector<bool> down(lab.links.size(), false);
  const std::uint64_t before = reachable_pairs(lab, down, element.hosts);
  for (const std::size_t l : element.links) down[l] = true;
  return reachable_pairs(lab, down, element.hosts) < before;
}

std::vector<Element> pairs(const spec::Lab& lab, const std::vector<Element>& all) {
  std::vector<Element> each;
  std::ranges::copy_if(all, std::back_inserter(each), [&](const Element& e) { return !divides(lab, e); });
  std::vector<Element> out;
  for (std::size_t a = 0; a < each.size(); ++a)
    for (std::size_t b = a + 1; b < each.size(); ++b) {
      Element& both = out.emplace_back(each[a]);
      both.name += " + " + each[b].name;
      both.faults.insert(both.faults.end(), each[b].faults.begin(), each[b].faults.end());
      both.nodes.insert(both.nodes.end(), each[b].nodes.begin(), each[b].nodes.end());
      both.links.insert(both.links.end(), each[b].links.begin(), each[b].links.end());
      both.hosts.insert(both.hosts.end(), each[b].hosts.begin(), each[b].hosts.end());
    }
  return out;
}

std::vector<std::string> faults_of(const Element& element, Duration at, Duration lasts) {
  std::vector<std::string> out;
  for (const std::string& fault : element.faults) {
    const bool waits_for_drain = element.kind == Kind::kMaintenance && fault.ends_with("crash: true");
    const Duration from = !waits_for_drain ? at : lasts.ps > 0 ? at + lasts / 2 : at + at / 4;
    const Duration length = waits_for_drain ? lasts / 4 : lasts;
    out.push_back(fmt::format("name: blast-{}, {}, at: {}ps{}", out.size() + 1, fault, from.ps,
                              length.ps > 0 ? fmt::format(", for: {}ps", length.ps) : ""));
  }
  return out;
}

}  // namespace railyard::blast
