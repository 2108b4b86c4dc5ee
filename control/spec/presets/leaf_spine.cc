// Every leaf has a link to every spine; hosts have one NIC each.
//
//        spine1        spine2
//        |    \________/    |       leaf i: ports 1..H to its hosts, then its uplinks, spine by spine
//        |    /        \    |       spine s: port i to leaf i
//        leaf1         leaf2
//       /  |  |       |  |  \       (3 hosts per leaf)
//      h1  h2 h3      h4 h5 h6
#include <cstddef>

#include <fmt/format.h>

#include "control/spec/presets/clos.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct LeafSpine : Clos {
  int leaves = 0;
  int hosts_per_leaf = 0;
};

const Table<LeafSpine>& leaf_spine_keys() {
  static const Table<LeafSpine> table = [] {
    std::vector<Key<LeafSpine>> keys{
        preset_key<LeafSpine>("leaf-spine"),
        key("leaves", &LeafSpine::leaves, integer(1, kMostSwitches), "number of leaves").require(),
        key("hosts-per-leaf", &LeafSpine::hosts_per_leaf, integer(1, kMostPorts), "number of hosts per leaf")
            .require()};
    for (Key<LeafSpine>& key : clos_keys<LeafSpine>()) keys.push_back(std::move(key));
    return Table<LeafSpine>{"leaf-spine", "Every leaf is linked to every spine: leaf1.., spine1.., h1..",
                            std::move(keys)};
  }();
  return table;
}

void expand_leaf_spine(const Tree& topology, const LinkSpec& link, Lab& lab) {
  LeafSpine said;
  leaf_spine_keys().read(topology, said);
  if (said.leaves * said.hosts_per_leaf > kMostHosts)
    topology.fail(fmt::format("{} hosts; expected at most {}", said.leaves * said.hosts_per_leaf, kMostHosts));
  if (said.leaves > 1 && said.spines == 0)
    topology.at_or_self("spines").fail(fmt::format("{} leaves without spines; expected at least 1 spine", said.leaves));

  ClosBuilder build(topology, said, link, said.leaves, said.hosts_per_leaf, lab);
  std::vector<std::string> leaves;
  for (int leaf = 1; leaf <= said.leaves; ++leaf) leaves.push_back(build.add_leaf(fmt::format("leaf{}", leaf)).name);
  build.add_spines();
  for (int leaf = 0; leaf < said.leaves; ++leaf)
    for (int port = 1; port <= said.hosts_per_leaf; ++port) {
      const std::string host = build.add_host(fmt::format("h{}", leaf * said.hosts_per_leaf + port), 1).name;
      build.link_host({host, 1}, {leaves[static_cast<std::size_t>(leaf)], port});
    }
  build.link_spines(leaves, std::vector<int>(leaves.size(), said.hosts_per_leaf));
}

std::string draw_leaf_spine(Draw& draw) {
  const DrawnRates rates(draw);
  return Text{"leaves: {}, hosts-per-leaf: {}, {}", draw.between(2, 4), draw.between(2, 4), drawn_clos_keys(draw, rates)};
}

}  // namespace

Preset leaf_spine() {
  return {.name = "leaf-spine",
          .summary = "Two tiers: every leaf is linked to every spine. Any oversubscription; the usual fabric of one pod.",
          .expand = expand_leaf_spine,
          .schema = [] { return leaf_spine_keys().schema(); },
          .reference = {{"leaves: 4, spines: 4, hosts-per-leaf: 8", "two tiers; or oversubscription: 2 for spines"}},
          .draw = draw_leaf_spine,
          .drawn_percent = 42};
}

}  // namespace railyard::spec
