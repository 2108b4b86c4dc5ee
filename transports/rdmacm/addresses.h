// Socket addresses, and those of the fabric.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "dataplane/wire/address.h"

namespace railyard::rdmacm {

struct SocketAddress {
  wire::IpAddress address{};
  std::uint16_t port = 0;
};

// nullopt: of another family.
inline std::optional<SocketAddress> read(const sockaddr* from) noexcept {
  if (from == nullptr) return std::nullopt;
  if (from->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, from, sizeof v4);
    return SocketAddress{wire::IpAddress(::ntohl(v4.sin_addr.s_addr)), ::ntohs(v4.sin_port)};
  }
  if (from->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, from, sizeof v6);
    SocketAddress a{.port = ::ntohs(v6.sin6_port)};
    std::memcpy(a.address.octets.data(), &v6.sin6_addr, a.address.octets.size());
    return a;
  }
  return std::nullopt;
}

// Returns its octets. `to` has room for both families.
inline socklen_t write(const SocketAddress& from, sockaddr* to) noexcept {
  if (from.address.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = ::htons(from.port);
    v4.sin_addr.s_addr = ::htonl(from.address.v4());
    std::memcpy(to, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = ::htons(from.port);
  std::memcpy(&v6.sin6_addr, from.address.octets.data(), from.address.octets.size());
  std::memcpy(to, &v6, sizeof v6);
  return sizeof v6;
}

}  // namespace railyard::rdmacm
