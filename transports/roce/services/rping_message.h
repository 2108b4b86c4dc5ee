// What rping says (rdma-core, librdmacm/examples/rping.c, its public protocol): an offer of memory, in a SEND of 16
// octets, and the text of a ping.
//
//   client                                                     server
//   SEND: where the ping is        ------------------------->
//                                  <-------- READ -----------  takes it
//                                  <-------- SEND -----------  go on (its octets say nothing)
//   SEND: where it shall go        ------------------------->
//                                  <-------- WRITE ----------  puts it there
//                                  <-------- SEND -----------  done
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/field.h"

namespace railyard::roce {

inline constexpr std::uint16_t kRpingPort = 7174;
// Octets of a ping: room for the words and the greatest number, and less than 64 KiB.
inline constexpr std::uint32_t kLeastPing = 26;
inline constexpr std::uint32_t kMostPing = 65535;

//  +---------------------------------------------------------------+
//  |                        Buffer, 8 octets                       |
//  +---------------------------------------------------------------+
//  |                             R_Key                             |
//  +---------------------------------------------------------------+
//  |                              Size                             |
//  +---------------------------------------------------------------+
struct RpingMessage {
  static constexpr std::size_t kOctets = 16;
  using Buffer = wire::Field<0, 64>;
  using RKey = wire::Field<64, 32>;
  using Size = wire::Field<96, 32>;
};
static_assert(wire::tiles<RpingMessage::kOctets, RpingMessage::Buffer, RpingMessage::RKey, RpingMessage::Size>());

struct RpingOffer {
  std::uint64_t address = 0;
  std::uint32_t r_key = 0;
  std::uint32_t octets = 0;

  bool operator==(const RpingOffer&) const = default;
};

constexpr RpingOffer read_rping(const std::byte* at) noexcept {
  return {wire::read<RpingMessage::Buffer>(at), wire::read<RpingMessage::RKey>(at),
          wire::read<RpingMessage::Size>(at)};
}
constexpr void write_rping(std::byte* at, const RpingOffer& offer) noexcept {
  wire::write<RpingMessage::Buffer>(at, offer.address);
  wire::write<RpingMessage::RKey>(at, offer.r_key);
  wire::write<RpingMessage::Size>(at, offer.octets);
}

// Ping `n` (0, 1, ...): "rdma-ping-<n>: ", the characters 'A' + n mod 58 on, up to 'z' and from 'A' again, and a zero.
// `out` has kLeastPing octets or more.
void write_ping(std::span<std::byte> out, std::uint64_t n) noexcept;
bool is_ping(std::span<const std::byte> octets, std::uint64_t n) noexcept;

}  // namespace railyard::roce
