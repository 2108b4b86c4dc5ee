#include "dataplane/port/network_interface.h"

#include <array>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "dataplane/base/file_descriptor.h"

namespace railyard {

namespace {

// IFF_LOWER_UP of netdevice(7), which <net/if.h> lacks: there is a carrier. IFF_RUNNING says so up to a second later.
constexpr unsigned kLowerUp = 1u << 16;

}  // namespace

// dev_valid_name() of the kernel; with a % it would make up a name of its own.
std::string bad_interface_name(const std::string& name) {
  if (name.empty()) return "an interface needs a name";
  if (name.size() > kMostInterfaceName)
    return fmt::format("the name of the interface has {} characters; expected at most {}", name.size(),
                       kMostInterfaceName);
  if (name == "." || name == "..") return "this interface name is reserved; choose another";
  for (const char c : name)
    if (c == '/' || c == ':' || c == '%' || std::isspace(static_cast<unsigned char>(c)) != 0)
      return fmt::format("the name of an interface cannot contain '{}'", c);
  return {};
}

std::optional<InterfaceState> read_interface(const std::string& name) {
  if (!bad_interface_name(name).empty()) return {};
  const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return {};
  struct {
    nlmsghdr header;
    ifinfomsg link;
    rtattr attribute;
    std::array<char, RTA_ALIGN(kMostInterfaceName + 1)> name;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.attribute.rta_type = IFLA_IFNAME;
  request.attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(name.size() + 1));
  std::memcpy(request.name.data(), name.data(), name.size());
  if (send(socket.get(), &request, sizeof request, 0) < 0) return {};

  alignas(nlmsghdr) std::array<char, 32 * 1024> answer;
  const ssize_t octets = recv(socket.get(), answer.data(), answer.size(), 0);
  if (octets < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(ifinfomsg)))) return {};
  nlmsghdr header;
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.nlmsg_type != RTM_NEWLINK || header.nlmsg_len > static_cast<std::size_t>(octets)) return {};
  ifinfomsg link;
  std::memcpy(&link, answer.data() + NLMSG_HDRLEN, sizeof link);
  InterfaceState state{.index = link.ifi_index,
                       .up = (link.ifi_flags & IFF_UP) != 0 && (link.ifi_flags & kLowerUp) != 0};
  rtattr attribute;
  for (std::size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof link); at + sizeof attribute <= header.nlmsg_len;
       at += RTA_ALIGN(attribute.rta_len)) {
    std::memcpy(&attribute, answer.data() + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > header.nlmsg_len) break;
    // Kernels add fields at the end of the statistics.
    constexpr std::size_t kTxDropped = offsetof(rtnl_link_stats64, tx_dropped);
    if (attribute.rta_type == IFLA_MTU && attribute.rta_len >= RTA_LENGTH(sizeof state.mtu))
      std::memcpy(&state.mtu, answer.data() + at + RTA_LENGTH(0), sizeof state.mtu);
    if (attribute.rta_type == IFLA_STATS64 && attribute.rta_len >= RTA_LENGTH(kTxDropped + sizeof state.tx_dropped))
      std::memcpy(&state.tx_dropped, answer.data() + at + RTA_LENGTH(kTxDropped), sizeof state.tx_dropped);
  }
  return state;
}

}  // namespace railyard
