// The RDMA IP CM service (IBTA Annex A11; roce-and-lossless §6.4), as rdma_cm speaks it: which service ID stands for a
// port, and what the private data of a REQ begins with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"

namespace railyard::roce::cm {

enum class PortSpace : std::uint8_t { kTcp = 0x06, kUdp = 0x11 };

// What rdma_cm gives all QPs of the UDP port space.
inline constexpr std::uint32_t kUdpQKey = 0x01234567;

// 0x0000_0000_01PP_pppp: the port space, the port.
constexpr std::uint64_t service_id(PortSpace space, std::uint16_t port) noexcept {
  return std::uint64_t{0x01000000} | std::uint64_t{static_cast<std::uint8_t>(space)} << 16 | port;
}

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------+-------+-------+-------+-------------------------------+
//  |    Version    |  IPV  |  Rsv  |          Source Port          |
//  +---------------+-------+-------+-------------------------------+
//  |                 Source IP Address, 16 octets                  |
//  +---------------------------------------------------------------+
//  |               Destination IP Address, 16 octets               |
//  +---------------------------------------------------------------+
struct IpServiceHeader {
  static constexpr std::size_t kOctets = 36;
  using Version = wire::Field<0, 8>;
  using IPV = wire::Field<8, 4>;
  using Reserved = wire::Field<12, 4>;
  using SourcePort = wire::Field<16, 16>;
  using Source = wire::OctetField<32, wire::IpAddress>;
  using Destination = wire::OctetField<160, wire::IpAddress>;
};
static_assert(
    wire::tiles<IpServiceHeader::kOctets, IpServiceHeader::Version, IpServiceHeader::IPV, IpServiceHeader::Reserved,
                IpServiceHeader::SourcePort, IpServiceHeader::Source, IpServiceHeader::Destination>());

struct IpServiceValues {
  std::uint16_t source_port = 0;
  wire::IpAddress source;  // both of one family
  wire::IpAddress destination;

  bool operator==(const IpServiceValues&) const = default;
};

// An IPv4 address stands behind 12 zeros, not as a mapped one.
constexpr void write_ip_service(std::byte* at, const IpServiceValues& values) noexcept {
  const bool v4 = values.source.is_v4();
  const auto plain = [&](wire::IpAddress a) {
    if (v4) std::fill_n(a.octets.begin(), 12, std::uint8_t{0});
    return a;
  };
  wire::write<IpServiceHeader::Version>(at, 0);
  wire::write<IpServiceHeader::IPV>(at, v4 ? 4 : 6);
  wire::write<IpServiceHeader::Reserved>(at, 0);
  wire::write<IpServiceHeader::SourcePort>(at, values.source_port);
  wire::write<IpServiceHeader::Source>(at, plain(values.source));
  wire::write<IpServiceHeader::Destination>(at, plain(values.destination));
}
// nullopt: another version, or neither family.
constexpr std::optional<IpServiceValues> read_ip_service(const std::byte* at) noexcept {
  const auto family = wire::read<IpServiceHeader::IPV>(at);
  if (wire::read<IpServiceHeader::Version>(at) != 0 || (family != 4 && family != 6)) return std::nullopt;
  const auto address = [&](wire::IpAddress a) {
    if (family == 6) return a;
    return wire::IpAddress(std::uint32_t{a.octets[12]} << 24 | std::uint32_t{a.octets[13]} << 16 |
                           std::uint32_t{a.octets[14]} << 8 | a.octets[15]);
  };
  return IpServiceValues{wire::read<IpServiceHeader::SourcePort>(at), address(wire::read<IpServiceHeader::Source>(at)),
                         address(wire::read<IpServiceHeader::Destination>(at))};
}

}  // namespace railyard::roce::cm
