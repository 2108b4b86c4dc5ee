// Rail designs: several switches per rail, several rails per switch, rails as VLANs with addresses of their own.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/interface_name.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

Lab rails(const std::string& keys) {
  return parse("name: x\ntopology: { preset: rail-optimized, " + keys + " }\n", "x.yaml");
}
std::string rails_error(const std::string& keys) {
  return error_of("name: x\ntopology: { preset: rail-optimized, " + keys + " }\n");
}

std::vector<std::string> leaves(const Lab& lab) {
  std::vector<std::string> names;
  for (const NodeSpec& n : lab.nodes)
    if (n.role == "leaf") names.push_back(n.name);
  return names;
}

std::string address(const Lab& lab, const std::string& host, std::size_t nic) {
  return to_string(*lab.find(host)->nics[nic - 1].address_v4);
}

TEST(DualRail, HasTwoNicsOnEachRail) {
  const Lab lab = rails("hosts: 4, rails: 8, switches-per-rail: 2, spines: 0");
  EXPECT_EQ(leaves(lab).size(), 16u);
  EXPECT_EQ(lab.nodes[0].name, "leaf-r1a");
  EXPECT_EQ(lab.nodes[15].name, "leaf-r8b");
  EXPECT_EQ(lab.find("h1")->nics.size(), 16u);
  EXPECT_EQ(peer(lab, {"h3", 1}), "leaf-r1a:3");
  EXPECT_EQ(peer(lab, {"h3", 2}), "leaf-r1b:3");
  EXPECT_EQ(peer(lab, {"h3", 16}), "leaf-r8b:3");
  EXPECT_TRUE(lab.find("leaf-r1a")->vlans.empty()) << "nobody shares a leaf";
}

TEST(DualRail, MayHaveGroupsUnderSpines) {
  const Lab lab = rails("hosts: 4, rails: 2, switches-per-rail: 2, hosts-per-group: 2, spines: 1");
  EXPECT_THAT(leaves(lab), testing::ElementsAre("leaf-r1a-g1", "leaf-r1b-g1", "leaf-r2a-g1", "leaf-r2b-g1", "leaf-r1a-g2",
                                                "leaf-r1b-g2", "leaf-r2a-g2", "leaf-r2b-g2"));
  EXPECT_EQ(peer(lab, {"h4", 3}), "leaf-r2a-g2:2");
  EXPECT_EQ(peer(lab, {"leaf-r2b-g2", 3}), "spine1:8");
}

TEST(SharedLeaves, HaveTheirRailsInTheOrderOfPorts) {
  const Lab lab = rails("hosts: 3, rails: 4, rails-per-switch: 2, spines: 0");
  EXPECT_THAT(leaves(lab), testing::ElementsAre("leaf-r1-r2", "leaf-r3-r4"));
  EXPECT_EQ(peer(lab, {"leaf-r1-r2", 3}), "h3:1");
  EXPECT_EQ(peer(lab, {"leaf-r1-r2", 4}), "h1:2");
  EXPECT_EQ(peer(lab, {"leaf-r3-r4", 6}), "h3:4");
}

TEST(SharedLeaves, KeepTheirRailsApart) {
  const Lab lab = rails("hosts: 3, rails: 4, rails-per-switch: all");
  ASSERT_THAT(leaves(lab), testing::ElementsAre("leaf-r1-r4"));
  const NodeSpec& leaf = *lab.find("leaf-r1-r4");
  EXPECT_EQ(leaf.vlans.size(), 12u);
  EXPECT_EQ(leaf.vlans.at(3), (VlanSpec{101, false, {}}));
  EXPECT_EQ(leaf.vlans.at(4), (VlanSpec{102, false, {}}));
  EXPECT_EQ(leaf.vlans.at(12), (VlanSpec{104, false, {}}));
  const Lab routed = rails("hosts: 3, rails: 4, rails-per-switch: all, rail-vlans: false");
  EXPECT_TRUE(routed.find("leaf-r1-r4")->vlans.empty());
}

TEST(SharedLeaves, LastOneMayServeFewerRails) {
  const Lab lab = rails("hosts: 2, rails: 3, rails-per-switch: 2, spines: 1");
  EXPECT_THAT(leaves(lab), testing::ElementsAre("leaf-r1-r2", "leaf-r3"));
  EXPECT_EQ(peer(lab, {"leaf-r3", 3}), "spine1:2");
  EXPECT_EQ(peer(lab, {"leaf-r1-r2", 5}), "spine1:1");
  EXPECT_EQ(lab.find("leaf-r3")->vlans.at(1).native, 103);
}

