#include "control/spec/fabrics.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/presets/preset.h"
#include "control/spec/spec_error.h"

namespace railyard::spec {
namespace {

using Kind = NodeSpec::Kind;

class Merge {
 public:
  Merge(Draft& draft, const Tree::Entry& fabric) : draft_(draft), fabric_(fabric) {}

  void run(const LinkSpec& link) {
    // What a preset sets beside nodes and links is the lab's: classes of QoS profiles, the order of paths.
    Lab& lab = draft_.lab;
    std::vector<NodeSpec> nodes = std::exchange(lab.nodes, {});
    std::vector<LinkSpec> links = std::exchange(lab.links, {});
    expand_preset(fabric_.value, link, lab);
    std::swap(nodes, lab.nodes);
    std::swap(links, lab.links);
    settle_racks(nodes);
    settle_addresses(nodes);
    for (NodeSpec& node : nodes) node.kind == Kind::kHost ? add_host(std::move(node)) : add_switch(std::move(node));
    for (LinkSpec& l : links) {
      for (PortName* end : {&l.a, &l.b}) *end = ours(*end);
      lab.links.push_back(std::move(l));
      draft_.links.push_back(&fabric_.value);
    }
  }

 private:
  std::string name_of(const std::string& node) const { return fmt::format("{}-{}", fabric_.key, node); }

  void add(NodeSpec node) {
    const auto [known, is_new] = draft_.node_index.try_emplace(node.name, draft_.lab.nodes.size());
    if (!is_new)
      fabric_.value.fail(fmt::format("two nodes are named {}; expected another name of the fabric", node.name));
    draft_.lab.nodes.push_back(std::move(node));
    draft_.nodes.push_back(&fabric_.value);
  }

  void add_switch(NodeSpec node) {
    node.name = name_of(node.name);
    add(std::move(node));
  }

  // Hosts of an earlier fabric stay in their racks, and what this fabric puts in a rack with them stands there too; other
  // racks are this fabric's own.
  void settle_racks(std::vector<NodeSpec>& nodes) const {
    if (draft_.lab.nodes.empty()) return;
    std::map<std::string, std::string> known;
    for (const NodeSpec& node : nodes)
      if (const auto host = draft_.node_index.find(node.name); node.kind == Kind::kHost && host != draft_.node_index.end())
        known.try_emplace(node.rack, draft_.lab.nodes[host->second].rack);
    for (NodeSpec& node : nodes) {
      if (node.rack.empty()) continue;
      const auto rack = known.find(node.rack);
      node.rack = rack == known.end() ? name_of(node.rack) : rack->second;
    }
  }

  // Addresses by rail that an earlier fabric has are given automatically here.
  void settle_addresses(std::vector<NodeSpec>& nodes) const {
    std::set<wire::IpAddress> taken;
    for (const NodeSpec& node : draft_.lab.nodes)
      for (const NicSpec& nic : node.nics)
        for (const auto& address : {nic.address_v4, nic.address_v6})
          if (address) taken.insert(*address);
    for (NodeSpec& node : nodes)
      for (NicSpec& nic : node.nics)
        for (auto* address : {&nic.address_v4, &nic.address_v6})
          if (*address && taken.contains(**address)) address->reset();
  }

  void add_host(NodeSpec node) {
    const auto known = draft_.node_index.find(node.name);
    if (known == draft_.node_index.end()) {
      first_nic_[node.name] = 0;
      return add(std::move(node));
    }
    NodeSpec& host = draft_.lab.nodes[known->second];
    first_nic_[node.name] = static_cast<int>(host.nics.size());
    host.nics.insert(host.nics.end(), node.nics.begin(), node.nics.end());
    if (host.nics.size() > kMostNics)
      fabric_.value.fail(fmt::format("{} would have {} NICs; expected at most {}", host.name, host.nics.size(), kMostNics));
  }

  PortName ours(const PortName& end) const {
    const auto host = first_nic_.find(end.node);
    return host == first_nic_.end() ? PortName{name_of(end.node), end.port}
                                    : PortName{end.node, host->second + end.port};
  }

  Draft& draft_;
  const Tree::Entry& fabric_;
  std::map<std::string, int> first_nic_;  // of this fabric, from 0, by host
};

}  // namespace

void expand_fabrics(Draft& draft, const LinkSpec& link) {
  const Tree* const fabrics = draft.sections.fabrics;
  if (fabrics == nullptr) return;
  if (draft.sections.topology != nullptr)
    fabrics->fail("found with topology; expected one of the two: topology is the only fabric of a lab");
  const Form<std::string> name = name_form();
  for (const Tree::Entry& entry : fabrics->as_map("a map of presets by the name of the fabric")) {
    Tree key = Tree::plain(entry.key);
    key.place = entry.place;
    key.path = fabrics->path;
    static_cast<void>(name.read(key));
    Merge(draft, entry).run(link);
  }
}

}  // namespace railyard::spec
