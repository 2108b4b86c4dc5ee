// Three tiers: multi-pod, and what fat-tree has beside k.
#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

Lab topology(const std::string& keys) { return parse("name: x\ntopology: { preset: " + keys + " }\n", "x.yaml"); }
std::string topology_error(const std::string& keys) {
  return error_of("name: x\ntopology: { preset: " + keys + " }\n");
}

std::size_t count(const Lab& lab, const std::string& role) {
  return static_cast<std::size_t>(std::ranges::count(lab.nodes, role, &NodeSpec::role));
}

const std::string kPods = "multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 4, ";

TEST(MultiPod, JoinsEverySpineToEverySuperSpine) {
  const Lab lab = topology(kPods + "super-spines: 3");
  EXPECT_EQ(count(lab, "leaf"), 4u);
  EXPECT_EQ(count(lab, "spine"), 4u);
  EXPECT_EQ(count(lab, "super-spine"), 3u);
  EXPECT_EQ(lab.nodes.back().name, "h16");
  EXPECT_EQ(lab.links.size(), 16u + 8 + 12);
  EXPECT_EQ(peer(lab, {"h5", 1}), "leaf2:1");
  EXPECT_EQ(peer(lab, {"leaf3", 6}), "spine4:1");
  EXPECT_EQ(peer(lab, {"spine1", 3}), "super1:1");
  EXPECT_EQ(peer(lab, {"spine2", 4}), "super2:2");
  EXPECT_EQ(peer(lab, {"spine4", 5}), "super3:4");
}

TEST(MultiPod, MayHavePlanes) {
  const Lab lab = topology(kPods + "super-spines: 4, planes: true");
  EXPECT_EQ(count(lab, "super-spine"), 4u);
  EXPECT_EQ(lab.links.size(), 16u + 8 + 8);
  // Super-spines 1 and 2 are those of the first spines.
  EXPECT_EQ(peer(lab, {"spine1", 3}), "super1:1");
  EXPECT_EQ(peer(lab, {"spine1", 4}), "super2:1");
  EXPECT_EQ(peer(lab, {"spine3", 3}), "super1:2");
  EXPECT_EQ(peer(lab, {"spine4", 4}), "super4:2");
  EXPECT_THAT(topology_error(kPods + "super-spines: 3, planes: true"),
              HasSubstr("topology.super-spines: 3 super-spines in 2 planes, one for each spine of a pod; expected a "
                        "multiple of 2"));
}

TEST(MultiPod, HasParallelLinks) {
  const Lab lab = topology(kPods + "super-spines: 1, uplinks-per-spine: 2, uplinks-per-super-spine: 3");
  EXPECT_EQ(peer(lab, {"leaf2", 6}), "spine1:4");
  EXPECT_EQ(peer(lab, {"leaf2", 7}), "spine2:3");
  EXPECT_EQ(peer(lab, {"spine1", 5}), "super1:1");
  EXPECT_EQ(peer(lab, {"spine2", 7}), "super1:6");
  EXPECT_EQ(peer(lab, {"spine4", 7}), "super1:12");
}

TEST(MultiPod, MayHaveHostsOnRails) {
  const Lab lab = topology("multi-pod, pods: 2, leaves-per-pod: 4, spines-per-pod: 1, hosts-per-leaf: 3, super-spines: 1, "
                           "rails: 2");
  EXPECT_EQ(lab.nodes.back().name, "h12");
  EXPECT_EQ(lab.find("h1")->nics.size(), 2u);
  EXPECT_EQ(peer(lab, {"h2", 2}), "leaf2:2");
  EXPECT_EQ(peer(lab, {"h4", 1}), "leaf3:1");
  EXPECT_EQ(peer(lab, {"h12", 2}), "leaf8:3");
  EXPECT_THAT(topology_error("multi-pod, pods: 2, leaves-per-pod: 3, spines-per-pod: 1, hosts-per-leaf: 3, super-spines: 1, "
                             "rails: 2"),
              HasSubstr("topology.rails: 3 leaves per pod for 2 rails; expected a multiple of 2 leaves"));
}

// Uplinks are rounded up: the ratio that results is the least that whole links give.
TEST(MultiPod, RoundsUplinksUp) {
  const auto numbers = [](const std::string& keys) {
    const Lab lab = topology("multi-pod, pods: 2, leaves-per-pod: 8, hosts-per-leaf: 32, " + keys);
    return std::pair{count(lab, "spine") / 2, count(lab, "super-spine")};
  };
  using Numbers = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(numbers("oversubscription: 1, spine-oversubscription: 1"), (Numbers{32, 8}));
  EXPECT_EQ(numbers("oversubscription: 1.1, spine-oversubscription: 1.2"), (Numbers{30, 7}));  // 29.1 and 6.7
  EXPECT_EQ(numbers("oversubscription: 1.5, spine-oversubscription: 2"), (Numbers{22, 4}));    // 21.3
  EXPECT_EQ(numbers("oversubscription: 4, spine-oversubscription: 8"), (Numbers{8, 1}));
  EXPECT_EQ(numbers("oversubscription: 64, spine-oversubscription: 64"), (Numbers{1, 1}));
  EXPECT_EQ(numbers("oversubscription: 4, spine-oversubscription: 1, planes: true"), (Numbers{8, 64}));
  EXPECT_EQ(numbers("oversubscription: 2, spine-oversubscription: 1, fabric-link: { rate: 400Gbps }, uplinks-per-spine: 2"),
            (Numbers{2, 16}));
}

