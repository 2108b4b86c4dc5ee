// A tree of switches with hosts at its leaves: root, branch1.., leaf1... Ports: hosts or branches, then the way up.
//
//            root
//           /    \.
//       leaf1    leaf2       (levels: 2, branches: 2, hosts-per-leaf: 2)
//       h1 h2    h3 h4
#include <fmt/format.h>

#include "control/spec/presets/direct.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct TreePreset : Direct {
  int levels = 2;
  int branches = 2;
  int hosts_per_leaf = 1;
};

const Table<TreePreset>& tree_keys() {
  static const Table<TreePreset> table = [] {
    std::vector<Key<TreePreset>> keys{
        preset_key<TreePreset>("tree"),
        key("levels", &TreePreset::levels, integer(1, 12), "levels of switches (default: 2)"),
        key("branches", &TreePreset::branches, integer(1, kMostPorts), "switches below each one above the leaves (default: 2)"),
        key("hosts-per-leaf", &TreePreset::hosts_per_leaf, integer(1, kMostPorts), "hosts per leaf (default: 1)")};
    for (Key<TreePreset>& key : direct_keys<TreePreset>()) keys.push_back(std::move(key));
    return Table<TreePreset>{"tree", "A tree of switches: root, branch1.., leaf1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand_tree(const Tree& topology, const LinkSpec& link, Lab& lab) {
  TreePreset said;
  tree_keys().read(topology, said);
  const LinkSpec host_link = link_like(link, said.host_link);
  const LinkSpec fabric_link = link_like(link, said.fabric_link);
  std::int64_t leaves = 1;
  for (int level = 1; level < said.levels; ++level) {
    leaves *= said.branches;
    if (leaves > kMostSwitches) topology.fail(fmt::format("{} or more leaves; expected at most {}", leaves, kMostSwitches));
  }
  check_most(topology, leaves * said.hosts_per_leaf, "hosts", kMostHosts);
  LabMaker make(topology, lab);
  std::vector<std::string> above;
  std::vector<std::pair<PortName, PortName>> links;
  int branch = 0;
  for (int level = 1; level <= said.levels; ++level) {
    const bool is_leaf = level == said.levels;
    std::vector<std::string> here;
    const std::size_t count = level == 1 ? 1 : above.size() * static_cast<std::size_t>(said.branches);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = is_leaf ? fmt::format("leaf{}", i + 1)
                               : level == 1 ? "root" : fmt::format("branch{}", ++branch);
      make.add_switch(name, is_leaf ? "leaf" : level == 1 ? "root" : "branch", said.switch_profile);
      here.push_back(name);
      if (level == 1) continue;
      const auto branches = static_cast<std::size_t>(said.branches);
      links.push_back({{name, (is_leaf ? said.hosts_per_leaf : said.branches) + 1},
                       {above[i / branches], static_cast<int>(i % branches) + 1}});
    }
    above = std::move(here);
  }
  for (std::size_t leaf = 0; leaf < above.size(); ++leaf)
    for (int port = 1; port <= said.hosts_per_leaf; ++port) {
      const std::string host = fmt::format("h{}", static_cast<int>(leaf) * said.hosts_per_leaf + port);
      make.add_host(host, 1, said.host_profile);
      make.add_link(host_link, {host, 1}, {above[leaf], port});
    }
  for (auto& [lower, upper] : links) make.add_link(fabric_link, std::move(lower), std::move(upper));
}

}  // namespace

Preset tree() {
  return {.name = "tree",
          .summary = "A tree of switches: one path between any two hosts, and a bottleneck at the root.",
          .expand = expand_tree,
          .schema = [] { return tree_keys().schema(); },
          .reference = {{"levels: 3, branches: 2, hosts-per-leaf: 4", "one path between any two hosts"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"levels: {}, branches: {}, hosts-per-leaf: {}, {}", draw.between(2, 3), draw.between(2, 3),
                        draw.between(1, 2), drawn_direct_keys(draw)};
          },
          .drawn_percent = 2};
}

}  // namespace railyard::spec
