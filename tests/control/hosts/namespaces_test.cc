// Hosts as network namespaces: what is made is what was asked for, and goes without a trace.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/hosts/offloads.h"
#include "tests/control/hosts/namespaces_rig.h"

namespace railyard::hosts {
namespace {

using namespace railyard::literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> routes_of(const json& routes) {
  std::vector<std::string> out;
  for (const json& r : routes)
    if (r.value("protocol", "") == "boot")
      out.push_back(fmt::format("{} via {} dev {}", r.at("dst").get<std::string>(), r.value("gateway", "-"),
                                r.at("dev").get<std::string>()));
  return out;
}

TEST_F(NamespacesTest, TwoHostsOnTwoRailsAreAsAskedAndGoWithoutATrace) {
  const LabHosts two = lab(2, 2);
  Journal journal(journal_path());
  create_namespaces(two, journal);

  const json links = ip(netns("h2"), {"link"});
  ASSERT_EQ(links.size(), 3u);
  EXPECT_THAT(links[0].at("flags"), testing::Contains("UP")) << "lo";
  for (std::size_t port = 1; port <= 2; ++port) {
    const json& link = links[port];
    EXPECT_EQ(link.at("ifname"), fmt::format("eth{}", port));
    EXPECT_EQ(link.at("address"), to_string(nic_mac(2, static_cast<int>(port))));
    EXPECT_EQ(link.at("mtu"), 9000);
    EXPECT_EQ(link.at("operstate"), "UP");
    EXPECT_EQ(link.at("qdisc"), "tbf");
  }
  const json qdiscs = json::parse(output({"tc", "-j", "-n", netns("h2"), "qdisc", "show", "dev", "eth1"}));
  EXPECT_EQ(qdiscs.at(0).at("options").at("rate"), 1'250'000'000) << "octets per second";

  std::vector<std::string> addresses;
  const json all_addresses = ip(netns("h2"), {"address"});
  for (const json& link : all_addresses)
    for (const json& a : link.at("addr_info"))
      if (a.at("scope") == "global") {
        addresses.push_back(fmt::format("{} {}/{}", link.at("ifname").get<std::string>(),
                                        a.at("local").get<std::string>(), a.at("prefixlen").get<int>()));
        EXPECT_FALSE(a.value("tentative", false));
      }
  EXPECT_THAT(addresses,
              ElementsAre("eth1 10.99.0.2/32", "eth1 fd99::2/128", "eth2 10.99.1.2/32", "eth2 fd99:0:0:1::2/128"));

  EXPECT_THAT(routes_of(ip(netns("h2"), {"route"})),
              UnorderedElementsAre("default via 10.255.0.1 dev eth1", "default via 10.255.0.2 dev eth2",
                                   "10.99.0.0/24 via 10.255.0.1 dev eth1", "10.99.1.0/24 via 10.255.0.2 dev eth2",
                                   "10.255.0.0/31 via 10.255.0.1 dev eth1", "10.255.0.2/31 via 10.255.0.2 dev eth2"));
  EXPECT_THAT(routes_of(ip(netns("h2"), {"-6", "route"})),
              testing::Contains("fd99:0:0:1::/64 via fd99:ffff::2 dev eth2"));
  EXPECT_THAT(routes_of(ip(netns("h2"), {"route", "show", "table", "1002"})),
              ElementsAre("default via 10.255.0.2 dev eth2"));

  const json neighbours = ip(netns("h2"), {"neighbour", "show", "nud", "permanent"});
  EXPECT_EQ(neighbours.size(), 4u);
  for (const json& n : neighbours)
    EXPECT_EQ(n.at("lladdr"), to_string(leaf_mac(2, n.at("dev") == "eth1" ? 1 : 2))) << n;

  in_namespace(netns("h2"), [] {
    for (const char* interface : {"eth1", "eth2"}) {
      const std::vector<std::string> on = offloads(interface);
      EXPECT_THAT(on, testing::IsSupersetOf({"tx-checksum-ip-generic", "tx-tcp-segmentation", "tx-tcp6-segmentation"}));
      EXPECT_THAT(on, testing::Each(testing::Not(testing::AnyOf("tx-checksum-sctp", "tx-sctp-segmentation", "tx-udp_tnl-segmentation",
                                                                "rx-gro"))))
          << "the fabric does none of these";
    }
  });
  EXPECT_EQ(setting(netns("h2"), "ipv4/tcp_ecn"), "1");
  EXPECT_EQ(setting(netns("h2"), "ipv4/ping_group_range"), "0\t2147483647");
  EXPECT_EQ(setting(netns("h2"), "ipv6/conf/eth1/accept_dad"), "0");
  EXPECT_EQ(setting(netns("h2"), "ipv6/conf/eth1/accept_ra"), "0");

  // The fabric's ends say nothing themselves.
  for (const FabricEnd& end : fabric_ends(two)) {
    EXPECT_EQ(setting(end.netns, "ipv6/conf/" + end.interface + "/disable_ipv6"), "1");
    const json link = ip(end.netns, {"link", "show", "dev", end.interface});
    EXPECT_EQ(link[0].at("operstate"), "UP");
    EXPECT_EQ(link[0].at("mtu"), 9000);
    EXPECT_EQ(link[0].at("qdisc"), "noqueue");
  }
  const std::string names = output({"ip", "netns", "exec", netns("h1"), "cat", "/etc/hosts"});
  EXPECT_THAT(names, HasSubstr("10.99.0.2 h2 h2.eth1\n"));
  EXPECT_THAT(names, HasSubstr("10.99.1.2 h2.eth2\n"));

  EXPECT_THAT(traces(), testing::SizeIs(2 * 3 + 1));
  EXPECT_THAT(remove_namespaces(two, journal), IsEmpty());
  EXPECT_THAT(journal.things(), IsEmpty());
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

TEST_F(NamespacesTest, ALinkFasterThanAnyVethIsNotShapedAndASmallMtuHasNoIpv6) {
  LabHosts one = lab(1, 1);
  one.hosts[0].nics[0].rate = 400_Gbps;
  one.hosts[0].nics[0].mtu = 576;
  Journal journal(journal_path());
  create_namespaces(one, journal);
  const json link = ip(netns("h1"), {"address", "show", "dev", "eth1"});
  EXPECT_EQ(link[0].at("qdisc"), "noqueue");
  EXPECT_EQ(link[0].at("mtu"), 576);
  EXPECT_THAT(link[0].at("addr_info"), testing::SizeIs(1));
}

TEST_F(NamespacesTest, EveryRateThatIsShapedCanBe) {
  LabHosts one = lab(1, 8);
  const std::array rates{1_Mbps, 100_Mbps, 1_Gbps, 10_Gbps, 25_Gbps, 40_Gbps, 50_Gbps, 100_Gbps};
  for (std::size_t n = 0; n < rates.size(); ++n) one.hosts[0].nics[n].rate = rates[n];
  Journal journal(journal_path());
  create_namespaces(one, journal);
  for (std::size_t n = 0; n < rates.size(); ++n) {
    const json qdisc =
        json::parse(output({"tc", "-j", "-n", netns("h1"), "qdisc", "show", "dev", fmt::format("eth{}", n + 1)}));
    EXPECT_EQ(qdisc.at(0).at("options").at("rate"), rates[n].bps / 8);
    EXPECT_GE(qdisc.at(0).at("options").at("burst"), 9000 + 14);
  }
}

TEST_F(NamespacesTest, RatesThatChangeAreThoseOfTheShapers) {
  LabHosts was = lab(2, 2);
  Journal journal(journal_path());
  create_namespaces(was, journal);
  const auto shaper = [&](const std::string& host, int port) {
    return json::parse(output({"tc", "-j", "-n", netns(host), "qdisc", "show", "dev", fmt::format("eth{}", port)}));
  };
  // Slower; not shaped any more; and back.
  LabHosts now = was;
  now.hosts[0].nics[1].rate = 1_Gbps;
  now.hosts[1].nics[0].rate = 400_Gbps;
  for (int round = 0; round < 2; ++round) {  // the second time it is so already
    change_rates(was, now, journal);
    EXPECT_EQ(shaper("h1", 1).at(0).at("options").at("rate"), (10_Gbps).bps / 8);
    EXPECT_EQ(shaper("h1", 2).at(0).at("options").at("rate"), (1_Gbps).bps / 8);
    EXPECT_EQ(shaper("h2", 1).at(0).at("kind"), "noqueue");
  }
  change_rates(now, was, journal);
  EXPECT_EQ(shaper("h1", 2).at(0).at("options").at("rate"), (10_Gbps).bps / 8);
  EXPECT_EQ(shaper("h2", 1).at(0).at("options").at("rate"), (10_Gbps).bps / 8);
  ASSERT_EQ(run_command({"ip", "-n", netns("h2"), "link", "delete", "eth1"}).status, 0);
  try {
    change_rates(was, now, journal);
    ADD_FAILURE() << "there is no such interface any more";
  } catch (const HostsError& error) {
    EXPECT_THAT(error.what(), HasSubstr("eth1"));
  }
}

TEST(FabricEnds, LongNamesOfHostsAreNumbered) {
  const LabHosts lab{.name = "x",
                     .hosts = {{"a-host-with-a-l", {HostNic{}}}, {"thirteen-char", {HostNic{}, HostNic{}}}},
                     .others = {}};
  EXPECT_THAT(fabric_ends(lab), ElementsAre(FabricEnd{"a-host-with-a-l", 1, "ry-x", "v1"},
                                            FabricEnd{"thirteen-char", 1, "ry-x", "thirteen-char-1"},
                                            FabricEnd{"thirteen-char", 2, "ry-x", "thirteen-char-2"}));
}

TEST_F(NamespacesTest, ThirtyTwoHostsAtOnce) {
  const LabHosts many = lab(32, 1);
  Journal journal(journal_path());
  const auto begin = std::chrono::steady_clock::now();
  create_namespaces(many, journal);
  const auto made = std::chrono::steady_clock::now();
  EXPECT_THAT(remove_namespaces(many, journal), IsEmpty());
  const std::chrono::duration<double> up = made - begin;
  const std::chrono::duration<double> down = std::chrono::steady_clock::now() - made;
  fmt::print("32 hosts: made in {:.2f} s, removed in {:.2f} s\n", up.count(), down.count());
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

}  // namespace
}  // namespace railyard::hosts