TEST(MultiPod, SaysWhatIsWrong) {
  EXPECT_THAT(topology_error("multi-pod, pods: 2, leaves-per-pod: 2, hosts-per-leaf: 2, super-spines: 1"),
              HasSubstr("topology: neither spines-per-pod nor oversubscription; expected one of the two"));
  EXPECT_THAT(topology_error(kPods + "oversubscription: 1, super-spines: 1"),
              HasSubstr("topology.oversubscription: found with spines-per-pod; expected one of the two"));
  EXPECT_THAT(topology_error(kPods + "planes: true"),
              HasSubstr("topology: neither super-spines nor spine-oversubscription; expected one of the two"));
  EXPECT_THAT(topology_error("multi-pod, pods: 4096, leaves-per-pod: 2, spines-per-pod: 1, hosts-per-leaf: 1, super-spines: 1"),
              HasSubstr("8192 leaves; expected at most 4096"));
  EXPECT_THAT(topology_error(kPods + "super-spines: 1, uplinks-per-super-spine: 3000"),
              HasSubstr("12000 ports of a super-spine; expected at most 8191"));
}

TEST(FatTree, MayHaveTwoTiers) {
  const Lab lab = topology("fat-tree, k: 8, tiers: 2");
  EXPECT_EQ(count(lab, "leaf"), 8u);
  EXPECT_EQ(count(lab, "spine"), 4u);
  EXPECT_EQ(count(lab, "core"), 0u);
  EXPECT_EQ(lab.nodes.back().name, "h32");
  EXPECT_THAT(topology_error("fat-tree, k: 8, tiers: 2, pods: 2"),
              HasSubstr("topology.pods: found with tiers: 2, which have no pods and no cores"));
  EXPECT_THAT(topology_error("fat-tree, k: 8, tiers: 4"), HasSubstr("expected 2..3"));
}

// Hosts and uplinks share the k ports of a leaf.
TEST(FatTree, MayBeOversubscribed) {
  const auto hosts_and_spines = [](const std::string& keys) {
    const Lab lab = topology("fat-tree, " + keys);
    return std::pair{std::ranges::count(lab.nodes, NodeSpec::Kind::kHost, &NodeSpec::kind) / std::ptrdiff_t(count(lab, "leaf")),
                     count(lab, "spine")};
  };
  using Numbers = std::pair<std::ptrdiff_t, std::size_t>;
  EXPECT_EQ(hosts_and_spines("k: 8, oversubscription: 1"), (Numbers{4, 8 * 4}));
  EXPECT_EQ(hosts_and_spines("k: 8, oversubscription: 3"), (Numbers{6, 8 * 2}));
  EXPECT_EQ(hosts_and_spines("k: 8, oversubscription: 2"), (Numbers{5, 8 * 3}));  // 5 : 3
  EXPECT_EQ(hosts_and_spines("k: 8, tiers: 2, oversubscription: 7"), (Numbers{7, 1}));
  EXPECT_EQ(hosts_and_spines("k: 8, hosts-per-leaf: 12, oversubscription: 2"), (Numbers{12, 8 * 6}));
  EXPECT_EQ(hosts_and_spines("pods: 2, leaves-per-pod: 2, cores-per-spine: 1, hosts-per-leaf: 5, oversubscription: 2"),
            (Numbers{5, 2 * 3}));
  EXPECT_THAT(topology_error("fat-tree, k: 8, spines-per-pod: 2, oversubscription: 2"),
              HasSubstr("topology.oversubscription: found with spines-per-pod; expected one of the two"));
  EXPECT_THAT(topology_error("fat-tree, k: 2, oversubscription: 1, host-link: { rate: 400Gbps }, fabric-link: { rate: 100Gbps }"),
              HasSubstr("topology.oversubscription: 1 ports of 100Gbps do not carry a host of 400Gbps at 1"));
}

TEST(ThreeTiers, AreTheSameWhenTheirExpandedFormIsRead) {
  for (const std::string& keys : {kPods + "super-spines: 3", kPods + "super-spines: 4, planes: true",
                                  std::string("fat-tree, k: 4, oversubscription: 3")})
    EXPECT_TRUE(parse(to_yaml(topology(keys)), "shown") == topology(keys)) << keys;
}

}  // namespace
}  // namespace railyard::spec
