// For real: needs root, iproute2 and veth.
#include "control/hosts/namespaces.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/network_namespace.h"
#include "control/hosts/offloads.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;
using namespace railyard::literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using wire::IpAddress;

wire::MacAddress nic_mac(int host, int port) {
  return {{2, 0, 0, 1, static_cast<std::uint8_t>(host), static_cast<std::uint8_t>(port)}};
}
wire::MacAddress leaf_mac(int host, int port) {
  return {{2, 0, 0, 9, static_cast<std::uint8_t>(host), static_cast<std::uint8_t>(port)}};
}
std::string address_text(int host, int port) { return fmt::format("10.99.{}.{}", port - 1, host); }

class NamespacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    try {
      const std::string probe = "ry-" + name_ + "-probe";
      const CommandResult added = run_command({"ip", "netns", "add", probe});
      const CommandResult linked = run_command({"ip", "-n", probe, "link", "add", "a0", "type", "veth"});
      remove_namespace(probe);
      if (added.status != 0) GTEST_SKIP() << "no network namespaces here: " << added.output;
      if (linked.status != 0) GTEST_SKIP() << "no veth here: " << linked.output;
    } catch (const HostsError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    Journal::remove_all(journal_path());
    fs::remove(journal_path());
  }

  fs::path journal_path() const { return fs::path(testing::TempDir()) / (name_ + ".journal"); }

  // Hosts h1, h2, ... with one NIC at the leaf of each rail.
  LabHosts lab(int hosts, int rails) const {
    LabHosts lab{.name = name_, .hosts = {}, .others = {}};
    for (int h = 1; h <= hosts; ++h) {
      NamespaceHost& host = lab.hosts.emplace_back(NamespaceHost{fmt::format("h{}", h), {}});
      for (int port = 1; port <= rails; ++port)
        host.nics.push_back(
            {.mac = nic_mac(h, port),
             .address_v4 = IpAddress::parse(address_text(h, port)),
             .address_v6 = IpAddress::parse(fmt::format("fd99:0:0:{}::{}", port - 1, h)),
             .mtu = 9000,
             .rate = 10_Gbps,
             .neighbour = Neighbour{.is_switch = true,
                                    .mac = leaf_mac(h, port),
                                    .address_v4 = IpAddress::parse(fmt::format("10.255.0.{}", port)),
                                    .address_v6 = IpAddress::parse(fmt::format("fd99:ffff::{}", port))}});
    }
    return lab;
  }

  // Everything on this machine that has the lab's name.
  std::vector<std::string> traces() const {
    std::vector<std::string> out;
    for (const char* folder : {"/var/run/netns", "/etc/netns"}) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.path().filename().string().find(name_) != std::string::npos) out.push_back(entry.path());
    }
    if (fs::exists(journal_path())) out.push_back(journal_path());
    return out;
  }

  std::string netns(const std::string& host) const { return host_namespace(name_, host); }
  static std::string output(std::vector<std::string> command) {
    const CommandResult result = run_command(command, {.most_output = 1 << 20});
    EXPECT_EQ(result.status, 0) << fmt::format("{}", command.front()) << ": " << result.output;
    return result.output;
  }
  static json ip(const std::string& netns, std::vector<std::string> arguments) {
    std::vector<std::string> command{"ip", "-j", "-d", "-n", netns};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return json::parse(output(command));
  }
  static std::string setting(const std::string& netns, const std::string& name) {
    std::string value;
    in_namespace(netns, [&] { std::getline(std::ifstream("/proc/sys/net/" + name), value); });
    return value;
  }
  static std::string error_of(const LabHosts& lab, Journal& journal) {
    try {
      create_namespaces(lab, journal);
    } catch (const HostsError& error) {
      return error.what();
    }
    return {};
  }

  const std::string name_ = fmt::format("t{}", ::getpid());
};

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
    EXPECT_THAT(offloads("eth1"), IsEmpty());
    EXPECT_THAT(offloads("eth2"), IsEmpty());
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

// ---- Packets -------------------------------------------------------------------------------------------------------

// The internet checksum (RFC 1071) over `octets` and `more`.
std::uint16_t checksum(std::span<const std::uint8_t> octets, std::uint32_t more) {
  for (std::size_t i = 0; i < octets.size(); ++i) more += i % 2 == 0 ? octets[i] * 256u : octets[i];
  while (more > 0xFFFF) more = (more & 0xFFFF) + (more >> 16);
  return static_cast<std::uint16_t>(~more & 0xFFFF);
}

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &a.sin_addr);
  return a;
}

