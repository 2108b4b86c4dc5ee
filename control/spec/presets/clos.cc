#include "control/spec/presets/clos.h"

#include <utility>

#include <fmt/format.h>

#include "control/spec/presets/three_tiers.h"

namespace railyard::spec {

ClosBuilder::ClosBuilder(const Tree& topology, const Clos& said, const LinkSpec& link, int leaves, int hosts_per_leaf,
                         Lab& lab)
    : said_(said),
      host_link_(link_like(link, said.host_link)),
      fabric_link_(link_like(link, said.fabric_link)),
      make_(topology, lab) {
  if (said.spines && said.oversubscription)
    topology.at_or_self("oversubscription").fail("found with spines; expected one of the two");
  if (said.oversubscription)
    spines_ = (uplinks_for(Int128{host_link_.rate.bps} * hosts_per_leaf, fabric_link_.rate, *said.oversubscription) +
               said.uplinks_per_spine - 1) /
              said.uplinks_per_spine;
  else if (said.spines)
    spines_ = *said.spines;
  else if (leaves > 1)
    topology.fail("neither spines nor oversubscription; expected one of the two");

  const int uplinks = spines_ * said.uplinks_per_spine;
  check_most(topology, spines_, "spines", kMostSwitches);
  if (hosts_per_leaf + uplinks > kMostPorts)
    topology.fail(fmt::format("a leaf would have {} ports; expected at most {}", hosts_per_leaf + uplinks, kMostPorts));
  if (leaves * said.uplinks_per_spine > kMostPorts)
    topology.fail(
        fmt::format("a spine would have {} ports; expected at most {}", leaves * said.uplinks_per_spine, kMostPorts));
}

NodeSpec& ClosBuilder::add_leaf(std::string name) {
  return make_.add_switch(std::move(name), "leaf", said_.leaf_profile);
}

NodeSpec& ClosBuilder::add_host(std::string name, int nics) {
  return make_.add_host(std::move(name), nics, said_.host_profile);
}

void ClosBuilder::link_host(PortName nic, PortName leaf_port) {
  make_.add_link(host_link_, std::move(nic), std::move(leaf_port));
}

void ClosBuilder::add_spines() {
  for (int spine = 1; spine <= spines_; ++spine)
    make_.add_switch(fmt::format("spine{}", spine), "spine", said_.spine_profile);
}

void ClosBuilder::link_spines(const std::vector<std::string>& leaves, const std::vector<int>& host_ports) {
  const int parallel = said_.uplinks_per_spine;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    for (int spine = 0; spine < spines_; ++spine)
      for (int k = 1; k <= parallel; ++k)
        make_.add_link(fabric_link_, {leaves[leaf], host_ports[leaf] + spine * parallel + k},
                       {fmt::format("spine{}", spine + 1), static_cast<int>(leaf) * parallel + k});
}

DrawnRates::DrawnRates(Draw& draw)
    : host_gbps(draw.of({10, 25, 100, 100, 400})),
      fabric_gbps(draw.of({host_gbps, host_gbps, host_gbps, 4 * host_gbps, host_gbps == 400 ? 100 : host_gbps})) {}

std::string drawn_link(Draw& draw, int gbps, int most_metres) {
  return fmt::format("{{ rate: {}Gbps, cable: {}m }}", gbps, draw.between(1, most_metres));
}

std::string drawn_clos_keys(Draw& draw, const DrawnRates& rates) {
  return Text{"spines: {}, uplinks-per-spine: {}, leaf-profile: other, host-link: {}, fabric-link: {}",
              draw.between(1, 3), draw.of({1, 1, 2}), drawn_link(draw, rates.host_gbps, 10),
              drawn_link(draw, rates.fabric_gbps, 300)};
}

}  // namespace railyard::spec
