#include "control/speakers/kernel_routes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "control/hosts/network_namespace.h"

namespace railyard::speakers {
namespace {

constexpr std::array kGroups{RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_NEXTHOP};
constexpr std::size_t kBufferOctets = 64 * 1024;

mnl_socket* open_socket(const std::string& netns) {
  mnl_socket* const s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (s == nullptr || mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) != 0)
    throw std::runtime_error(
        fmt::format("routes of the network namespace {}: netlink: {}", netns, std::strerror(errno)));
  return s;
}

std::optional<wire::IpAddress> address(int family, const nlattr* attribute) {
  std::array<std::uint8_t, 16> octets{};
  if (attribute == nullptr) return std::nullopt;
  const auto* const at = static_cast<const std::uint8_t*>(mnl_attr_get_payload(attribute));
  const std::size_t n = mnl_attr_get_payload_len(attribute);
  if (n != (family == AF_INET ? 4u : 16u)) return std::nullopt;
  if (family == AF_INET)
    return wire::IpAddress(std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3]);
  std::copy_n(at, n, octets.begin());
  return wire::IpAddress(octets);
}

using Attributes = std::array<const nlattr*, RTA_MAX + 1>;

Attributes attributes_of(const nlmsghdr* message) {
  Attributes out{};
  mnl_attr_parse(
      message, sizeof(rtmsg),
      [](const nlattr* a, void* into) {
        if (const unsigned type = mnl_attr_get_type(a); type <= RTA_MAX) (*static_cast<Attributes*>(into))[type] = a;
        return MNL_CB_OK;
      },
      &out);
  return out;
}

constexpr bool carries(unsigned flags) noexcept { return (flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) == 0; }

}  // namespace

bool KernelRoutes::Table::operator==(const Table& other) const {
  const auto same = [](const Route& a, const Route& b) {
    return a.prefix == b.prefix && a.ports == b.ports && a.weights == b.weights;
  };
  return local == other.local && std::ranges::equal(routes, other.routes, same);
}

// What a dump has brought so far.
struct KernelRoutes::Found {
  const KernelRoutes& reader;
  struct Best {
    std::uint32_t metric;
    Route route;
  };
  std::map<wire::IpPrefix, Best> best{};
  std::vector<wire::IpAddress> local{};
  std::string error{};

  void take(const nlmsghdr* message) {
    const auto* const r = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(message));
    if (r->rtm_family != AF_INET && r->rtm_family != AF_INET6) return;
    if ((r->rtm_flags & RTM_F_CLONED) != 0) return;
    const Attributes a = attributes_of(message);
    const auto to = address(r->rtm_family, a[RTA_DST]);
    const std::uint32_t table = a[RTA_TABLE] != nullptr ? mnl_attr_get_u32(a[RTA_TABLE]) : r->rtm_table;
    if (to && (to->is_loopback() || to->is_link_local())) return;  // nothing of the fabric is forwarded by these
    if (table == RT_TABLE_LOCAL && r->rtm_type == RTN_LOCAL && to) return local.push_back(*to);
    if (table != RT_TABLE_MAIN || r->rtm_type != RTN_UNICAST) return;
    Route route;
    add_members(*r, a, route);
    if (route.ports.empty()) return;
    const std::uint32_t metric = a[RTA_PRIORITY] != nullptr ? mnl_attr_get_u32(a[RTA_PRIORITY]) : 0;
    for (const wire::IpPrefix& prefix : prefixes(r->rtm_family, to, r->rtm_dst_len)) {
      route.prefix = prefix;
      keep(r->rtm_family, metric, route);
    }
  }

  // In our prefixes IPv4 lies in IPv6: ::/0 would take it along. What it is for is global and unique local unicast.
  static std::vector<wire::IpPrefix> prefixes(int family, const std::optional<wire::IpAddress>& to,
                                              std::uint8_t length) {
    if (family == AF_INET)
      return {wire::IpPrefix::of(to.value_or(wire::IpAddress{0u}), static_cast<std::uint8_t>(96 + length))};
    if (to && length > 0) return {wire::IpPrefix::of(*to, length)};
    return {*wire::IpPrefix::parse("2000::/3"), *wire::IpPrefix::parse("fc00::/7")};
  }

  void keep(int family, std::uint32_t metric, const Route& route) {
    const auto [known, is_new] = best.try_emplace(route.prefix, Best{metric, route});
    // IPv6 has had a route for each of its members.
    if (!is_new && metric == known->second.metric && family == AF_INET6) {
      for (std::size_t i = 0; i < route.ports.size(); ++i) add(known->second.route, route.ports[i], route.weights[i]);
    } else if (!is_new && metric < known->second.metric) {
      known->second = {metric, route};
    }
  }

  static void add(Route& route, PortIndex port, std::uint32_t weight) {
    const auto at = std::ranges::lower_bound(route.ports, port);
    const auto i = at - route.ports.begin();
    if (at != route.ports.end() && *at == port) {
      route.weights[static_cast<std::size_t>(i)] += weight;
      return;
    }
    route.weights.insert(route.weights.begin() + i, weight);
    route.ports.insert(at, port);
  }

  void add_member(Route& route, unsigned interface, unsigned flags, std::uint32_t weight) const {
    const auto port = reader.ports_.find(interface);
    if (port != reader.ports_.end() && carries(flags)) add(route, port->second, weight);
  }

  void add_members(const rtmsg& r, const Attributes& a, Route& route) const {
    if (a[RTA_OIF] != nullptr) add_member(route, mnl_attr_get_u32(a[RTA_OIF]), r.rtm_flags, 1);
    if (a[RTA_MULTIPATH] == nullptr) return;
    const auto* at = static_cast<const std::byte*>(mnl_attr_get_payload(a[RTA_MULTIPATH]));
    std::size_t left = mnl_attr_get_payload_len(a[RTA_MULTIPATH]);
    rtnexthop hop;
    while (left >= sizeof hop) {
      std::memcpy(&hop, at, sizeof hop);
      const std::size_t octets = RTNH_ALIGN(hop.rtnh_len);
      if (hop.rtnh_len < sizeof hop || octets > left) return;
      add_member(route, static_cast<unsigned>(hop.rtnh_ifindex), hop.rtnh_flags, std::uint32_t{hop.rtnh_hops} + 1);
      at += octets;
      left -= octets;
    }
  }
};

