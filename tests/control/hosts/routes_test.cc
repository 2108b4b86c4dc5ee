#include "control/hosts/routes.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::hosts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::IpAddress;

HostNic at_switch(std::string_view address, std::string_view gateway) {
  HostNic nic;
  nic.address_v4 = IpAddress::parse(address);
  nic.neighbour = Neighbour{.is_switch = true, .mac = {}, .address_v4 = IpAddress::parse(gateway), .address_v6 = {}};
  return nic;
}

HostNic at_host(std::string_view address, std::string_view peer) {
  HostNic nic = at_switch(address, peer);
  nic.neighbour->is_switch = false;
  return nic;
}

std::vector<std::string> routes(const LabHosts& lab, std::size_t host) {
  std::vector<std::string> out;
  for (const HostRoute& r : host_routes(lab, host))
    out.push_back(fmt::format("{} eth{}{}", to_string(r.to), r.nic + 1, r.direct ? " direct" : ""));
  return out;
}

TEST(HostRoutes, OneNicNeedsItsDefaultRouteOnly) {
  const LabHosts lab{
      .name = "x",
      .hosts = {{"h1", {at_switch("10.0.0.1", "10.255.0.1")}}, {"h2", {at_switch("10.0.1.1", "10.255.0.2")}}},
      .others = {{"vm", 3, IpAddress::parse("10.7.0.1"), IpAddress::parse("fd00::1")}}};
  EXPECT_THAT(routes(lab, 0), IsEmpty());
  EXPECT_THAT(routes(lab, 1), IsEmpty());
}

// Rail 1 is 10.0.0.0/24 and 10.0.1.0/24 (two leaves), rail 2 10.0.2.0/24 and 10.0.3.0/24.
TEST(HostRoutes, EachRailLeavesByItsOwnNic) {
  const LabHosts lab{.name = "x",
                     .hosts = {{"h1", {at_switch("10.0.0.1", "10.255.0.1"), at_switch("10.0.2.1", "10.255.0.3")}},
                               {"h2", {at_switch("10.0.1.1", "10.255.0.2"), at_switch("10.0.3.1", "10.255.0.4")}}},
                     .others = {}};
  EXPECT_THAT(routes(lab, 0),
              ElementsAre("10.0.0.0/23 eth1", "10.0.2.0/23 eth2", "10.255.0.0/31 eth1", "10.255.0.2/31 eth2"));
  EXPECT_THAT(routes(lab, 1),
              ElementsAre("10.0.0.0/23 eth1", "10.0.2.0/23 eth2", "10.255.0.0/30 eth1", "10.255.0.4/30 eth2"));
}

TEST(HostRoutes, AddressesThatAreMixedAreTakenApart) {
  const LabHosts lab{.name = "x",
                     .hosts = {{"h1", {at_switch("10.0.0.1", "10.0.0.251"), at_switch("10.0.0.2", "10.0.0.252")}},
                               {"h2", {at_switch("10.0.0.4", "10.0.0.251"), at_switch("10.0.0.5", "10.0.0.252")}}},
                     .others = {}};
  EXPECT_THAT(routes(lab, 0),
              ElementsAre("10.0.0.4/32 eth1", "10.0.0.5/32 eth2", "10.0.0.248/30 eth1", "10.0.0.252/30 eth2"));
}

TEST(HostRoutes, ARailThatTheHostHasNotLeavesByItsFirstNic) {
  const LabHosts lab{
      .name = "x",
      .hosts = {{"h1", {at_switch("10.0.0.1", "10.0.0.254"), at_switch("10.0.1.1", "10.0.1.254")}}},
      .others = {{"vm", 3, IpAddress::parse("10.0.2.2"), {}}, {"vm", 2, IpAddress::parse("10.0.1.2"), {}}}};
  EXPECT_THAT(routes(lab, 0), ElementsAre("10.0.0.0/24 eth1", "10.0.1.0/24 eth2", "10.0.2.0/23 eth1"));
}

// h1 ---- h2 by eth1, both at a leaf by eth2.
TEST(HostRoutes, ANeighbourThatIsAHostIsReachedAloneByItsLink) {
  const LabHosts lab{.name = "x",
                     .hosts = {{"h1", {at_host("10.1.0.1", "10.1.0.2"), at_switch("10.0.0.1", "10.255.0.1")}},
                               {"h2", {at_host("10.1.0.2", "10.1.0.1"), at_switch("10.0.0.2", "10.255.0.1")}},
                               {"h3", {at_switch("10.0.0.3", "10.255.0.1")}}},
                     .others = {}};
  EXPECT_THAT(routes(lab, 0), ElementsAre("10.0.0.0/16 eth2", "10.1.0.2/32 eth1 direct", "10.128.0.0/9 eth2"));
  EXPECT_THAT(routes(lab, 2), IsEmpty());
}

TEST(HostRoutes, WithoutASwitchOnlyNeighboursAreReached) {
  const LabHosts lab{.name = "x",
                     .hosts = {{"h1", {at_host("10.1.0.1", "10.1.0.2")}}, {"h2", {at_host("10.1.0.2", "10.1.0.1")}}},
                     .others = {{"h9", 1, IpAddress::parse("10.0.0.9"), {}}}};
  EXPECT_THAT(routes(lab, 0), ElementsAre("10.1.0.2/32 eth1 direct"));
}

}  // namespace
}  // namespace railyard::hosts
