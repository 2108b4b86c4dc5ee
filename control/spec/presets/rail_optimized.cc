// NIC r of every host is at a leaf of rail r, so that GPUs of one rail are one hop apart; spines join the rails. There
// is one leaf per rail and group of hosts: leaf-r1, leaf-r2, or leaf-r1-g1, leaf-r2-g1, leaf-r1-g2, ...
//
//            spine1
//           /      \.
//      leaf-r1    leaf-r2       leaf: port j to the j-th host of its group, then its uplinks, spine by spine
//      1|   2|    1|   2|       spine: port i to leaf i, group by group, rail by rail
//       |    |     |    |
//     h1:1  h2:1  h1:2  h2:2    (2 hosts, 2 rails, 1 spine)
//
// `switches-per-rail: 2`: a host has two NICs on each rail, at leaves leaf-r1a and leaf-r1b; NICs 1 and 2 are those of rail
// 1. `rails-per-switch: 2`: two rails share leaf-r1-r2, whose ports 1..H are rail 1's, the next H rail 2's. Rails that share
// leaves are kept apart as VLANs, 101 for rail 1, 102 for rail 2, ... (`rail-vlans`), and so have addresses by rail:
// 10.r.n.j and fd00:0:r:n::j is the j-th NIC of rail r at the n-th of its leaves. `addresses: leaf`: each leaf has a /24,
// 10.n.n.0, in equal parts for its rails.
#include <algorithm>
#include <bit>
#include <cstddef>

#include <fmt/format.h>

#include "control/spec/addresses.h"
#include "control/spec/presets/clos.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

constexpr int kMostSwitchesPerRail = 8;
constexpr int kVlanBeforeRails = 100;

enum class AddressRule { kRail, kLeaf };

struct RailOptimized : Clos {
  int hosts = 0;
  int rails = 0;
  std::optional<int> hosts_per_group;
  int rails_per_switch = 1;
  int switches_per_rail = 1;
  std::optional<bool> rail_vlans;
  std::optional<AddressRule> addresses;
};

const Table<RailOptimized>& rail_optimized_keys() {
  static const Table<RailOptimized> table = [] {
    std::vector<Key<RailOptimized>> keys{
        preset_key<RailOptimized>("rail-optimized"),
        key("hosts", &RailOptimized::hosts, integer(1, kMostHosts), "number of hosts").require(),
        key("rails", &RailOptimized::rails, integer(1, kMostNics), "rails; hosts have a NIC on each").require(),
        key("hosts-per-group", &RailOptimized::hosts_per_group, integer(1, kMostPorts),
            "hosts per group, with one leaf per rail; the last group may be smaller (default: all hosts)"),
        key("switches-per-rail", &RailOptimized::switches_per_rail, integer(1, kMostSwitchesPerRail),
            "leaves per rail and group; hosts have a NIC at each. 2: dual-rail (default: 1)"),
        key("rails-per-switch", &RailOptimized::rails_per_switch, either("all", kMostNics, integer(1, kMostNics)),
            "rails that share a leaf; all: one switch for all rails of a group (default: 1)"),
        key("rail-vlans", &RailOptimized::rail_vlans, maybe(boolean()),
            "each rail is a VLAN, 100 + its number, with addresses 10.rail.leaf.x; rails reach each other over scale-up "
            "networks only (default: true where rails share leaves)"),
        key("addresses", &RailOptimized::addresses,
            maybe(choice<AddressRule>({{"rail", AddressRule::kRail}, {"leaf", AddressRule::kLeaf}})),
            "with rail-vlans: rail: a /24 per rail and leaf; leaf: a /24 per leaf, divided equally between its rails (two "
            "/25, four /26), which the leaf announces as one (default: rail)")};
    for (Key<RailOptimized>& key : clos_keys<RailOptimized>()) keys.push_back(std::move(key));
    return Table<RailOptimized>{"rail-optimized",
                                "NIC r of every host is linked to a leaf of rail r: leaf-r1.., spine1.., h1..",
                                std::move(keys)};
  }();
  return table;
}

