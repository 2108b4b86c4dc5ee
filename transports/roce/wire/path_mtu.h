// The path MTU of RDMA: octets of payload in a full packet (roce-and-lossless §1.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace railyard::roce {

// The numbers are the codes of verbs and of the connection manager.
enum class PathMtu : std::uint8_t { k256 = 1, k512 = 2, k1024 = 3, k2048 = 4, k4096 = 5 };

constexpr std::size_t octets(PathMtu mtu) noexcept { return std::size_t{128} << static_cast<unsigned>(mtu); }

// By the octets; nullopt: not one of the five.
constexpr std::optional<PathMtu> path_mtu(std::size_t octets_of_payload) noexcept {
  for (unsigned code = 1; code <= 5; ++code)
    if (octets(static_cast<PathMtu>(code)) == octets_of_payload) return static_cast<PathMtu>(code);
  return std::nullopt;
}

// The largest that a link with this IP MTU takes, by rxe's rule, which keeps 80 octets for headers, so that both ends of
// a connection with rxe come to the same one. (IPv4 needs at most 64 around the payload: IP 20, UDP 8, BTH 12, RETH 16,
// ImmDt 4, ICRC 4; IPv6 84, which an IP MTU of 4 octets more than the rule asks for holds.) nullopt: not even 256 fit.
constexpr std::optional<PathMtu> largest_path_mtu(std::size_t ip_mtu) noexcept {
  constexpr std::size_t kRxeHeaders = 80;
  for (unsigned code = 5; code >= 1; --code)
    if (octets(static_cast<PathMtu>(code)) + kRxeHeaders <= ip_mtu) return static_cast<PathMtu>(code);
  return std::nullopt;
}

}  // namespace railyard::roce