// A UDP socket in `netns`; `address` may be empty.
FileDescriptor udp_socket(const std::string& netns, const std::string& address, std::uint16_t port) {
  FileDescriptor s;
  in_namespace(netns, [&] { s = FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)); });
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(s.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const sockaddr_in a = socket_address(address.empty() ? "0.0.0.0" : address, port);
  EXPECT_EQ(::bind(s.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a), 0) << std::strerror(errno);
  return s;
}

void send(const FileDescriptor& from, const std::string& to, const std::string& payload) {
  const sockaddr_in a = socket_address(to, 7);
  EXPECT_EQ(::sendto(from.get(), payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&a), sizeof a),
            static_cast<ssize_t>(payload.size()))
      << std::strerror(errno);
}

TEST_F(NamespacesTest, AtTheFabricsEndFramesAreAsOnACable) {
  const LabHosts one = lab(1, 1);
  Journal journal(journal_path());
  create_namespaces(one, journal);
  const FabricEnd end = fabric_ends(one).at(0);
  EXPECT_EQ(end, (FabricEnd{"h1", 1, "ry-" + name_, "h1-1"}));

  FileDescriptor fabric;
  in_namespace(end.netns, [&] {
    fabric = FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP)));
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_IP);
    at.sll_ifindex = static_cast<int>(::if_nametoindex(end.interface.c_str()));
    ASSERT_EQ(::bind(fabric.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0) << std::strerror(errno);
  });
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fabric.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  send(udp_socket(netns("h1"), "", 0), "10.99.0.77", std::string(5000, 'x'));

  std::array<std::uint8_t, 10000> frame{};
  const ssize_t n = ::recv(fabric.get(), frame.data(), frame.size(), 0);
  ASSERT_EQ(n, 14 + 20 + 8 + 5000);
  EXPECT_EQ(std::memcmp(frame.data(), leaf_mac(1, 1).octets.data(), 6), 0) << "to the leaf, which nobody asked for";
  EXPECT_EQ(std::memcmp(frame.data() + 6, nic_mac(1, 1).octets.data(), 6), 0);
  // Over the pseudo header's addresses, protocol and length (RFC 768), and the datagram.
  EXPECT_EQ(checksum(std::span(frame).subspan(26, 8 + 8 + 5000), IPPROTO_UDP + 8 + 5000), 0);
}

// The kernel routes in the place of the fabric: every host behind its own link.
void route_between(const LabHosts& lab) {
  std::string lines;
  std::size_t n = 0;
  const auto ends = fabric_ends(lab);
  for (const NamespaceHost& host : lab.hosts)
    for (const HostNic& nic : host.nics) {
      const std::string& dev = ends[n++].interface;
      const std::string address = to_string(*nic.address_v4);
      lines += fmt::format(
          "link set {} address {}\nroute add {} dev {}\nneighbour replace {} lladdr {} dev {} nud permanent\n", dev,
          to_string(nic.neighbour->mac), address, dev, address, to_string(nic.mac), dev);
    }
  const CommandResult result = run_command({"ip", "-n", fabric_namespace(lab.name), "-batch", "-"}, {.input = lines});
  ASSERT_EQ(result.status, 0) << result.output;
  in_namespace(fabric_namespace(lab.name), [] {
    std::ofstream("/proc/sys/net/ipv4/ip_forward") << "1";
    for (const auto& conf : fs::directory_iterator("/proc/sys/net/ipv4/conf"))
      std::ofstream(conf.path() / "rp_filter") << "0";
  });
}