// Numbers from 0, and what follows from the keys.
class Rails {
 public:
  Rails(const Tree& topology, const RailOptimized& said) : said_(said) {
    per_group_ = std::min(said.hosts_per_group.value_or(said.hosts), said.hosts);
    groups_ = (said.hosts + per_group_ - 1) / per_group_;
    per_leaf_ = std::min(said.rails_per_switch, said.rails);
    sets_ = (said.rails + per_leaf_ - 1) / per_leaf_;
    if (said.rails * said.switches_per_rail > kMostNics)
      topology.at_or_self("switches-per-rail")
          .fail(fmt::format("{} rails with {} switches each need {} NICs per host; expected at most {}", said.rails,
                            said.switches_per_rail, said.rails * said.switches_per_rail, kMostNics));
    check_most(topology, leaves(), "leaves", kMostSwitches);
    if (groups_ > 1 && said.spines == 0)
      topology.at_or_self("spines").fail(fmt::format("{} groups without spines; expected at least 1 spine", groups_));
    if (!vlans()) {
      if (said.addresses) topology.at_or_self("addresses").fail("rails are not VLANs; expected rail-vlans: true");
      return;
    }
    if (by_leaf()) {
      if (per_group_ > subnet() - 2)
        topology.at_or_self("addresses")
            .fail(fmt::format("{} hosts per leaf; the subnet of a rail has {} addresses for hosts", per_group_, subnet() - 2));
      return;
    }
    if (groups_ * said.switches_per_rail > kMostLeavesOfRail)
      topology.at_or_self("rail-vlans")
          .fail(fmt::format("{} leaves per rail; expected at most {}, or rail-vlans: false",
                            groups_ * said.switches_per_rail, kMostLeavesOfRail));
    if (per_group_ > kMostHostsOfLeaf)
      topology.at_or_self("rail-vlans")
          .fail(fmt::format("{} hosts per leaf; expected at most {}, or rail-vlans: false", per_group_, kMostHostsOfLeaf));
  }

  int groups() const noexcept { return groups_; }
  int sets() const noexcept { return sets_; }  // of rails that share leaves
  std::int64_t leaves() const noexcept { return std::int64_t{groups_} * sets_ * said_.switches_per_rail; }
  int most_host_ports() const noexcept { return per_group_ * per_leaf_; }
  bool vlans() const noexcept { return said_.rail_vlans.value_or(per_leaf_ > 1); }

  int hosts_of(int group) const noexcept { return std::min(per_group_, said_.hosts - group * per_group_); }
  int rails_of(int set) const noexcept { return std::min(per_leaf_, said_.rails - set * per_leaf_); }
  int group_of(int host) const noexcept { return host / per_group_; }
  int set_of(int rail) const noexcept { return rail / per_leaf_; }

  std::string leaf_name(int set, int copy, int group) const {
    std::string name = fmt::format("leaf-r{}", set * per_leaf_ + 1);
    if (rails_of(set) > 1) name += fmt::format("-r{}", set * per_leaf_ + rails_of(set));
    if (said_.switches_per_rail > 1) name += static_cast<char>('a' + copy);
    if (groups_ > 1) name += fmt::format("-g{}", group + 1);
    return name;
  }
  // From 1, of the leaf of this rail.
  int port(int rail, int host) const noexcept {
    return rail % per_leaf_ * hosts_of(group_of(host)) + host % per_group_ + 1;
  }
  int nic(int rail, int copy) const noexcept { return rail * said_.switches_per_rail + copy + 1; }

  void set_addresses(int rail, int copy, int host, NicSpec& nic) const {
    const int number = host % per_group_ + 1;
    if (by_leaf()) {
      const int leaf = (group_of(host) * sets_ + set_of(rail)) * said_.switches_per_rail + copy;
      nic.address_v4 = ipv4_of_leaf(leaf, rail % per_leaf_ * subnet() + number);
      nic.address_v6 = ipv6_of_leaf(leaf, rail + 1, number);
      return;
    }
    const int leaf = group_of(host) * said_.switches_per_rail + copy;
    nic.address_v4 = ipv4_of_rail(rail + 1, leaf, number);
    nic.address_v6 = ipv6_of_rail(rail + 1, leaf, number);
  }