// 10.rail.leaf.host: one /16 per rail, one /24 per rail and leaf.
TEST(RailVlans, GiveAddressesByRail) {
  const Lab lab = rails("hosts: 4, rails: 2, rails-per-switch: 2, hosts-per-group: 2, spines: 1");
  EXPECT_EQ(address(lab, "h1", 1), "10.1.0.1");
  EXPECT_EQ(address(lab, "h2", 1), "10.1.0.2");
  EXPECT_EQ(address(lab, "h2", 2), "10.2.0.2");
  EXPECT_EQ(address(lab, "h4", 2), "10.2.1.2");
  EXPECT_EQ(to_string(*lab.find("h4")->nics[1].address_v6), "fd00:0:2:1::2");
  const Lab dual = rails("hosts: 2, rails: 2, switches-per-rail: 2, rails-per-switch: all, spines: 0");
  EXPECT_THAT(leaves(dual), testing::ElementsAre("leaf-r1-r2a", "leaf-r1-r2b"));
  EXPECT_EQ(address(dual, "h2", 2), "10.1.1.2") << "rail 1 at its second leaf";
  EXPECT_EQ(address(dual, "h2", 3), "10.2.0.2");
  const Lab single = rails("hosts: 2, rails: 2, spines: 1, rail-vlans: true");
  EXPECT_EQ(address(single, "h2", 2), "10.2.0.2") << "also where each rail has its own leaf";
}

TEST(RailDesigns, AreTheSameWhenTheirExpandedFormIsRead) {
  for (const char* keys : {"hosts: 4, rails: 8, switches-per-rail: 2, spines: 0", "hosts: 4, rails: 8, rails-per-switch: all",
                           "hosts: 5, rails: 3, rails-per-switch: 2, hosts-per-group: 2, spines: 2"})
    EXPECT_TRUE(parse(to_yaml(rails(keys)), "shown") == rails(keys)) << keys;
}

// Collectives between rails need another way where VLANs keep them apart.
TEST(RailVlans, LetNoCollectiveCross) {
  const std::string lab = "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, rails-per-switch: all }\n";
  const std::string all = "collectives: [{ name: c, collective: all-to-all, size: 1MiB, ranks: \"h*\"";
  EXPECT_THAT(error_of(lab + all + " }]\n"), HasSubstr("their NICs are not connected"));
  const std::string scale_up = "hosts: { default: { scale-up: { rate: 900Gbps } } }\n";
  EXPECT_EQ(error_of(lab + scale_up + all + ", pxn: true }]\n"), "(no error)");
  EXPECT_EQ(error_of(lab + "collectives: [{ name: c, collective: all-to-all, size: 1MiB, ranks: [\"h1:1\", \"h2:1\"] }]\n"),
            "(no error)");
}

TEST(RailDesigns, SayWhatIsWrong) {
  EXPECT_THAT(rails_error("hosts: 4, rails: 40, switches-per-rail: 2, spines: 0"),
              HasSubstr("topology.switches-per-rail: 40 rails with 2 switches each need 80 NICs per host; expected at most 64"));
  EXPECT_THAT(rails_error("hosts: 4, rails: 4, rails-per-switch: some, spines: 0"), HasSubstr("topology.rails-per-switch"));
  EXPECT_THAT(rails_error("hosts: 300, rails: 2, rails-per-switch: all"),
              HasSubstr("300 hosts per leaf; expected at most 254, or rail-vlans: false"));
  EXPECT_THAT(rails_error("hosts: 300, rails: 2, rails-per-switch: all, hosts-per-group: 1, spines: 1"),
              HasSubstr("300 leaves per rail; expected at most 256, or rail-vlans: false"));
  EXPECT_THAT(rails_error("hosts: 4, rails: 65, spines: 0"), HasSubstr("topology.rails: 65 is out of range; expected 1..64"));
}

std::map<std::string, std::set<std::string>> racks(const Lab& lab) {
  std::map<std::string, std::set<std::string>> of;
  for (const NodeSpec& n : lab.nodes)
    if (!n.rack.empty()) of[n.rack].insert(n.name);
  return of;
}
using Racks = std::map<std::string, std::set<std::string>>;

