// NIC r of every host is at a leaf of rail r, so that GPUs of one rail are one hop apart; spines join the rails. There
// is one leaf per rail and group of hosts: leaf-r1, leaf-r2, or leaf-r1-g1, leaf-r2-g1, leaf-r1-g2, ...
//
//            spine1
//           /      \.
//      leaf-r1    leaf-r2       leaf: port j to the j-th host of its group, then its uplinks, spine by spine
//      1|   2|    1|   2|       spine: port i to leaf i, group by group, rail by rail
//       |    |     |    |
//     h1:1  h2:1  h1:2  h2:2    (2 hosts, 2 rails, 1 spine)
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "control/spec/presets/clos.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct RailOptimized : Clos {
  int hosts = 0;
  int rails = 0;
  std::optional<int> hosts_per_group;
};

const Table<RailOptimized>& rail_optimized_keys() {
  static const Table<RailOptimized> table = [] {
    std::vector<Key<RailOptimized>> keys{
        preset_key<RailOptimized>("rail-optimized"),
        key("hosts", &RailOptimized::hosts, integer(1, kMostHosts), "number of hosts").require(),
        key("rails", &RailOptimized::rails, integer(1, 8), "NICs per host, one per rail").require(),
        key("hosts-per-group", &RailOptimized::hosts_per_group, integer(1, kMostPorts),
            "hosts per group, with one leaf per rail; the last group may be smaller (default: all hosts)")};
    for (Key<RailOptimized>& key : clos_keys<RailOptimized>()) keys.push_back(std::move(key));
    return Table<RailOptimized>{"rail-optimized",
                                "NIC r of every host is linked to a leaf of rail r: leaf-r1.., spine1.., h1..",
                                std::move(keys)};
  }();
  return table;
}

void expand_rail_optimized(const Tree& topology, const LinkSpec& link, Lab& lab) {
  RailOptimized said;
  rail_optimized_keys().read(topology, said);
  const int per_group = std::min(said.hosts_per_group.value_or(said.hosts), said.hosts);
  const int groups = (said.hosts + per_group - 1) / per_group;
  if (groups * said.rails > kMostSwitches)
    topology.fail(fmt::format("{} leaves; expected at most {}", groups * said.rails, kMostSwitches));
  if (groups > 1 && said.spines == 0)
    topology.at_or_self("spines").fail(fmt::format("{} groups without spines; expected at least 1 spine", groups));

  ClosBuilder build(topology, said, link, groups * said.rails, per_group, lab);
  const auto leaf_name = [&](int rail, int group) {
    return groups == 1 ? fmt::format("leaf-r{}", rail) : fmt::format("leaf-r{}-g{}", rail, group);
  };
  std::vector<std::string> leaves;
  std::vector<int> host_ports;
  for (int group = 1; group <= groups; ++group)
    for (int rail = 1; rail <= said.rails; ++rail) {
      leaves.push_back(build.add_leaf(leaf_name(rail, group)).name);
      host_ports.push_back(std::min(per_group, said.hosts - (group - 1) * per_group));
    }
  build.add_spines();
  for (int i = 0; i < said.hosts; ++i) {
    const std::string host = build.add_host(fmt::format("h{}", i + 1), said.rails).name;
    for (int rail = 1; rail <= said.rails; ++rail)
      build.link_host({host, rail}, {leaf_name(rail, i / per_group + 1), i % per_group + 1});
  }
  build.link_spines(leaves, host_ports);
}

std::string draw_rail_optimized(Draw& draw) {
  const DrawnRates rates(draw);
  return Text{"hosts: {}, rails: {}, hosts-per-group: {}, {}", draw.between(4, 7), draw.between(1, 3),
              draw.between(2, 3), drawn_clos_keys(draw, rates)};
}

}  // namespace

Preset rail_optimized() {
  return {.name = "rail-optimized",
          .summary = "NIC k of each host is on rail k: all of a rail are one hop apart, and spines connect the rails.",
          .expand = expand_rail_optimized,
          .schema = [] { return rail_optimized_keys().schema(); },
          .reference = {{"hosts: 8, rails: 4, spines: 4", "a NIC of each host on each rail; also hosts-per-group: 4"}},
          .draw = draw_rail_optimized,
          .drawn_percent = 19};
}

}  // namespace railyard::spec
