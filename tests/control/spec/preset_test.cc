#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/presets/preset.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace railyard::literals;

Lab topology(const std::string& keys) { return parse("name: x\ntopology: { preset: " + keys + " }\n", "x.yaml"); }
std::string topology_error(const std::string& keys) {
  return error_of("name: x\ntopology: { preset: " + keys + " }\n");
}

std::size_t count(const Lab& lab, const std::string& role) {
  return static_cast<std::size_t>(std::ranges::count(lab.nodes, role, &NodeSpec::role));
}

TEST(LeafSpine, MakesLeavesSpinesAndHosts) {
  const Lab lab = topology("leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4");
  EXPECT_EQ(count(lab, "leaf"), 3u);
  EXPECT_EQ(count(lab, "spine"), 2u);
  EXPECT_EQ(lab.nodes.size(), 3u + 2 + 12);
  EXPECT_EQ(lab.links.size(), 12u + 6);
  EXPECT_EQ(lab.nodes[0].name, "leaf1");
  EXPECT_EQ(lab.nodes[3].name, "spine1");
  EXPECT_EQ(lab.nodes[5].name, "h1");
  EXPECT_EQ(lab.nodes.back().name, "h12");
  EXPECT_EQ(lab.nodes.back().nics.size(), 1u);
}

TEST(LeafSpine, NumbersPortsHostsFirst) {
  const Lab lab = topology("leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4");
  EXPECT_EQ(peer(lab, {"leaf1", 1}), "h1:1");
  EXPECT_EQ(peer(lab, {"leaf1", 4}), "h4:1");
  EXPECT_EQ(peer(lab, {"leaf2", 1}), "h5:1");
  EXPECT_EQ(peer(lab, {"leaf2", 5}), "spine1:2");
  EXPECT_EQ(peer(lab, {"leaf2", 6}), "spine2:2");
  EXPECT_EQ(peer(lab, {"leaf2", 7}), "nothing");
  EXPECT_EQ(peer(lab, {"spine2", 3}), "leaf3:6");
}

TEST(LeafSpine, HasParallelUplinks) {
  const Lab lab = topology("leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1, uplinks-per-spine: 3");
  EXPECT_EQ(lab.links.size(), 2u + 12);
  EXPECT_EQ(peer(lab, {"leaf1", 2}), "spine1:1");
  EXPECT_EQ(peer(lab, {"leaf1", 4}), "spine1:3");
  EXPECT_EQ(peer(lab, {"leaf1", 5}), "spine2:1");
  EXPECT_EQ(peer(lab, {"leaf2", 2}), "spine1:4");
  EXPECT_EQ(peer(lab, {"leaf2", 7}), "spine2:6");
}

TEST(LeafSpine, HasLinksAndProfilesOfItsOwn) {
  const Lab lab = parse(R"(
name: x
switches: { big: {} }
hosts: { fast: {} }
defaults: { link: { rate: 25Gbps, mtu: 9000 } }
topology:
  preset: leaf-spine
  leaves: 2
  spines: 1
  hosts-per-leaf: 1
  host-link: { rate: 100Gbps }
  fabric-link: { rate: 400Gbps, delay: 500ns }
  spine-profile: big
  host-profile: fast
)",
                        "x.yaml");
  EXPECT_EQ(lab.links[0].rate, 100_Gbps);
  EXPECT_EQ(lab.links[0].mtu, 9000);
  EXPECT_EQ(lab.links[0].cable, Length{3000});
  EXPECT_EQ(lab.links.back().rate, 400_Gbps);
  EXPECT_EQ(lab.links.back().delay, 500_ns);
  EXPECT_EQ(lab.find("leaf1")->profile, "default");
  EXPECT_EQ(lab.find("spine1")->profile, "big");
  EXPECT_EQ(lab.find("h1")->profile, "fast");
}

TEST(LeafSpine, OneLeafNeedsNoSpine) {
  const Lab lab = topology("leaf-spine, leaves: 1, hosts-per-leaf: 4");
  EXPECT_EQ(lab.nodes.size(), 5u);
  EXPECT_EQ(lab.links.size(), 4u);
}

