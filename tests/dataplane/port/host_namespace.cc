#include "tests/dataplane/port/host_namespace.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/port/network_namespace.h"

namespace railyard::test {
namespace {

constexpr const char* kPrefix = "railyard-test-";

void remove_those_of_dead_tests() {
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator("/run/netns", ignored)) {
    const std::string name = file.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const int pid = std::atoi(name.c_str() + std::strlen(kPrefix));
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
      static_cast<void>(std::system(("ip netns del " + name).c_str()));
  }
}

}  // namespace

std::optional<std::string> why_no_namespaces() {
  if (geteuid() != 0) return "needs root, for network namespaces";
  if (std::system("ip netns >/dev/null 2>&1") != 0) return "needs iproute2 and network namespaces";
  const HostNamespace tried;
  if (!std::filesystem::exists("/run/netns/" + tried.name())) return "network namespaces cannot be made here";
  return {};
}

HostNamespace::HostNamespace() {
  static int serial = 0;
  remove_those_of_dead_tests();
  name_ = fmt::format("{}{}-{}", kPrefix, getpid(), serial++);
  static_cast<void>(std::system(("ip netns add " + name_).c_str()));
}

HostNamespace::~HostNamespace() { static_cast<void>(std::system(("ip netns del " + name_).c_str())); }

bool HostNamespace::ip(const std::string& arguments) const {
  return std::system(fmt::format("ip -n {} {}", name_, arguments).c_str()) == 0;
}

bool HostNamespace::run(const std::string& command) const {
  return std::system(fmt::format("ip netns exec {} {}", name_, command).c_str()) == 0;
}

void HostNamespace::keep_quiet() const {
  const NetworkNamespace inside(name_);
  std::ofstream("/proc/sys/net/ipv6/conf/default/disable_ipv6") << "1";
}

HostSocket::HostSocket(const HostNamespace& host, const std::string& interface) {
  const NetworkNamespace inside(host.name());
  socket_ = FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(socket_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  setsockopt(socket_.get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof on);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  EXPECT_GT(address.sll_ifindex, 0) << interface;
  EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << std::strerror(errno);
}

bool HostSocket::send(std::span<const std::byte> frame) const {
  const ssize_t sent = ::send(socket_.get(), frame.data(), frame.size(), 0);
  if (sent < 0) {
    EXPECT_EQ(errno, ENOBUFS) << std::strerror(errno);
  }
  return sent == static_cast<ssize_t>(frame.size());
}

void HostSocket::send(std::span<const std::byte> frame, const OffloadHeader& offload) const {
  const int on = 1;
  ASSERT_EQ(setsockopt(socket_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), 0) << std::strerror(errno);
  std::vector<std::byte> with_header(sizeof offload);
  std::memcpy(with_header.data(), &offload, sizeof offload);
  with_header.insert(with_header.end(), frame.begin(), frame.end());
  ASSERT_TRUE(send(with_header));
  const int off = 0;
  ASSERT_EQ(setsockopt(socket_.get(), SOL_PACKET, PACKET_VNET_HDR, &off, sizeof off), 0);
}

bool HostSocket::has_frame() const {
  pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN) != 0;
}

std::optional<std::vector<std::byte>> HostSocket::receive() const {
  constexpr int kLimitMs = 20'000;
  pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (poll(&wait, 1, kLimitMs) != 1) return {};
  std::vector<std::byte> frame(70'000);
  iovec octets{frame.data(), frame.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(tpacket_auxdata))> control;
  msghdr message{};
  message.msg_iov = &octets;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = recvmsg(socket_.get(), &message, 0);
  if (n < 0) return {};
  frame.resize(static_cast<std::size_t>(n));
  const cmsghdr* c = CMSG_FIRSTHDR(&message);
  if (c != nullptr && c->cmsg_type == PACKET_AUXDATA) {
    tpacket_auxdata aux;
    std::memcpy(&aux, CMSG_DATA(c), sizeof aux);
    if ((aux.tp_status & TP_STATUS_VLAN_VALID) != 0) {
      const std::array<std::uint16_t, 2> tag{htons(aux.tp_vlan_tpid), htons(aux.tp_vlan_tci)};
      const auto* tag_octets = reinterpret_cast<const std::byte*>(tag.data());
      frame.insert(frame.begin() + 12, tag_octets, tag_octets + 4);
    }
  }
  return frame;
}

}  // namespace railyard::test
