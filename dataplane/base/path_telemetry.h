// In-band telemetry for congestion control: what the egress ports of a packet's path say about their load, as HPCC
// wants it (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 4.1). Octets on the wire:
// wire/hpcc_int.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dataplane/base/units.h"

namespace railyard {

// One egress port, at the instant at which the packet began to leave by it.
//
// DEVIATION HPCC section 4.1: values have 32 bits here, and the wire has room for 24, 20, 16 and 4. So B is any rate,
// not one of 16, and counters do not wrap between two acknowledgements of a slow flow. Units are the paper's.
struct HopTelemetry {
  static constexpr std::uint32_t kSentOctets = 128;
  static constexpr std::uint32_t kQueueOctets = 80;
  static constexpr std::int64_t kRateBps = 10'000;

  std::uint32_t at_ns = 0;  // TS: nanoseconds, modulo 2^32
  std::uint32_t sent = 0;   // txBytes: sent by the port, in units of kSentOctets, modulo 2^32
  std::uint32_t queue = 0;  // qLen: behind the packet in its queue, in units of kQueueOctets
  std::uint32_t rate = 0;   // B: of the port, in units of kRateBps

  static constexpr std::uint32_t rate_of(BitRate rate) noexcept {
    return static_cast<std::uint32_t>(rate.bps / kRateBps);
  }
  bool operator==(const HopTelemetry&) const = default;
};

// All of a path, oldest first. What a packet carries is its beginning: octets() of it.
struct PathTelemetry {
  // A fat tree of three tiers has five. Ports beyond the last one add nothing.
  static constexpr std::size_t kMostHops = 8;

  std::uint8_t hops = 0;
  std::uint8_t echo = 0;   // 1: sent back by a receiver; switches add nothing
  std::uint16_t path = 0;  // pathID: XOR of hashes of the ports, 12 bits
  std::array<HopTelemetry, kMostHops> hop{};

  // How much memory a packet needs for it.
  static constexpr std::size_t kHeadOctets = 4;
  static constexpr std::size_t kMostOctets = kHeadOctets + kMostHops * sizeof(HopTelemetry);
  std::size_t octets() const noexcept { return kHeadOctets + hops * sizeof(HopTelemetry); }

  // Octets of a frame that it takes: nHop and pathID, then the hops.
  static constexpr std::uint32_t kWireHeadOctets = 2;
  static constexpr std::uint32_t kWireHopOctets = 8;
  static constexpr std::uint32_t kMostWireOctets = kWireHeadOctets + kMostHops * kWireHopOctets;
  static constexpr std::uint32_t wire_octets(std::uint32_t hops) noexcept {
    return kWireHeadOctets + hops * kWireHopOctets;
  }
  std::uint32_t wire_octets() const noexcept { return wire_octets(hops); }

  // From the memory of a packet, and into it.
  static PathTelemetry read(const std::byte* at) noexcept {
    PathTelemetry t;
    std::memcpy(static_cast<void*>(&t), at, kHeadOctets);
    std::memcpy(static_cast<void*>(t.hop.data()), at + kHeadOctets, t.octets() - kHeadOctets);
    return t;
  }
  void write(std::byte* at) const noexcept { std::memcpy(at, this, octets()); }

  bool operator==(const PathTelemetry&) const = default;
};
static_assert(sizeof(PathTelemetry) == PathTelemetry::kMostOctets && std::is_trivially_copyable_v<PathTelemetry>);

}  // namespace railyard