TEST(LeafSpine, FindsItsSpinesByOversubscription) {
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 16, oversubscription: 2"), "spine"), 8u);
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 16, oversubscription: 1"), "spine"), 16u);
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 12, oversubscription: 1.5"), "spine"), 8u);
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 12, oversubscription: 3/2, uplinks-per-spine: 2"),
                  "spine"),
            4u);
  EXPECT_EQ(
      count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 16, oversubscription: 1, fabric-link: { rate: 400Gbps }"),
            "spine"),
      4u);
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 3, oversubscription: 2"), "spine"), 2u) << "1.5";
  EXPECT_EQ(count(topology("leaf-spine, leaves: 2, hosts-per-leaf: 1, oversubscription: 2"), "spine"), 1u) << "0.5";
}

TEST(LeafSpine, SaysWhatIsWrong) {
  EXPECT_EQ(topology_error("leaf-spine, leaves: 2, spines: 2"),
            "x.yaml:2:11: topology: key 'hosts-per-leaf' is missing: number of hosts per leaf");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 2, hosts-per-leaf: 2"),
            "x.yaml:2:11: topology: neither spines nor oversubscription; expected one of the two");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 2, hosts-per-leaf: 2, spines: 2, oversubscription: 1"),
            "x.yaml:2:92: topology.oversubscription: found with spines; expected one of the two");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 2, hosts-per-leaf: 2, spines: 0"),
            "x.yaml:2:71: topology.spines: 2 leaves without spines; expected at least 1 spine");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 0, hosts-per-leaf: 2, spines: 1"),
            "x.yaml:2:41: topology.leaves: 0 is out of range; expected 1..4096");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 4096, hosts-per-leaf: 64, spines: 1"),
            "x.yaml:2:11: topology: 262144 hosts; expected at most 65536");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 2, hosts-per-leaf: 8000, spines: 200"),
            "x.yaml:2:11: topology: a leaf would have 8200 ports; expected at most 8191");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 4096, hosts-per-leaf: 1, spines: 1, uplinks-per-spine: 2"),
            "x.yaml:2:11: topology: a spine would have 8192 ports; expected at most 8191");
  EXPECT_EQ(
      topology_error("leaf-spine, leafs: 2"),
      "x.yaml:2:33: topology: unknown key 'leafs'; did you mean 'leaves'? Known here: preset, leaves, hosts-per-leaf, "
      "spines, oversubscription, uplinks-per-spine, host-link, fabric-link, leaf-profile, spine-profile, host-profile, hosts-per-rack");
  EXPECT_EQ(topology_error("leaf-spine, leaves: 1, hosts-per-leaf: 1, host-link: { rate: 0 }"),
            "x.yaml:2:82: topology.host-link.rate: 0 is out of range; expected 1Mbps..10Tbps");
}

TEST(RailOptimized, HasALeafPerRail) {
  const Lab lab = topology("rail-optimized, hosts: 8, rails: 4, spines: 2");
  EXPECT_EQ(count(lab, "leaf"), 4u);
  EXPECT_EQ(count(lab, "spine"), 2u);
  EXPECT_EQ(lab.nodes.size(), 4u + 2 + 8);
  EXPECT_EQ(lab.links.size(), 32u + 8);
  EXPECT_EQ(lab.nodes[0].name, "leaf-r1");
  EXPECT_EQ(lab.find("h8")->nics.size(), 4u);
  EXPECT_EQ(peer(lab, {"h3", 2}), "leaf-r2:3");
  EXPECT_EQ(peer(lab, {"leaf-r2", 8}), "h8:2");
  EXPECT_EQ(peer(lab, {"leaf-r2", 9}), "spine1:2");
  EXPECT_EQ(peer(lab, {"leaf-r2", 10}), "spine2:2");
}

TEST(RailOptimized, HasALeafPerRailAndGroup) {
  const Lab lab = topology("rail-optimized, hosts: 10, rails: 2, spines: 1, hosts-per-group: 4");
  EXPECT_EQ(count(lab, "leaf"), 6u);
  EXPECT_EQ(lab.nodes[0].name, "leaf-r1-g1");
  EXPECT_EQ(lab.nodes[1].name, "leaf-r2-g1");
  EXPECT_EQ(lab.nodes[2].name, "leaf-r1-g2");
  EXPECT_EQ(peer(lab, {"h5", 2}), "leaf-r2-g2:1");
  EXPECT_EQ(peer(lab, {"leaf-r1-g2", 5}), "spine1:3");
  // The last group has two hosts, so its uplinks begin at port 3.
  EXPECT_EQ(peer(lab, {"leaf-r2-g3", 2}), "h10:2");
  EXPECT_EQ(peer(lab, {"leaf-r2-g3", 3}), "spine1:6");
}

