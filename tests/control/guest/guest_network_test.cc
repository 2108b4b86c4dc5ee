#include "control/guest/guest_network.h"

#include <gtest/gtest.h>

namespace railyard::guest {
namespace {

using wire::IpAddress;
using wire::IpPrefix;

GuestNic nic(const char* v4, const char* v6, const char* gateway_v4, const char* gateway_v6) {
  GuestNic n;
  n.address_v4 = IpAddress::parse(v4);
  n.address_v6 = IpAddress::parse(v6);
  n.gateway_v4 = IpAddress::parse(gateway_v4);
  n.gateway_v6 = IpAddress::parse(gateway_v6);
  n.mtu = 9000;
  return n;
}

TEST(GuestNetwork, OneNicReachesEverybodyThroughItsLeaf) {
  GuestNetwork network{.hostname = "h1", .nics = {nic("10.0.0.1", "fd00::1", "10.255.0.1", "fd00:ffff::1")}};
  network.nics[0].routes = {*IpPrefix::parse("0.0.0.0/0"), *IpPrefix::parse("::/0")};
  EXPECT_EQ(ip_batch(network, IpFamily::kV4),
            "link set dev eth1 mtu 9000\n"
            "address add 10.0.0.1/32 dev eth1\n"
            "link set dev eth1 up\n"
            "route add 0.0.0.0/0 via 10.255.0.1 dev eth1 onlink src 10.0.0.1\n");
  EXPECT_EQ(ip_batch(network, IpFamily::kV6),
            "address add fd00::1/128 dev eth1\n"
            "route add ::/0 via fd00:ffff::1 dev eth1 onlink\n");
}

TEST(GuestNetwork, BackToBackEverybodyIsOnTheLink) {
  GuestNetwork network{.hostname = "h1", .nics = {{.address_v4 = IpAddress::parse("10.0.0.1")}}};
  network.nics[0].routes = {*IpPrefix::parse("0.0.0.0/0"), *IpPrefix::parse("::/0")};
  EXPECT_EQ(ip_batch(network, IpFamily::kV4),
            "link set dev eth1 mtu 1500\n"
            "address add 10.0.0.1/32 dev eth1\n"
            "link set dev eth1 up\n"
            "route add 0.0.0.0/0 dev eth1 src 10.0.0.1\n");
  EXPECT_EQ(ip_batch(network, IpFamily::kV6), "") << "without an address there is nothing to route from";
}

TEST(GuestNetwork, OfSeveralNicsEachHasATableForWhatComesFromItsAddress) {
  GuestNetwork network{.hostname = "h1",
                       .nics = {nic("10.0.0.1", "fd00::1", "10.255.0.1", "fd00:ffff::1"),
                                nic("10.0.1.1", "fd00:0:0:1::1", "10.255.0.2", "fd00:ffff::2")}};
  network.nics[1].routes = {*IpPrefix::parse("10.0.1.0/24"), *IpPrefix::parse("fd00:0:0:1::/64")};
  const std::string v4 = ip_batch(network, IpFamily::kV4);
  EXPECT_TRUE(v4.contains("route add 10.0.1.0/24 via 10.255.0.2 dev eth2 onlink src 10.0.1.1\n")) << v4;
  EXPECT_TRUE(
      v4.contains("route add 0.0.0.0/0 via 10.255.0.2 dev eth2 onlink src 10.0.1.1 table 1002\n"
                  "rule add from 10.0.1.1/32 table 1002\n"))
      << v4;
  const std::string v6 = ip_batch(network, IpFamily::kV6);
  EXPECT_TRUE(
      v6.contains("route add ::/0 via fd00:ffff::1 dev eth1 onlink table 1001\n"
                  "rule add from fd00::1/128 table 1001\n"))
      << v6;
}

}  // namespace
}  // namespace railyard::guest
