// HPCC's in-band telemetry in a frame (Li et al., SIGCOMM 2019, section 4.1): nHop and pathID, then 64 bits for each
// hop.
//
// DEVIATION HPCC section 4.1: it stands behind the IP packet, in front of the FCS, not in front of the BTH. So neither
// the IP length nor RoCEv2's ICRC changes on the way, MTUs do not count it, and analyzers show it as the frame's
// trailer. The frame is as long as the paper's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/path_telemetry.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
//  +-------+-----------------------+
//  | nHop  |        pathID         |
//  +-------+-----------------------+
struct HpccInt {
  static constexpr std::size_t kOctets = PathTelemetry::kWireHeadOctets;
  using NHop = Field<0, 4>;
  using PathId = Field<4, 12>;
};
static_assert(tiles<HpccInt::kOctets, HpccInt::NHop, HpccInt::PathId>());

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------+-----------------------------------------------+-------+
//  |   B   |                      TS                       |       |
//  +-------+-----------------------+-----------------------+-------+
//  |            txBytes            |             qLen              |
//  +-------------------------------+-------------------------------+
struct HpccHop {
  static constexpr std::size_t kOctets = PathTelemetry::kWireHopOctets;
  using B = Field<0, 4>;         // which of kHpccRates; 0: another one
  using Ts = Field<4, 24>;       // ns
  using TxBytes = Field<28, 20>;  // in units of 128 octets
  using QLen = Field<48, 16>;     // in units of 80 octets
};
static_assert(tiles<HpccHop::kOctets, HpccHop::B, HpccHop::Ts, HpccHop::TxBytes, HpccHop::QLen>());

// The codes of B, Gb/s. DEVIATION: the paper does not say its own.
inline constexpr std::array<std::uint32_t, 16> kHpccRates{0,  1,  5,   10,  20,  25,  40,   50,
                                                          56, 80, 100, 200, 400, 800, 1600, 3200};

// Writes telemetry.wire_octets() octets.
inline void write_hpcc_int(const PathTelemetry& telemetry, std::byte* out) noexcept {
  write<HpccInt::NHop>(out, telemetry.hops);
  write<HpccInt::PathId>(out, telemetry.path & HpccInt::PathId::kMax);
  out += HpccInt::kOctets;
  for (std::size_t i = 0; i < telemetry.hops; ++i, out += HpccHop::kOctets) {
    const HopTelemetry& h = telemetry.hop[i];
    constexpr std::uint32_t kGigabit = 1'000'000'000 / HopTelemetry::kRateBps;
    const auto code = h.rate % kGigabit != 0 ? kHpccRates.end()
                                             : std::find(kHpccRates.begin() + 1, kHpccRates.end(), h.rate / kGigabit);
    write<HpccHop::B>(out, code == kHpccRates.end() ? std::uint8_t{0}
                                                    : static_cast<std::uint8_t>(code - kHpccRates.begin()));
    write<HpccHop::Ts>(out, h.at_ns & HpccHop::Ts::kMax);
    write<HpccHop::TxBytes>(out, h.sent & HpccHop::TxBytes::kMax);
    write<HpccHop::QLen>(out, static_cast<std::uint16_t>(std::min<std::uint32_t>(h.queue, HpccHop::QLen::kMax)));
  }
}

}  // namespace railyard::wire