TEST_F(NamespacesTest, EveryAddressIsReachedByTheNicOfItsRail) {
  constexpr int kDatagrams = 200;
  const LabHosts three = lab(3, 2);
  Journal journal(journal_path());
  create_namespaces(three, journal);
  route_between(three);
  const auto received = [&](int port) -> std::int64_t {
    const json link = ip(fabric_namespace(name_), {"-s", "link", "show", "dev", fmt::format("h1-{}", port)});
    return link[0].at("stats64").at("rx").at("bytes");
  };
  struct Case {
    std::string source;  // empty: the kernel chooses
    int to_rail;
    int by;  // NIC of h1
  };
  for (const Case& c : {Case{"", 1, 1}, Case{"", 2, 2}, Case{"10.99.1.1", 1, 2}, Case{"10.99.0.1", 2, 1}}) {
    SCOPED_TRACE(fmt::format("from '{}' to rail {}", c.source, c.to_rail));
    const FileDescriptor to = udp_socket(netns("h3"), address_text(3, c.to_rail), 7);
    const FileDescriptor from = udp_socket(netns("h1"), c.source, 0);
    const std::int64_t before = received(c.by);
    for (int i = 0; i < kDatagrams; ++i) {
      send(from, address_text(3, c.to_rail), std::string(1000, 'x'));
      sockaddr_in sender{};
      socklen_t length = sizeof sender;
      std::array<char, 2000> data{};
      ASSERT_EQ(::recvfrom(to.get(), data.data(), data.size(), 0, reinterpret_cast<sockaddr*>(&sender), &length), 1000)
          << std::strerror(errno);
      const std::string source = c.source.empty() ? address_text(1, c.by) : c.source;
      ASSERT_EQ(sender.sin_addr.s_addr, socket_address(source, 0).sin_addr.s_addr);
    }
    EXPECT_GE(received(c.by) - before, kDatagrams * 1000);
  }
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

// ---- What goes wrong -----------------------------------------------------------------------------------------------

TEST_F(NamespacesTest, ANameThatIsTakenIsLeftAloneAndNothingElseIsMade) {
  for (const std::string& taken : {netns("h2"), fabric_namespace(name_)}) {
    ASSERT_EQ(run_command({"ip", "netns", "add", taken}).status, 0);
    struct stat before {};
    ASSERT_EQ(::stat(namespace_path(taken).c_str(), &before), 0);
    {
      Journal journal(journal_path());
      EXPECT_THAT(error_of(lab(3, 1), journal), HasSubstr("ip netns delete " + taken));
    }
    EXPECT_THAT(traces(), ElementsAre(fs::path(namespace_path(taken)).string()));
    struct stat after {};
    ASSERT_EQ(::stat(namespace_path(taken).c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    remove_namespace(taken);
  }
}

TEST_F(NamespacesTest, AHostsFileThatIsThereIsLeftAlone) {
  const fs::path folder = "/etc/netns/" + netns("h1");
  const bool had_netns = fs::exists("/etc/netns");
  fs::create_directories(folder);
  std::ofstream(folder / "hosts") << "mine";
  {
    Journal journal(journal_path());
    EXPECT_THAT(error_of(lab(1, 1), journal), HasSubstr((folder / "hosts").string()));
  }
  EXPECT_THAT(traces(), ElementsAre(folder.string()));
  fs::remove_all(folder);
  if (!had_netns) fs::remove("/etc/netns");
}

// Something of the last host is refused by the kernel, when all the rest stands.
TEST_F(NamespacesTest, AFailureAtTheEndLeavesNothing) {
  LabHosts three = lab(3, 2);
  three.hosts[2].nics[1].mac = wire::kBroadcastMac;
  {
    Journal journal(journal_path());
    journal.record(File{(fs::path(testing::TempDir()) / (name_ + ".socket")).string()});
    EXPECT_THAT(error_of(three, journal), HasSubstr("ff:ff:ff:ff:ff:ff"));
    EXPECT_THAT(journal.things(), testing::SizeIs(1)) << "what others have recorded stays";
    EXPECT_THAT(traces(), ElementsAre(journal_path()));
  }
  LabHosts two = lab(2, 1);
  two.hosts[1].nics[0].neighbour->address_v4 = IpAddress::parse("224.0.0.1");  // cannot be a gateway
  Journal::remove_all(journal_path());
  Journal journal(journal_path());
  EXPECT_THAT(error_of(two, journal), HasSubstr("224.0.0.1"));
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

TEST_F(NamespacesTest, NamesThatCannotBeAreRefused) {
  Journal journal(journal_path());
  LabHosts bad = lab(1, 1);
  bad.hosts[0].name = "h 1";
  EXPECT_THAT(error_of(bad, journal), HasSubstr("'h 1'"));
  bad.hosts[0].name = "../h1";
  EXPECT_THAT(error_of(bad, journal), HasSubstr("'../h1'"));
  bad.hosts[0].name = std::string(250, 'h');
  EXPECT_THAT(error_of(bad, journal), HasSubstr("at most 255"));
  bad = lab(1, 1);
  bad.hosts.push_back(bad.hosts[0]);
  EXPECT_THAT(error_of(bad, journal), HasSubstr("two hosts 'h1'"));
  EXPECT_THAT(journal.things(), IsEmpty());
}

TEST_F(NamespacesTest, WithoutPrivilegesItSaysWhoMay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool right = false;
    try {
      Journal journal(journal_path());
      if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
      create_namespaces(lab(1, 1), journal);
    } catch (const HostsError& error) {
      right = std::string(error.what()).find("sudo") != std::string::npos;
    }
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// A program of this name that is found before the real one, while it exists.
class Impostor {
 public:
  // A shell script; $REAL is the real one.
  Impostor(const fs::path& folder, const std::string& program, const std::string& script)
      : folder_(folder), path_(::getenv("PATH")) {
    const std::string real = find_program(program);
    fs::create_directory(folder_);
    std::ofstream(folder_ / program) << "#!/bin/sh\nREAL=" << real << "\n" << script << "\n";
    fs::permissions(folder_ / program, fs::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~Impostor() {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

 private:
  fs::path folder_;
  std::string path_;
};

TEST_F(NamespacesTest, AKernelWithoutVethOrShaperIsNamed) {
  const fs::path folder = fs::path(testing::TempDir()) / (name_ + ".bin");
  Journal journal(journal_path());
  {
    const Impostor no_veth(folder, "ip", R"(
      lines=$(cat)
      case "$lines" in *veth*) echo "Error: Unknown device type."; echo "Command failed -:1"; exit 1;; esac
      echo "$lines" | exec $REAL "$@")");
    EXPECT_THAT(error_of(lab(2, 1), journal), HasSubstr("modprobe veth"));
    EXPECT_THAT(traces(), ElementsAre(journal_path()));
  }
  const Impostor no_tbf(folder, "tc", R"(
      echo "Error: Specified qdisc kind is unknown."; echo "Command failed -:1"; exit 1)");
  EXPECT_THAT(error_of(lab(2, 1), journal), HasSubstr("modprobe sch_tbf"));
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

// Between the look whether names are free and the making of them.
TEST_F(NamespacesTest, ANameThatIsTakenAtTheLastMomentIsLeftAlone) {
  {
    const Impostor fast(fs::path(testing::TempDir()) / (name_ + ".bin"), "ip",
                        fmt::format("$REAL netns add {}; exec $REAL \"$@\"", netns("h2")));
    Journal journal(journal_path());
    EXPECT_THAT(error_of(lab(3, 1), journal), testing::AllOf(HasSubstr(netns("h2")), HasSubstr("File exists")));
  }
  EXPECT_THAT(traces(), ElementsAre(fs::path(namespace_path(netns("h2"))).string()));
  remove_namespace(netns("h2"));
}

TEST_F(NamespacesTest, AnInterfaceElsewhereCanBeRecordedToo) {
  {
    Journal journal(journal_path());
    journal.record(std::vector<Thing>{Namespace{netns("n")}, Interface{netns("n"), "ours"}});
    ASSERT_EQ(run_command({"ip", "netns", "add", netns("n")}).status, 0);
    ASSERT_EQ(
        run_command({"ip", "-n", netns("n"), "link", "add", "ours", "type", "veth", "peer", "name", "peer"}).status, 0);
    const std::vector<Thing> interface {
      Interface { netns("n"), "ours" }
    };
    EXPECT_THAT(journal.remove(interface), IsEmpty());
    EXPECT_EQ(ip(netns("n"), {"link"}).size(), 1u) << "lo";
  }
  EXPECT_THAT(Journal::remove_all(journal_path()), IsEmpty());
  EXPECT_THAT(traces(), IsEmpty());
}

// Wherever the kill comes: while things are made, while they are removed, between the two.
TEST_F(NamespacesTest, KilledAtAnyPointItLeavesNothingThatTheJournalDoesNotRemove) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (const LabHosts four = lab(4, 2);;) {
          Journal journal(journal_path());
          create_namespaces(four, journal);
          if (!remove_namespaces(four, journal).empty()) ::_exit(1);
        }
      } catch (...) {
        ::_exit(1);
      }
    }
    ::usleep(static_cast<useconds_t>(3000 + round * 7000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it must not have failed";
    ASSERT_THAT(Journal::remove_all(journal_path()), IsEmpty()) << round;
    ASSERT_THAT(traces(), IsEmpty()) << round;
  }
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