TEST(Racks, AreThoseOfLeaves) {
  EXPECT_EQ(racks(parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n", "x")),
            (Racks{{"rack1", {"leaf1", "h1", "h2"}}, {"rack2", {"leaf2", "h3", "h4"}}}));
  EXPECT_EQ(racks(rails("hosts: 4, rails: 2, hosts-per-group: 2, spines: 1")),
            (Racks{{"rack1", {"leaf-r1-g1", "leaf-r2-g1", "h1", "h2"}}, {"rack2", {"leaf-r1-g2", "leaf-r2-g2", "h3", "h4"}}}));
}

// Leaves stand in the racks of their hosts, in turn.
TEST(Racks, MayHoldFewerHosts) {
  EXPECT_EQ(racks(rails("hosts: 3, rails: 3, spines: 0, hosts-per-rack: 2")),
            (Racks{{"rack1", {"leaf-r1", "leaf-r3", "h1", "h2"}}, {"rack2", {"leaf-r2", "h3"}}}));
}

TEST(Racks, MayHoldMoreThanOneLeaf) {
  EXPECT_EQ(racks(parse("name: x\ntopology: { preset: tree, levels: 2, branches: 3, hosts-per-leaf: 1, hosts-per-rack: 2 }\n",
                        "x")),
            (Racks{{"rack1", {"leaf1", "leaf2", "h1", "h2"}}, {"rack2", {"leaf3", "h3"}}}));
}

TEST(Racks, CanBeSaidByNode) {
  const Lab lab = parse_small_with("", {"nodes.h1.rack=a", "nodes.leaf1.rack=b"});
  EXPECT_EQ(racks(lab), (Racks{{"a", {"h1"}}, {"b", {"leaf1"}}}));
  EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab);
}

// Two rails share each leaf: its /24 is two /25, and what it announces is the /24 or less.
TEST(SharedLeaves, MayHaveASubnetEachInThePrefixOfTheirLeaf) {
  const Lab lab = rails("hosts: 4, rails: 4, rails-per-switch: 2, hosts-per-group: 2, spines: 1, addresses: leaf");
  EXPECT_EQ(address(lab, "h1", 1), "10.0.0.1");
  EXPECT_EQ(address(lab, "h2", 1), "10.0.0.2");
  EXPECT_EQ(address(lab, "h1", 2), "10.0.0.129");
  EXPECT_EQ(address(lab, "h1", 3), "10.0.1.1");
  EXPECT_EQ(address(lab, "h3", 4), "10.0.3.129");
  EXPECT_EQ(to_string(*lab.find("h3")->nics[3].address_v6), "fd00:4:4::1");
  EXPECT_EQ(address(rails("hosts: 3, rails: 8, rails-per-switch: all, spines: 0, addresses: leaf"), "h3", 8), "10.0.0.227");

  EXPECT_THAT(rails_error("hosts: 127, rails: 2, rails-per-switch: 2, addresses: leaf"),
              HasSubstr("topology.addresses: 127 hosts per leaf; the subnet of a rail has 126 addresses for hosts"));
  EXPECT_THAT(rails_error("hosts: 4, rails: 2, spines: 0, addresses: leaf"),
              HasSubstr("topology.addresses: rails are not VLANs; expected rail-vlans: true"));
}

TEST(Interfaces, AreCalledAsTheProfileSays) {
  const std::string topology = "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 0 }\n";
  const Lab lab = parse(topology + "hosts: { default: { interfaces: [ens1f0, ens6f1] } }\n", "x.yaml");
  EXPECT_EQ(interface_name(lab, *lab.find("h2"), 2), "ens6f1");
  EXPECT_EQ(interface_name(lab, *lab.find("leaf-r1"), 2), "eth2");
  EXPECT_EQ(parse(to_yaml(lab), "show.yaml").hosts.at("default").interfaces, lab.hosts.at("default").interfaces);
  EXPECT_EQ(interface_name(rails("hosts: 2, rails: 2, spines: 0"), *lab.find("h2"), 2), "eth2");

  EXPECT_EQ(error_of(topology + "hosts: { default: { interfaces: [ens1f0] } }\n"),
            "x.yaml:3:33: hosts.default.interfaces: found 1; expected one for each of the 2 NICs of h1");
  EXPECT_EQ(error_of(topology + "hosts: { default: { interfaces: [a, b, a] } }\n"),
            "x.yaml:3:40: hosts.default.interfaces.2: interface 'a' is there already");
  EXPECT_THAT(error_of(topology + "hosts: { default: { interfaces: [a/b, b] } }\n"),
              HasSubstr("'a/b' is no name of a network interface"));
}

}  // namespace
}  // namespace railyard::spec