TEST(RailOptimized, FindsItsSpinesByOversubscription) {
  EXPECT_EQ(count(topology("rail-optimized, hosts: 16, rails: 2, hosts-per-group: 8, oversubscription: 2"), "spine"),
            4u);
}

TEST(RailOptimized, RailsMayBeByThemselves) {
  EXPECT_EQ(topology("rail-optimized, hosts: 4, rails: 2, spines: 0").links.size(), 8u);
  EXPECT_EQ(topology_error("rail-optimized, hosts: 4, rails: 2"),
            "x.yaml:2:11: topology: neither spines nor oversubscription; expected one of the two");
  EXPECT_EQ(topology_error("rail-optimized, hosts: 4, rails: 2, spines: 0, hosts-per-group: 2"),
            "x.yaml:2:65: topology.spines: 2 groups without spines; expected at least 1 spine");
}

// k = 4: 4 pods of 2 leaves and 2 spines, 4 cores, 16 hosts.
TEST(FatTree, OfSwitchesWithKPorts) {
  const Lab lab = topology("fat-tree, k: 4");
  EXPECT_EQ(count(lab, "leaf"), 8u);
  EXPECT_EQ(count(lab, "spine"), 8u);
  EXPECT_EQ(count(lab, "core"), 4u);
  EXPECT_EQ(lab.nodes.size(), 8u + 8 + 4 + 16);
  EXPECT_EQ(lab.links.size(), 16u + 16 + 16);
  EXPECT_EQ(lab.nodes.back().name, "h16");
  std::map<std::string, int> ports;
  for (const LinkSpec& l : lab.links)
    for (const PortName& end : {l.a, l.b}) ++ports[end.node];
  for (const NodeSpec& n : lab.nodes) EXPECT_EQ(ports[n.name], n.kind == NodeSpec::Kind::kHost ? 1 : 4) << n.name;
  EXPECT_EQ(topology("fat-tree, k: 8").nodes.size(), 128u + 32 + 32 + 16);
}

TEST(FatTree, NumbersPortsHostsFirstAndCoresByPod) {
  const Lab lab = topology("fat-tree, k: 4");
  EXPECT_EQ(peer(lab, {"leaf1", 2}), "h2:1");
  EXPECT_EQ(peer(lab, {"leaf3", 1}), "h5:1");  // the first of the second pod
  EXPECT_EQ(peer(lab, {"leaf3", 3}), "spine3:1");
  EXPECT_EQ(peer(lab, {"leaf4", 4}), "spine4:2");
  // The first spines of all pods have cores 1 and 2, the second ones 3 and 4.
  EXPECT_EQ(peer(lab, {"spine1", 3}), "core1:1");
  EXPECT_EQ(peer(lab, {"spine3", 4}), "core2:2");
  EXPECT_EQ(peer(lab, {"spine8", 3}), "core3:4");
  EXPECT_EQ(peer(lab, {"spine8", 4}), "core4:4");
}

TEST(FatTree, NumbersOfItsOwnInThePlaceOfThoseOfK) {
  const Lab lab = topology("fat-tree, k: 4, pods: 3, hosts-per-leaf: 6, cores-per-spine: 1");
  EXPECT_EQ(count(lab, "leaf"), 6u);
  EXPECT_EQ(count(lab, "spine"), 6u);
  EXPECT_EQ(count(lab, "core"), 2u);
  EXPECT_EQ(lab.nodes.back().name, "h36");
  EXPECT_EQ(peer(lab, {"leaf1", 7}), "spine1:1");
  EXPECT_EQ(peer(lab, {"spine6", 3}), "core2:3");
  const Lab other = topology(
      "fat-tree, pods: 2, leaves-per-pod: 3, spines-per-pod: 1, hosts-per-leaf: 2, "
      "cores-per-spine: 2");
  EXPECT_EQ(other.nodes.size(), 6u + 2 + 2 + 12);
  EXPECT_EQ(topology("fat-tree, pods: 1, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 1").links.size(), 6u);
}

