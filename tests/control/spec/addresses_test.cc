#include "control/spec/addresses.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

Lab lab(const std::string& yaml) { return parse("name: x\n" + yaml, "x.yaml"); }
std::string v4(const Lab& lab, const std::string& host, std::size_t nic = 0) {
  return to_string(*lab.find(host)->nics[nic].address_v4);
}
std::string v6(const Lab& lab, const std::string& host, std::size_t nic = 0) {
  return to_string(*lab.find(host)->nics[nic].address_v6);
}
std::string mac(const Lab& lab, const std::string& host) { return to_string(*lab.find(host)->nics[0].mac); }

TEST(Addresses, FollowTheSwitch) {
  const Lab l = lab("topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3 }\n");
  EXPECT_EQ(v4(l, "h1"), "10.0.0.1");
  EXPECT_EQ(v4(l, "h3"), "10.0.0.3");
  EXPECT_EQ(v4(l, "h4"), "10.0.1.1");
  EXPECT_EQ(v6(l, "h1"), "fd00::1");
  EXPECT_EQ(v6(l, "h6"), "fd00:0:0:1::3");
  EXPECT_EQ(to_string(*l.find("leaf1")->loopback_v4), "10.255.0.1");
  EXPECT_EQ(to_string(*l.find("spine2")->loopback_v4), "10.255.0.4");
  EXPECT_EQ(to_string(*l.find("spine2")->loopback_v6), "fd00:ffff::4");
}

TEST(Addresses, OfRailsAreOnePerLeaf) {
  const Lab l = lab("topology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 0 }\n");
  EXPECT_EQ(v4(l, "h1", 0), "10.0.0.1");
  EXPECT_EQ(v4(l, "h1", 1), "10.0.1.1");
  EXPECT_EQ(v4(l, "h2", 1), "10.0.1.2");
}

TEST(Addresses, FollowPortsNotTheOrderOfLinks) {
  const Lab l =
      lab("nodes: { s: { kind: switch }, a: { kind: host }, b: { kind: host } }\nlinks: [[a:1, s:7], [s:2, b:1]]\n");
  EXPECT_EQ(v4(l, "b"), "10.0.0.1");
  EXPECT_EQ(v4(l, "a"), "10.0.0.2");
}

TEST(Addresses, ContinueInAnotherBlockBehind250) {
  const Lab l = lab("topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 600 }\n");
  EXPECT_EQ(v4(l, "h250"), "10.0.0.250");
  EXPECT_EQ(v4(l, "h251"), "10.0.2.1");  // the first block behind those of the two leaves
  EXPECT_EQ(v4(l, "h501"), "10.0.3.1");
  EXPECT_EQ(v4(l, "h601"), "10.0.1.1");
  EXPECT_EQ(v4(l, "h851"), "10.0.4.1");
  EXPECT_EQ(v6(l, "h600"), "fd00::258");
  std::set<std::string> all;
  for (const NodeSpec& node : l.nodes)
    for (const NicSpec& nic : node.nics) EXPECT_TRUE(all.insert(to_string(*nic.address_v4)).second);
}

TEST(Addresses, GoBeyondOneOctetOfSwitches) {
  const Lab l = lab("topology: { preset: leaf-spine, leaves: 300, spines: 1, hosts-per-leaf: 1 }\n");
  EXPECT_EQ(v4(l, "h257"), "10.1.0.1");
  EXPECT_EQ(v6(l, "h257"), "fd00:0:0:100::1");
  EXPECT_EQ(to_string(*l.find("leaf256")->loopback_v4), "10.255.1.0");
}

TEST(Addresses, BackToBackHostsHaveABlockToo) {
  const Lab l = lab("nodes: { a: { kind: host }, b: { kind: host } }\nlinks: [[a:1, b:1]]\n");
  EXPECT_EQ(v4(l, "a"), "10.0.0.1");
  EXPECT_EQ(v4(l, "b"), "10.0.0.2");
}

TEST(Addresses, SaidOnesWinAndMoveNobodyElse) {
  const Lab l =
      lab("topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }\n"
          "nodes:\n"
          "  h4: { address: 10.0.0.2, address6: \"fd00::3\" }\n"  // h2's and h3's, had nobody said them
          "  leaf1: { loopback: 10.1.2.3 }\n");
  EXPECT_EQ(v4(l, "h1"), "10.0.0.1");
  EXPECT_EQ(v4(l, "h2"), "10.254.255.1");
  EXPECT_EQ(v4(l, "h3"), "10.0.0.3");
  EXPECT_EQ(v4(l, "h4"), "10.0.0.2");
  EXPECT_EQ(v6(l, "h2"), "fd00::2");
  EXPECT_EQ(v6(l, "h3"), "fd00:0:0:ffff::2");
  EXPECT_EQ(to_string(*l.find("leaf1")->loopback_v4), "10.1.2.3");
}

TEST(Macs, AreOfTheNodeAndThePort) {
  EXPECT_EQ(to_string(automatic_mac(0, 1)), "02:00:00:00:00:01");
  EXPECT_EQ(to_string(automatic_mac(0x123456, 0x1ABC)), "02:12:34:56:1a:bc");
  const Lab l = lab("topology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 0 }\n");
  EXPECT_EQ(to_string(*l.find("h2")->nics[1].mac), "02:00:00:03:00:02");  // leaf-r1, leaf-r2, h1, h2
}

TEST(Macs, SaidOnesWin) {
  const Lab l =
      lab("topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
          "nodes: { h1: { mac: 02:00:00:02:00:01 } }\n");  // h2's
  EXPECT_EQ(mac(l, "h1"), "02:00:00:02:00:01");
  EXPECT_EQ(mac(l, "h2"), "06:00:00:02:00:01");
}

TEST(Macs, OfAttachedHostsAreUnknown) {
  const Lab l =
      lab("topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
          "nodes: { h1: { attach: { vhost-user: /tmp/x } }, h2: { mac: 02:00:00:00:99:01, attach: { "
          "vhost-user: /tmp/y } } }\nrun: { clock: wall }\n");
  EXPECT_EQ(l.find("h1")->nics[0].mac, std::nullopt);
  EXPECT_EQ(v4(l, "h1"), "10.0.0.1");
  EXPECT_EQ(mac(l, "h2"), "02:00:00:00:99:01");
}

// Nobody brings one.
TEST(Macs, OfHostsThatAreCaptureFilesAreGiven) {
  const Lab l =
      lab("topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 1 }\n"
          "nodes: { h1: { attach: { pcap: { out: x.pcap } } } }\n");
  EXPECT_EQ(mac(l, "h1"), "02:00:00:01:00:01");
}

}  // namespace
}  // namespace railyard::spec
