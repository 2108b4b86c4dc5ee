// Pods of leaves and spines under super-spines: three tiers of switches, five stages. Every super-spine is linked to every
// spine of every pod; or, with `planes: true`, those of plane i to the i-th spine of each pod.
//
//            super1          super2            super-spine: pod by pod, in each spine by spine
//          /  |   \  \     /  |   \  \.
//     spine1 spine2        spine3 spine4       spine: its pod's leaves, then super-spines
//       |  \/  |             |  \/  |
//     leaf1  leaf2         leaf3  leaf4        leaf: its hosts, then its pod's spines
//     h1 h2  h3 h4         h5 h6  h7 h8        (pods: 2, leaves-per-pod: 2, spines-per-pod: 2, super-spines: 2)
//
// With `rails` a host has as many NICs, each at one of as many neighbouring leaves. Rates decide what `oversubscription`
// (of leaves) and `spine-oversubscription` make of the number of spines and super-spines; both are rounded up.
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

struct MultiPod {
  int pods = 0;
  int leaves_per_pod = 0;
  int hosts_per_leaf = 0;
  int rails = 1;
  std::optional<int> spines_per_pod;
  std::optional<Ratio> oversubscription;
  std::optional<int> super_spines;
  std::optional<Ratio> spine_oversubscription;
  bool planes = false;
  int uplinks_per_spine = 1;
  int uplinks_per_super_spine = 1;
  const Tree* host_link = nullptr;
  const Tree* fabric_link = nullptr;
  const Tree* super_link = nullptr;
  std::string leaf_profile = "default";
  std::string spine_profile = "default";
  std::string super_spine_profile = "default";
  std::string host_profile = "default";
};

const Table<MultiPod>& multi_pod_keys() {
  static const Table<MultiPod> table{
      "multi-pod",
      "Pods of leaves and spines below super-spines: leaf1.., spine1.., super1.., h1..",
      {preset_key<MultiPod>("multi-pod"),
       key("pods", &MultiPod::pods, integer(1, kMostSwitches), "number of pods").require(),
       key("leaves-per-pod", &MultiPod::leaves_per_pod, integer(1, kMostSwitches), "leaves per pod").require(),
       key("hosts-per-leaf", &MultiPod::hosts_per_leaf, integer(1, kMostPorts), "hosts per leaf").require(),
       key("rails", &MultiPod::rails, integer(1, kMostNics),
           "NICs per host, each at another leaf: leaves-per-pod is a multiple (default: 1)"),
       key("spines-per-pod", &MultiPod::spines_per_pod, maybe(integer(1, kMostSwitches)), "spines per pod"),
       key("oversubscription", &MultiPod::oversubscription, maybe(ratio()),
           "instead of spines-per-pod: total rate of a leaf's hosts / total rate of its uplinks; spines are rounded up"),
       key("super-spines", &MultiPod::super_spines, maybe(integer(1, kMostSwitches)), "number of super-spines"),
       key("spine-oversubscription", &MultiPod::spine_oversubscription, maybe(ratio()),
           "instead of super-spines: total rate of a spine's links to leaves / to super-spines; these are rounded up"),
       key("planes", &MultiPod::planes, boolean(),
           "super-spines in as many planes as a pod has spines: those of plane i are linked to the i-th spine of each "
           "pod only (default: false)"),
       key("uplinks-per-spine", &MultiPod::uplinks_per_spine, integer(1, kMostPorts),
           "parallel links from each leaf to each spine (default: 1)"),
       key("uplinks-per-super-spine", &MultiPod::uplinks_per_super_spine, integer(1, kMostPorts),
           "parallel links from each spine to each of its super-spines (default: 1)"),
       link_key("host-link", &MultiPod::host_link, "links of hosts (default: defaults.link)"),
       link_key("fabric-link", &MultiPod::fabric_link, "links between leaves and spines (default: defaults.link)"),
       link_key("super-link", &MultiPod::super_link, "links between spines and super-spines (default: fabric-link)"),
       key("leaf-profile", &MultiPod::leaf_profile, name_form(), "switch profile of the leaves"),
       key("spine-profile", &MultiPod::spine_profile, name_form(), "switch profile of the spines"),
       key("super-spine-profile", &MultiPod::super_spine_profile, name_form(), "switch profile of the super-spines"),
       key("host-profile", &MultiPod::host_profile, name_form(), "profile of the hosts"), racks_key<MultiPod>()}};
  return table;
}

