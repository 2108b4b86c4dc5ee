// Frames between the hosts, in their network namespaces, and the fabric's ends.
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "dataplane/base/file_descriptor.h"
#include "tests/control/hosts/namespaces_rig.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

TEST_F(NamespacesTest, AtTheFabricsEndFramesLackOnlyWhatThePortDoes) {
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
  // The checksum is that of the pseudo header's addresses, protocol and length alone: the port adds the datagram's.
  const unsigned field = frame[40] * 256u + frame[41];
  EXPECT_EQ(field, 0xFFFFu & ~unsigned{checksum(std::span(frame).subspan(26, 8), IPPROTO_UDP + 8 + 5000)});
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

}  // namespace
}  // namespace railyard::hosts
