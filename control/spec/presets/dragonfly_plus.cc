// Groups of leaves under spines, with links between the spines of different groups: dragonfly+ (Shpiner et al.,
// "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017). Leaves and spines of group g are at [g, 0, i] and
// [g, 1, i]. Ports of a leaf: hosts, then its spines; of a spine: its leaves, then links to other groups.
//
// Routing is minimal: up to a spine with a link to the other group, over it, and down. No buffer waits for another in a
// circle that way, so classes stay as they are.
#include <optional>

#include <fmt/format.h>

#include "control/spec/presets/direct.h"
#include "control/spec/presets/global_links.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct DragonflyPlus : Direct {
  int leaves = 0;
  std::optional<int> spines;
  std::optional<int> hosts_per_leaf;
  std::optional<int> global_links;
  std::optional<int> groups;
  int uplinks_per_spine = 1;
  const Tree* global_link = nullptr;
};

const Table<DragonflyPlus>& dragonfly_plus_keys() {
  static const Table<DragonflyPlus> table = [] {
    std::vector<Key<DragonflyPlus>> keys{
        preset_key<DragonflyPlus>("dragonfly-plus"),
        key("leaves-per-group", &DragonflyPlus::leaves, integer(1, kMostSwitches), "leaves per group").require(),
        key("spines-per-group", &DragonflyPlus::spines, maybe(integer(1, kMostSwitches)),
            "spines per group (default: leaves-per-group)"),
        key("hosts-per-leaf", &DragonflyPlus::hosts_per_leaf, maybe(integer(1, kMostPorts)),
            "hosts per leaf (default: spines-per-group)"),
        key("global-links", &DragonflyPlus::global_links, maybe(integer(1, kMostPorts)),
            "links of each spine to other groups (default: leaves-per-group)"),
        key("groups", &DragonflyPlus::groups, maybe(integer(2, kMostSwitches)),
            "number of groups (default, and at most: spines-per-group x global-links + 1)"),
        key("uplinks-per-spine", &DragonflyPlus::uplinks_per_spine, integer(1, kMostPorts),
            "parallel links from each leaf to each spine of its group (default: 1)"),
        link_key("global-link", &DragonflyPlus::global_link, "links between groups (default: fabric-link)")};
    for (Key<DragonflyPlus>& key : direct_keys<DragonflyPlus>()) keys.push_back(std::move(key));
    return Table<DragonflyPlus>{"dragonfly-plus",
                                "Groups of leaves under spines, and links between spines of any two groups: leaf1.., "
                                "spine1.., h1..",
                                std::move(keys)};
  }();
  return table;
}

void expand_dragonfly_plus(const Tree& topology, const LinkSpec& link, Lab& lab) {
  DragonflyPlus said;
  dragonfly_plus_keys().read(topology, said);
  const std::int64_t leaves = said.leaves;
  const std::int64_t spines = said.spines.value_or(said.leaves);
  const std::int64_t hosts = said.hosts_per_leaf.value_or(static_cast<int>(spines));
  const std::int64_t links = said.global_links.value_or(said.leaves);
  const std::int64_t parallel = said.uplinks_per_spine;
  if (said.groups && *said.groups > spines * links + 1)
    topology.at_or_self("groups").fail(fmt::format("{} groups, but {} spines with {} links to other groups reach {}; "
                                                   "expected 2..{}",
                                                   *said.groups, spines, links, spines * links, spines * links + 1));
  const std::int64_t groups = said.groups ? *said.groups : spines * links + 1;
  check_most(topology, groups * leaves, "leaves", kMostSwitches);
  check_most(topology, groups * spines, "spines", kMostSwitches);
  check_most(topology, groups * leaves * hosts, "hosts", kMostHosts);
  check_most(topology, hosts + spines * parallel, "ports of a leaf", kMostPorts);
  check_most(topology, leaves * parallel + links, "ports of a spine", kMostPorts);

  const LinkSpec host_link = link_like(link, said.host_link);
  const LinkSpec fabric_link = link_like(link, said.fabric_link);
  const LinkSpec global_link = link_like(fabric_link, said.global_link);
  if (!lab.routing.order) lab.routing.order = PathOrder::kGroups;

  LabMaker make(topology, lab);
  // All numbers from 0.
  const auto leaf = [&](int group, int i) { return fmt::format("leaf{}", group * leaves + i + 1); };
  const auto spine = [&](int group, int i) { return fmt::format("spine{}", group * spines + i + 1); };
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < leaves; ++i) make.add_switch(leaf(g, i), "leaf", said.switch_profile).at = {g, 0, i};
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < spines; ++i) make.add_switch(spine(g, i), "spine", said.switch_profile).at = {g, 1, i};
  for (int i = 0; i < groups * leaves * hosts; ++i) {
    const std::string host = fmt::format("h{}", i + 1);
    const int per_leaf = static_cast<int>(hosts);
    make.add_host(host, 1, said.host_profile);
    make.add_link(host_link, {host, 1}, {fmt::format("leaf{}", i / per_leaf + 1), i % per_leaf + 1});
  }
  for (int g = 0; g < groups; ++g)
    for (int l = 0; l < leaves; ++l)
      for (int s = 0; s < spines; ++s)
        for (int k = 1; k <= said.uplinks_per_spine; ++k)
          make.add_link(fabric_link, {leaf(g, l), static_cast<int>(hosts) + s * said.uplinks_per_spine + k},
                        {spine(g, s), l * said.uplinks_per_spine + k});
  const auto of_spine = static_cast<int>(links);
  for (const GlobalLink& l : spec::global_links(static_cast<int>(groups), static_cast<int>(spines * links)))
    make.add_link(global_link,
                  {spine(l.group_a, l.link_a / of_spine), static_cast<int>(leaves * parallel) + l.link_a % of_spine + 1},
                  {spine(l.group_b, l.link_b / of_spine), static_cast<int>(leaves * parallel) + l.link_b % of_spine + 1});
}

}  // namespace

Preset dragonfly_plus() {
  return {.name = "dragonfly-plus",
          .summary = "Groups of leaves under spines, and links between the spines of any two groups.",
          .expand = expand_dragonfly_plus,
          .schema = [] { return dragonfly_plus_keys().schema(); },
          .reference = {{"leaves-per-group: 2, groups: 5", "leaf-spine groups whose spines are linked to other groups"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"leaves-per-group: {}, groups: 3, hosts-per-leaf: 1, {}", draw.between(2, 3), drawn_direct_keys(draw)};
          },
          .drawn_percent = 2};
}

}  // namespace railyard::spec