// A number of switches above others, by itself or by a ratio of rates.
int count_above(const Tree& topology, const char* number, std::optional<int> said, const char* by_ratio,
                std::optional<Ratio> ratio, Int128 down_bps, BitRate up, int parallel) {
  if (said && ratio) topology.at_or_self(by_ratio).fail(fmt::format("found with {}; expected one of the two", number));
  if (!said && !ratio) topology.fail(fmt::format("neither {} nor {}; expected one of the two", number, by_ratio));
  return said ? *said : (uplinks_for(down_bps, up, *ratio) + parallel - 1) / parallel;
}

void expand_multi_pod(const Tree& topology, const LinkSpec& link, Lab& lab) {
  MultiPod said;
  multi_pod_keys().read(topology, said);
  const LinkSpec fabric_link = link_like(link, said.fabric_link);
  ThreeTiers f{.pods = said.pods,
               .leaves = said.leaves_per_pod,
               .hosts = said.hosts_per_leaf,
               .rails = said.rails,
               .planes = said.planes,
               .leaf_uplinks = said.uplinks_per_spine,
               .spine_uplinks = said.uplinks_per_super_spine,
               .host_link = link_like(link, said.host_link),
               .fabric_link = fabric_link,
               .top_link = link_like(fabric_link, said.super_link),
               .leaf_profile = said.leaf_profile,
               .spine_profile = said.spine_profile,
               .top_profile = said.super_spine_profile,
               .host_profile = said.host_profile,
               .top_name = "super",
               .top_role = "super-spine"};
  if (f.leaves % f.rails != 0)
    topology.at_or_self("rails").fail(fmt::format("{} leaves per pod for {} rails; expected a multiple of {} leaves",
                                                  f.leaves, f.rails, f.rails));
  f.spines = count_above(topology, "spines-per-pod", said.spines_per_pod, "oversubscription", said.oversubscription,
                         Int128{f.host_link.rate.bps} * f.hosts, f.fabric_link.rate, f.leaf_uplinks);
  const int tops = count_above(topology, "super-spines", said.super_spines, "spine-oversubscription",
                               said.spine_oversubscription, Int128{f.fabric_link.rate.bps} * f.leaves * f.leaf_uplinks,
                               f.top_link.rate, f.spine_uplinks);
  if (said.planes && said.super_spines && tops % f.spines != 0)
    topology.at_or_self("super-spines")
        .fail(fmt::format("{} super-spines in {} planes, one for each spine of a pod; expected a multiple of {}", tops,
                          f.spines, f.spines));
  f.tops = said.planes && said.super_spines ? tops / f.spines : tops;
  check_sizes(topology, f);
  make(topology, f, lab);
}

std::string draw_multi_pod(Draw& draw) {
  const DrawnRates rates(draw);
  const std::int64_t spines = draw.between(1, 2);
  const bool planes = draw.percent(50);
  return Text{"pods: 2, leaves-per-pod: {}, hosts-per-leaf: {}, rails: {}, spines-per-pod: {}, super-spines: {}, "
              "planes: {}, super-spine-profile: other, host-link: {}, fabric-link: {}",
              2, draw.between(2, 3), draw.between(1, 2), spines, planes ? 2 * spines : draw.between(1, 3), planes,
              drawn_link(draw, rates.host_gbps, 10), drawn_link(draw, rates.fabric_gbps, 300)};
}

}  // namespace

Preset multi_pod() {
  return {.name = "multi-pod",
          .summary = "Three tiers, five stages: pods of leaves and spines below super-spines that join all pods, or by planes.",
          .expand = expand_multi_pod,
          .schema = [] { return multi_pod_keys().schema(); },
          .reference = {{"pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 4, super-spines: 2",
                         "pods below super-spines; also oversubscription, spine-oversubscription, planes, rails"}},
          .draw = draw_multi_pod,
          .drawn_percent = 3};
}

}  // namespace railyard::spec