KernelRoutes::KernelRoutes(std::string netns, const std::map<std::string, PortIndex>& ports)
    : netns_(std::move(netns)) {
  hosts::in_namespace(netns_, [&] {
    for (const auto& [name, port] : ports)
      if (const unsigned number = ::if_nametoindex(name.c_str()); number != 0) ports_[number] = port;
    events_ = open_socket(netns_);
    asks_ = open_socket(netns_);
  });
  for (int group : kGroups)
    static_cast<void>(mnl_socket_setsockopt(events_, NETLINK_ADD_MEMBERSHIP, &group, sizeof group));
}

KernelRoutes::~KernelRoutes() {
  for (mnl_socket* s : {events_, asks_})
    if (s != nullptr) mnl_socket_close(s);
}

int KernelRoutes::readable() const noexcept { return mnl_socket_get_fd(events_); }

// What it says does not matter, nor does what got lost of it: all is read anew.
void KernelRoutes::calm() noexcept {
  std::array<std::byte, 8192> ignored;
  while (mnl_socket_recvfrom(events_, ignored.data(), ignored.size()) > 0 || errno == ENOBUFS || errno == EINTR) {
  }
}

void KernelRoutes::dump(int family, Found& into) {
  std::vector<char> buffer(kBufferOctets);
  nlmsghdr* const ask = mnl_nlmsg_put_header(buffer.data());
  ask->nlmsg_type = RTM_GETROUTE;
  ask->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  ask->nlmsg_seq = ++sequence_;
  auto* const r = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(ask, sizeof(rtmsg)));
  r->rtm_family = static_cast<unsigned char>(family);
  const auto fail = [&](const char* what) {
    throw std::runtime_error(
        fmt::format("routes of the network namespace {}: {}: {}", netns_, what, std::strerror(errno)));
  };
  if (mnl_socket_sendto(asks_, ask, ask->nlmsg_len) < 0) fail("asking the kernel");
  // The kernel has its answer ready before it returns from a read.
  for (;;) {
    const ssize_t got = mnl_socket_recvfrom(asks_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("reading the kernel's answer");
    const int more = mnl_cb_run(
        buffer.data(), static_cast<std::size_t>(got), sequence_, mnl_socket_get_portid(asks_),
        [](const nlmsghdr* message, void* found) {
          if (message->nlmsg_type == RTM_NEWROUTE) static_cast<Found*>(found)->take(message);
          return MNL_CB_OK;
        },
        &into);
    if (more < 0 && errno != EINTR) fail("the kernel's answer");
    if (more <= 0) return;
  }
}

KernelRoutes::Table KernelRoutes::read() {
  Found found{.reader = *this};
  for (const int family : {AF_INET, AF_INET6}) dump(family, found);
  Table table;
  for (auto& [prefix, best] : found.best) {
    const bool alike = std::ranges::adjacent_find(best.route.weights, std::not_equal_to{}) == best.route.weights.end();
    if (alike) best.route.weights.clear();
    table.routes.push_back(std::move(best.route));
  }
  for (const wire::IpAddress& own : found.local) {
    if (const auto same = std::ranges::find(table.routes, wire::IpPrefix::of(own, 128), &Route::prefix);
        same != table.routes.end())
      table.routes.erase(same);
    table.routes.push_back({.prefix = wire::IpPrefix::of(own, 128), .ports = {}});
  }
  std::ranges::sort(table.routes, {}, &Route::prefix);
  std::ranges::sort(found.local);
  found.local.erase(std::ranges::unique(found.local).begin(), found.local.end());
  table.local = std::move(found.local);
  return table;
}

}  // namespace railyard::speakers
