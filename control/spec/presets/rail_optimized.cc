#include "control/spec/presets/rail_optimized.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "control/spec/presets/clos.h"

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
        key("rails", &RailOptimized::rails, integer(1, 8), "NICs per host, each on a rail of its own").require(),
        key("hosts-per-group", &RailOptimized::hosts_per_group, integer(1, kMostPorts),
            "hosts that share a leaf per rail; without it all; the last group may be smaller")};
    for (Key<RailOptimized>& key : clos_keys<RailOptimized>()) keys.push_back(std::move(key));
    return Table<RailOptimized>{
        "rail-optimized", "NIC r of every host is at a leaf of rail r: leaf-r1.., spine1.., h1..", std::move(keys)};
  }();
  return table;
}

void expand(const Tree& topology, const LinkSpec& link, Lab& lab) {
  RailOptimized said;
  rail_optimized_keys().read(topology, said);
  const int per_group = std::min(said.hosts_per_group.value_or(said.hosts), said.hosts);
  const int groups = (said.hosts + per_group - 1) / per_group;
  if (groups * said.rails > kMostSwitches)
    topology.fail(fmt::format("{} leaves; expected at most {}", groups * said.rails, kMostSwitches));
  if (groups > 1 && said.spines == 0)
    topology.at_or_self("spines").fail(
        fmt::format("{} groups without a spine between them; expected at least 1", groups));

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

}  // namespace

Preset rail_optimized() {
  return {"rail-optimized", expand, [] { return rail_optimized_keys().schema(); }};
}

}  // namespace railyard::spec
