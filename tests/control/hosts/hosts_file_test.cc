#include "control/hosts/hosts_file.h"

#include <gtest/gtest.h>

namespace railyard::hosts {
namespace {

using wire::IpAddress;

TEST(HostsFile, HostsBySingleNicsAndSwitches) {
  HostNic first;
  first.interface = "eth1";
  first.address_v4 = IpAddress::parse("10.0.0.1");
  first.address_v6 = IpAddress::parse("fd00::1");
  HostNic second;
  second.interface = "ens6f1";
  second.address_v4 = IpAddress::parse("10.0.1.1");
  const LabHosts lab{.name = "x",
                     .hosts = {{"h1", {first, second}}},
                     .others = {{"vm", 1, IpAddress::parse("10.0.0.2"), {}, "eth1"},
                                {"vm", 2, IpAddress::parse("10.0.1.2"), {}, "eth2"},
                                {"leaf1", 0, IpAddress::parse("10.255.0.1"), IpAddress::parse("fd00:ffff::1")}}};
  EXPECT_EQ(hosts_file(lab),
            "# lab x\n"
            "127.0.0.1 localhost\n"
            "::1 localhost ip6-localhost ip6-loopback\n"
            "10.0.0.1 h1 h1.eth1\n"
            "fd00::1 h1 h1.eth1\n"
            "10.0.1.1 h1.ens6f1\n"
            "10.0.0.2 vm vm.eth1\n"
            "10.0.1.2 vm.eth2\n"
            "10.255.0.1 leaf1\n"
            "fd00:ffff::1 leaf1\n");
}

TEST(HostsFile, LinesToAddToAFileLeaveOutLocalhost) {
  const LabHosts lab{.name = "x", .hosts = {}, .others = {{"leaf1", 0, IpAddress::parse("10.255.0.1"), {}}}};
  EXPECT_EQ(hosts_lines(lab), "# lab x\n10.255.0.1 leaf1\n");
}

}  // namespace
}  // namespace railyard::hosts
