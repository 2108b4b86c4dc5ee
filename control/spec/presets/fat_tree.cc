// Three tiers: pods of leaves and spines, and cores above them (Al-Fares et al., "A Scalable, Commodity Data Center
// Network Architecture", SIGCOMM 2008; edge and aggregation switches are leaves and spines here). With `k` every switch
// has k ports: k pods of k/2 leaves and k/2 spines, k/2 hosts at each leaf, k²/4 cores, nothing oversubscribed. Each of
// these numbers can be said in its place.
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
#include "control/spec/presets/lab_maker.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

constexpr int kMostK = 128;

struct FatTree {
  std::optional<int> k;
  std::optional<int> pods;
  std::optional<int> leaves_per_pod;
  std::optional<int> spines_per_pod;
  std::optional<int> hosts_per_leaf;
  std::optional<int> cores_per_spine;
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
           "spine; the keys below override it"),
       key("pods", &FatTree::pods, maybe(integer(1, kMostSwitches)), "number of pods (default: k)"),
       key("leaves-per-pod", &FatTree::leaves_per_pod, maybe(integer(1, kMostSwitches)),
           "leaves per pod (default: k/2)"),
       key("spines-per-pod", &FatTree::spines_per_pod, maybe(integer(1, kMostSwitches)),
           "spines per pod (default: k/2)"),
       key("hosts-per-leaf", &FatTree::hosts_per_leaf, maybe(integer(1, kMostPorts)), "hosts per leaf (default: k/2)"),
       key("cores-per-spine", &FatTree::cores_per_spine, maybe(integer(1, kMostSwitches)),
           "cores that each spine is linked to, shared with the spines at its place in other pods (default: k/2)"),
       link_key("host-link", &FatTree::host_link, "links of hosts (default: defaults.link)"),
       link_key("fabric-link", &FatTree::fabric_link, "links between leaves and spines (default: defaults.link)"),
       link_key("core-link", &FatTree::core_link, "links between spines and cores (default: fabric-link)"),
       key("leaf-profile", &FatTree::leaf_profile, name_form(), "switch profile of the leaves"),
       key("spine-profile", &FatTree::spine_profile, name_form(), "switch profile of the spines"),
       key("core-profile", &FatTree::core_profile, name_form(), "switch profile of the cores"),
       key("host-profile", &FatTree::host_profile, name_form(), "profile of the hosts")}};
  return table;
}

// How many there are of everything.
struct Numbers {
  int pods, leaves, spines, hosts, cores;  // in all, in a pod, in a pod, at a leaf, above a spine
};

Numbers numbers(const Tree& topology, const FatTree& said) {
  const auto number = [&](const char* name, std::optional<int> own, int of_k) {
    if (!own && !said.k)
      topology.fail(fmt::format("neither k nor {}; expected k, or {} with the other keys", name, name));
    return own.value_or(of_k);
  };
  const int k = said.k.value_or(0);
  const int pods = number("pods", said.pods, k);
  Numbers n{
      .pods = pods,
      .leaves = number("leaves-per-pod", said.leaves_per_pod, k / 2),
      .spines = number("spines-per-pod", said.spines_per_pod, k / 2),
      .hosts = number("hosts-per-leaf", said.hosts_per_leaf, k / 2),
      .cores = pods == 1 ? said.cores_per_spine.value_or(0) : number("cores-per-spine", said.cores_per_spine, k / 2)};
  if (pods == 1 && n.cores > 0 && said.cores_per_spine)
    topology.at_or_self("cores-per-spine").fail("a single pod has no cores; expected pods: 2 or more, or no such key");
  return n;
}

void check_sizes_of(const Tree& topology, const Numbers& n) {
  const auto most = [&](std::int64_t count, const char* what, int limit) {
    if (count > limit) topology.fail(fmt::format("{} {}; expected at most {}", count, what, limit));
  };
  const auto pods = static_cast<std::int64_t>(n.pods);
  most(pods * n.leaves, "leaves", kMostSwitches);
  most(pods * n.spines, "spines", kMostSwitches);
  most(static_cast<std::int64_t>(n.spines) * n.cores, "cores", kMostSwitches);
  most(pods * n.leaves * n.hosts, "hosts", kMostHosts);
  most(static_cast<std::int64_t>(n.hosts) + n.spines, "ports of a leaf", kMostPorts);
  most(static_cast<std::int64_t>(n.leaves) + n.cores, "ports of a spine", kMostPorts);
}

void expand_fat_tree(const Tree& topology, const LinkSpec& link, Lab& lab) {
  FatTree said;
  fat_tree_keys().read(topology, said);
  const Numbers n = numbers(topology, said);
  check_sizes_of(topology, n);
  LinkSpec host_link = link;
  LinkSpec fabric_link = link;
  if (said.host_link != nullptr) link_keys().read(*said.host_link, host_link);
  if (said.fabric_link != nullptr) link_keys().read(*said.fabric_link, fabric_link);
  LinkSpec core_link = fabric_link;
  if (said.core_link != nullptr) link_keys().read(*said.core_link, core_link);

  LabMaker make(topology, lab);
  for (int i = 1; i <= n.pods * n.leaves; ++i) make.add_switch(fmt::format("leaf{}", i), "leaf", said.leaf_profile);
  for (int i = 1; i <= n.pods * n.spines; ++i) make.add_switch(fmt::format("spine{}", i), "spine", said.spine_profile);
  for (int i = 1; i <= n.spines * n.cores; ++i) make.add_switch(fmt::format("core{}", i), "core", said.core_profile);
  for (int i = 1; i <= n.pods * n.leaves * n.hosts; ++i) make.add_host(fmt::format("h{}", i), 1, said.host_profile);

  // All numbers from 1.
  const auto leaf = [&](int pod, int i) { return fmt::format("leaf{}", (pod - 1) * n.leaves + i); };
  const auto spine = [&](int pod, int i) { return fmt::format("spine{}", (pod - 1) * n.spines + i); };
  for (int i = 0; i < n.pods * n.leaves * n.hosts; ++i)
    make.add_link(host_link, {fmt::format("h{}", i + 1), 1}, {fmt::format("leaf{}", i / n.hosts + 1), i % n.hosts + 1});
  for (int pod = 1; pod <= n.pods; ++pod) {
    for (int l = 1; l <= n.leaves; ++l)
      for (int s = 1; s <= n.spines; ++s) make.add_link(fabric_link, {leaf(pod, l), n.hosts + s}, {spine(pod, s), l});
    for (int s = 1; s <= n.spines; ++s)
      for (int c = 1; c <= n.cores; ++c)
        make.add_link(core_link, {spine(pod, s), n.leaves + c}, {fmt::format("core{}", (s - 1) * n.cores + c), pod});
  }
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
          .summary = "Three tiers: pods of leaves and spines below cores, by one number k, or by the numbers of each tier.",
          .expand = expand_fat_tree,
          .schema = [] { return fat_tree_keys().schema(); },
          .reference = {{"k: 8",
                         "three tiers: k pods of k/2 leaves and k/2 spines, k/2 hosts per leaf, k/2 cores per spine; or "
                         "pods, leaves-per-pod, spines-per-pod, hosts-per-leaf, cores-per-spine; also core-link, "
                         "core-profile"}},
          .draw = draw_fat_tree,
          .drawn_percent = 5};
}

}  // namespace railyard::spec
