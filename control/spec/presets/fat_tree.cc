// Three tiers: pods of leaves and spines, and cores above them (Al-Fares et al., "A Scalable, Commodity Data Center
// Network Architecture", SIGCOMM 2008; edge and aggregation switches are leaves and spines here). With `k` every switch
// has k ports: k pods of k/2 leaves and k/2 spines, k/2 hosts at each leaf, k²/4 cores, nothing oversubscribed. Each of
// these numbers can be said in its place. With `tiers: 2` there are no cores: k leaves below k/2 spines, k²/2 hosts.
//
//          core1     core2     core3     core4        core: port p to pod p
//             \       /           \       /
//           spine1 of each pod   spine2 of each pod    spine: ports 1..L to its pod's leaves, then to its cores
//               |   \             /   |
//               |     \         /     |                leaf: ports 1..H to its hosts, then to its pod's spines
//             leaf1             leaf2
//             h1 h2             h3 h4                  (pod 1 of k: 4)
//
// Numbers go on from pod to pod: spine3 and leaf3 are the first ones of the second. The i-th spine of every pod has the
// same cores.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/presets/clos.h"
#include "control/spec/presets/preset.h"
#include "control/spec/presets/three_tiers.h"

namespace railyard::spec {
namespace {

constexpr int kMostK = 128;

struct FatTree {
  std::optional<int> k;
  int tiers = 3;
  std::optional<int> pods;
  std::optional<int> leaves_per_pod;
  std::optional<int> spines_per_pod;
  std::optional<int> hosts_per_leaf;
  std::optional<int> cores_per_spine;
  std::optional<Ratio> oversubscription;
  const Tree* host_link = nullptr;
  const Tree* fabric_link = nullptr;
  const Tree* core_link = nullptr;
  std::string leaf_profile = "default";
  std::string spine_profile = "default";
  std::string core_profile = "default";
  std::string host_profile = "default";
};

Form<std::optional<int>> radix() {
  return maybe(checked<int>(integer(2, kMostK), [](const int& k) -> std::optional<std::string> {
    if (k % 2 == 0) return std::nullopt;
    return fmt::format("{} is odd, but half of a switch's ports are uplinks; expected {} or {}", k, k - 1, k + 1);
  }));
}

const Table<FatTree>& fat_tree_keys() {
  static const Table<FatTree> table{
      "fat-tree",
      "Pods of leaves and spines below cores: leaf1.., spine1.., core1.., h1..",
      {preset_key<FatTree>("fat-tree"),
       key("k", &FatTree::k, radix(),
           "ports per switch, even: k pods with k/2 leaves and k/2 spines each, k/2 hosts per leaf, k/2 cores per "
           "spine"),
       key("tiers", &FatTree::tiers, integer(2, 3), "3, or 2 for k leaves below k/2 spines (default: 3)"),
       key("pods", &FatTree::pods, maybe(integer(1, kMostSwitches)), "number of pods (default: k)"),
       key("leaves-per-pod", &FatTree::leaves_per_pod, maybe(integer(1, kMostSwitches)),
           "leaves per pod (default: k/2; k with two tiers)"),
       key("spines-per-pod", &FatTree::spines_per_pod, maybe(integer(1, kMostSwitches)),
           "spines per pod (default: k/2)"),
       key("hosts-per-leaf", &FatTree::hosts_per_leaf, maybe(integer(1, kMostPorts)), "hosts per leaf (default: k/2)"),
       key("cores-per-spine", &FatTree::cores_per_spine, maybe(integer(1, kMostSwitches)),
           "cores that each spine is linked to, shared with the spines at its place in other pods (default: k/2)"),
       key("oversubscription", &FatTree::oversubscription, maybe(ratio()),
           "instead of spines-per-pod: total rate of a leaf's hosts / total rate of its uplinks; uplinks are rounded up. "
           "With k, hosts get the other ports of a leaf"),
       link_key("host-link", &FatTree::host_link, "links of hosts (default: defaults.link)"),
       link_key("fabric-link", &FatTree::fabric_link, "links between leaves and spines (default: defaults.link)"),
       link_key("core-link", &FatTree::core_link, "links between spines and cores (default: fabric-link)"),
       key("leaf-profile", &FatTree::leaf_profile, name_form(), "switch profile of the leaves"),
       key("spine-profile", &FatTree::spine_profile, name_form(), "switch profile of the spines"),
       key("core-profile", &FatTree::core_profile, name_form(), "switch profile of the cores"),
       key("host-profile", &FatTree::host_profile, name_form(), "profile of the hosts"), racks_key<FatTree>()}};
  return table;
}

// Of the k ports of a leaf, those to its hosts: as many as the rest carries at this ratio.
int hosts_of_k(const Tree& topology, int k, BitRate host, BitRate up, Ratio ratio) {
  for (int hosts = k - 1; hosts >= 1; --hosts)
    if (uplinks_for(Int128{host.bps} * hosts, up, ratio) <= k - hosts) return hosts;
  topology.at_or_self("oversubscription")
      .fail(fmt::format("{} ports of {} do not carry a host of {} at {}; expected more", k - 1, format(up), format(host),
                        format(ratio)));
}

// How many there are of everything.
void set_numbers(const Tree& topology, const FatTree& said, ThreeTiers& f) {
  const auto number = [&](const char* name, std::optional<int> own, int of_k) {
    if (!own && !said.k)
      topology.fail(fmt::format("neither k nor {}; expected k, or {} with the other keys", name, name));
    return own.value_or(of_k);
  };
  const int k = said.k.value_or(0);
  if (said.tiers == 2)
    for (const char* name : {"pods", "cores-per-spine", "core-link", "core-profile"})
      if (const Tree* found = topology.find(name)) found->fail("found with tiers: 2, which have no pods and no cores");
  f.pods = said.tiers == 2 ? 1 : number("pods", said.pods, k);
  f.leaves = number("leaves-per-pod", said.leaves_per_pod, said.tiers == 2 ? k : k / 2);
  if (said.oversubscription) {
    const Ratio ratio = *said.oversubscription;
    if (said.spines_per_pod)
      topology.at_or_self("oversubscription").fail("found with spines-per-pod; expected one of the two");
    const bool by_k = said.k && !said.hosts_per_leaf;
    f.hosts = by_k ? hosts_of_k(topology, k, f.host_link.rate, f.fabric_link.rate, ratio)
                   : number("hosts-per-leaf", said.hosts_per_leaf, 0);
    f.spines = uplinks_for(Int128{f.host_link.rate.bps} * f.hosts, f.fabric_link.rate, ratio);
  } else {
    f.spines = number("spines-per-pod", said.spines_per_pod, k / 2);
    f.hosts = number("hosts-per-leaf", said.hosts_per_leaf, k / 2);
  }
  f.tops = f.pods == 1 ? said.cores_per_spine.value_or(0) : number("cores-per-spine", said.cores_per_spine, k / 2);
  if (f.pods == 1 && f.tops > 0)
    topology.at_or_self("cores-per-spine").fail("a single pod has no cores; expected pods: 2 or more, or no such key");
}

void expand_fat_tree(const Tree& topology, const LinkSpec& link, Lab& lab) {
  FatTree said;
  fat_tree_keys().read(topology, said);
  const LinkSpec fabric_link = link_like(link, said.fabric_link);
  ThreeTiers f{.host_link = link_like(link, said.host_link),
               .fabric_link = fabric_link,
               .top_link = link_like(fabric_link, said.core_link),
               .leaf_profile = said.leaf_profile,
               .spine_profile = said.spine_profile,
               .top_profile = said.core_profile,
               .host_profile = said.host_profile,
               .top_name = "core",
               .top_role = "core"};
  set_numbers(topology, said, f);
  check_sizes(topology, f);
  make(topology, f, lab);
}

// Small ones of three tiers; those by `k` have 16 hosts and more.
std::string draw_fat_tree(Draw& draw) {
  const DrawnRates rates(draw);
  return Text{"pods: {}, leaves-per-pod: {}, spines-per-pod: {}, hosts-per-leaf: {}, cores-per-spine: {}, "
              "spine-profile: other, host-link: {}, fabric-link: {}",
              draw.between(2, 3), draw.between(1, 2), draw.between(1, 2), draw.between(2, 3), draw.between(1, 2),
              drawn_link(draw, rates.host_gbps, 10), drawn_link(draw, rates.fabric_gbps, 300)};
}

}  // namespace

Preset fat_tree() {
  return {.name = "fat-tree",
          .summary = "Two or three tiers: pods of leaves and spines below cores, by one number k or by the numbers of each tier.",
          .expand = expand_fat_tree,
          .schema = [] { return fat_tree_keys().schema(); },
          .reference = {{"k: 8",
                         "three tiers: k pods of k/2 leaves and k/2 spines, k/2 hosts per leaf, k/2 cores per spine; or "
                         "pods, leaves-per-pod, spines-per-pod, hosts-per-leaf, cores-per-spine; also core-link, "
                         "core-profile"},
                        {"k: 8, tiers: 2, oversubscription: 3", "two tiers: k leaves; 6 of their 8 ports to hosts"}},
          .draw = draw_fat_tree,
          .drawn_percent = 5};
}

}  // namespace railyard::spec