 private:
  static constexpr int kMostLeavesOfRail = 256;
  static constexpr int kMostHostsOfLeaf = 254;

  bool by_leaf() const noexcept { return said_.addresses == AddressRule::kLeaf; }
  // Addresses of one rail in the /24 of a leaf.
  int subnet() const noexcept { return 256 / static_cast<int>(std::bit_ceil(static_cast<unsigned>(per_leaf_))); }

  const RailOptimized& said_;
  int per_group_ = 0;
  int groups_ = 0;
  int per_leaf_ = 0;
  int sets_ = 0;
};

void expand_rail_optimized(const Tree& topology, const LinkSpec& link, Lab& lab) {
  RailOptimized said;
  rail_optimized_keys().read(topology, said);
  const Rails rails(topology, said);
  ClosBuilder build(topology, said, link, static_cast<int>(rails.leaves()), rails.most_host_ports(), lab);
  std::vector<std::string> leaves;
  std::vector<int> host_ports;
  for (int group = 0; group < rails.groups(); ++group)
    for (int set = 0; set < rails.sets(); ++set)
      for (int copy = 0; copy < said.switches_per_rail; ++copy) {
        NodeSpec& leaf = build.add_leaf(rails.leaf_name(set, copy, group));
        leaves.push_back(leaf.name);
        host_ports.push_back(rails.hosts_of(group) * rails.rails_of(set));
        if (!rails.vlans()) continue;
        for (int port = 1; port <= host_ports.back(); ++port) {
          const int rail = set * rails.rails_of(0) + (port - 1) / rails.hosts_of(group);
          leaf.vlans[port] = {.native = kVlanBeforeRails + rail + 1, .all_tagged = false, .tagged = {}};
        }
      }
  build.add_spines();
  for (int i = 0; i < said.hosts; ++i) {
    NodeSpec& host = build.add_host(fmt::format("h{}", i + 1), said.rails * said.switches_per_rail);
    for (int rail = 0; rail < said.rails; ++rail)
      for (int copy = 0; copy < said.switches_per_rail; ++copy) {
        const int nic = rails.nic(rail, copy);
        build.link_host({host.name, nic},
                        {rails.leaf_name(rails.set_of(rail), copy, rails.group_of(i)), rails.port(rail, i)});
        if (rails.vlans()) rails.set_addresses(rail, copy, i, host.nics[static_cast<std::size_t>(nic) - 1]);
      }
  }
  build.link_spines(leaves, host_ports);
}

std::string draw_rail_optimized(Draw& draw) {
  const DrawnRates rates(draw);
  // Rails as VLANs do not reach each other, and random traffic is between any two NICs.
  return Text{"hosts: {}, rails: {}, hosts-per-group: {}, switches-per-rail: {}, rails-per-switch: {}, "
              "rail-vlans: false, {}",
              draw.between(4, 7), draw.between(1, 3), draw.between(2, 3), draw.of({1, 1, 1, 2}), draw.of({1, 1, 2}),
              drawn_clos_keys(draw, rates)};
}

}  // namespace

Preset rail_optimized() {
  return {.name = "rail-optimized",
          .summary = "NIC k of each host is on rail k: all of a rail are one hop apart, and spines connect the rails.",
          .expand = expand_rail_optimized,
          .schema = [] { return rail_optimized_keys().schema(); },
          .reference = {{"hosts: 8, rails: 4, spines: 4", "a NIC of each host on each rail; also hosts-per-group: 4"},
                        {"hosts: 8, rails: 4, spines: 0", "rail-only: rails reach each other over scale-up networks"},
                        {"hosts: 8, rails: 4, rails-per-switch: all", "one switch with a VLAN per rail; 2: two rails each"},
                        {"hosts: 4, rails: 4, switches-per-rail: 2, spines: 0", "dual-rail: two NICs on each rail"}},
          .draw = draw_rail_optimized,
          .drawn_percent = 19};
}

}  // namespace railyard::spec