TEST(FatTree, HasLinksAndProfilesOfItsOwn) {
  const Lab lab = parse(
      "name: x\nswitches: { big: {} }\ntopology: { preset: fat-tree, k: 2, host-link: { rate: 25Gbps }, fabric-link: "
      "{ rate: 200Gbps }, core-link: { delay: 5us }, core-profile: big }\n",
      "x.yaml");
  const auto link = [&](const std::string& node) {
    return *std::ranges::find_if(lab.links, [&](const LinkSpec& l) { return l.b.node == node; });
  };
  EXPECT_EQ(link("leaf1").rate, 25_Gbps);
  EXPECT_EQ(link("spine1").rate, 200_Gbps);
  EXPECT_EQ(link("core1").rate, 200_Gbps) << "what fabric-link says";
  EXPECT_EQ(link("core1").delay, 5_us);
  EXPECT_EQ(lab.find("core1")->profile, "big");
  EXPECT_EQ(lab.find("spine1")->profile, "default");
}

TEST(FatTree, SaysWhatIsWrong) {
  EXPECT_EQ(topology_error("fat-tree"),
            "x.yaml:2:11: topology: neither k nor pods; expected k, or pods with the other keys");
  EXPECT_EQ(topology_error("fat-tree, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 2"),
            "x.yaml:2:11: topology: neither k nor cores-per-spine; expected k, or cores-per-spine with the other keys");
  EXPECT_EQ(topology_error("fat-tree, k: 5"),
            "x.yaml:2:34: topology.k: 5 is odd, but half of a switch's ports are uplinks; expected 4 or 6");
  EXPECT_EQ(topology_error("fat-tree, k: 130"), "x.yaml:2:34: topology.k: 130 is out of range; expected 2..128");
  EXPECT_EQ(topology_error("fat-tree, k: 128"), "x.yaml:2:11: topology: 8192 leaves; expected at most 4096");
  EXPECT_EQ(topology_error("fat-tree, k: 32, hosts-per-leaf: 200"),
            "x.yaml:2:11: topology: 102400 hosts; expected at most 65536");
  EXPECT_EQ(
      topology_error("fat-tree, k: 4, pods: 1, cores-per-spine: 2"),
      "x.yaml:2:63: topology.cores-per-spine: a single pod has no cores; expected pods: 2 or more, or no such key");
  EXPECT_EQ(error_of("name: x\ntopology: { preset: fat-tree, k: 4, core-profile: huge }\n"),
            "x.yaml:2:51: topology.core-profile: there is no switch profile 'huge'. Known here: default");
}

TEST(Presets, AreNamed) {
  std::vector<std::string> names;
  for (const Preset& p : presets()) names.push_back(p.name);
  EXPECT_EQ(error_of("name: x\ntopology: { leaves: 2 }\n"),
            "x.yaml:2:11: topology: key 'preset' is missing: one of " + in_words(names, ", "));
  EXPECT_EQ(topology_error("leafspine"),
            "x.yaml:2:21: topology.preset: unknown 'leafspine'; did you mean 'leaf-spine'? Expected " + in_words(names));
  EXPECT_EQ(error_of("name: x\ntopology: leaf-spine\n"),
            "x.yaml:2:11: topology: found 'leaf-spine'; expected a map with the key 'preset'");
}

TEST(Presets, TheReferenceCanBeWritten) {
  for (const Preset& p : presets()) {
    EXPECT_FALSE(p.reference.empty()) << p.name;
    for (const ReferenceLine& line : p.reference) EXPECT_EQ(topology_error(p.name + ", " + line.value), "(no error)");
  }
}

// What the random tester draws: hosts h1 and h2 to begin with, switch profiles "default" and "other", and never all labs.
TEST(Presets, WhatIsDrawnCanBeBuilt) {
  unsigned percent = 0;
  for (const Preset& p : presets()) {
    percent += p.drawn_percent;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Draw draw(Seed{seed}, p.name);
      const std::string keys = p.draw(draw);
      try {
        const Lab lab = parse("name: x\nswitches: { default: {}, other: {} }\ntopology: { preset: " + p.name + ", " +
                                  keys + " }\n",
                              "x.yaml");
        EXPECT_TRUE(lab.find("h1") != nullptr && lab.find("h2") != nullptr) << keys;
        EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << keys;
      } catch (const SpecError& e) {
        ADD_FAILURE() << p.name << ", " << keys << ": " << e.what();
      }
    }
  }
  EXPECT_LE(percent, 90u) << "the rest is for labs without a preset, and for one more";
}

}  // namespace
}  // namespace railyard::spec
