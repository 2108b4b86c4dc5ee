#include "control/guest/lab_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/guest/guest_error.h"
#include "control/spec/load.h"

namespace railyard::guest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const std::vector<wire::IpPrefix>& prefixes) {
  std::vector<std::string> out;
  for (const wire::IpPrefix& p : prefixes) out.push_back(to_string(p));
  return out;
}

TEST(LabNetwork, AHostOfALeafSpineHasItsLeafAsGatewayAndTheMtuOfItsLink) {
  const spec::Lab lab = spec::parse(R"(
name: pair
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }
defaults: { link: { mtu: 4200, rate: 200Gbps } }
nodes: { h2: { kind: host, address: 10.9.0.2 } }
)",
                                    "pair.yaml");
  const GuestNetwork network = network_of(lab, "h2");
  EXPECT_EQ(network.hostname, "h2");
  ASSERT_EQ(network.nics.size(), 1u);
  const GuestNic& nic = network.nics[0];
  EXPECT_EQ(to_string(*nic.address_v4), "10.9.0.2");
  EXPECT_EQ(nic.gateway_v4, lab.find("leaf2")->loopback_v4);
  EXPECT_EQ(nic.gateway_v6, lab.find("leaf2")->loopback_v6);
  EXPECT_EQ(nic.mtu, 4200);
  EXPECT_EQ(nic.rate.bps, 200'000'000'000);
  EXPECT_EQ(nic.mac, lab.find("h2")->nics[0].mac);
  EXPECT_THAT(texts(nic.routes), ElementsAre("0.0.0.0/0", "::/0"));
  EXPECT_EQ(hosts_text(network),
            "10.255.0.1 leaf1\nfd00:ffff::1 leaf1\n10.255.0.2 leaf2\nfd00:ffff::2 leaf2\n"
            "10.255.0.3 spine1\nfd00:ffff::3 spine1\n"
            "10.0.0.1 h1 h1.eth1\nfd00::1 h1 h1.eth1\n10.9.0.2 h2 h2.eth1\nfd00:0:0:1::1 h2 h2.eth1\n");
}

TEST(LabNetwork, EachRailHasTheRouteToItsRail) {
  const spec::Lab lab =
      spec::parse("name: rails\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 1 }\n", "rails.yaml");
  const GuestNetwork network = network_of(lab, "h1");
  ASSERT_EQ(network.nics.size(), 2u);
  EXPECT_THAT(texts(network.nics[0].routes), ElementsAre("0.0.0.0/0", "::/0"));
  EXPECT_THAT(texts(network.nics[1].routes), ElementsAre("10.0.1.0/24", "fd00:0:0:1::/64"));
  EXPECT_NE(network.nics[0].gateway_v4, network.nics[1].gateway_v4);
  EXPECT_THAT(hosts_text(network), HasSubstr("10.0.1.3 h3.eth2\n"));
}

TEST(LabNetwork, WhereABlockHasNicsOfSeveralRailsTheyAreNamedOneByOne) {
  const spec::Lab lab = spec::parse(R"(
name: one-leaf
nodes:
  leaf1: { kind: switch }
  h1: { kind: host, nics: [ {}, {} ] }
  h2: { kind: host, nics: [ {}, {} ] }
links: [ [h1:1, leaf1:1], [h1:2, leaf1:2], [h2:1, leaf1:3], [h2:2, leaf1:4] ]
)",
                                    "one-leaf.yaml");
  EXPECT_THAT(texts(network_of(lab, "h1").nics[1].routes), ElementsAre("10.0.0.4/32", "fd00::4/128"));
}

TEST(LabNetwork, AHostLinkedToAHostHasNoGateway) {
  const spec::Lab lab = spec::parse(R"(
name: cable
nodes: { h1: { kind: host }, h2: { kind: host } }
links: [ [h1:1, h2:1] ]
)",
                                    "cable.yaml");
  EXPECT_EQ(network_of(lab, "h1").nics[0].gateway_v4, std::nullopt);
}

TEST(LabNetwork, WhatIsNoHostIsRefused) {
  const spec::Lab lab =
      spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 1 }\n", "x.yaml");
  for (const char* name : {"h9", "leaf1"}) EXPECT_THROW(network_of(lab, name), GuestError) << name;
}

}  // namespace
}  // namespace railyard::guest
