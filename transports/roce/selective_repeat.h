// Selective repeat, a setting of an RC QP beside go-back-N: what was lost goes again, and nothing else. After IRN
// (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018; roce-and-lossless §7.1). Both ends must be set
// so.
//
// DEVIATION IBTA Vol 1 chapter 9: no standard has it, so its packets are of a transport of their own, 110 in the
// opcode's bits 7..5, which are the manufacturers': nobody takes them for RC. The operations are those of RC; what is
// more:
//
//   SEND*, WRITE*      BTH | SRETH | RETH of the whole message, in every packet of a WRITE | ImmDt, IETH | payload
//   Acknowledge        BTH | AETH | SACKETH
//   all others         as RC
//
// SRETH (wire/sr_eth.h) says where in which message a packet is, so that it can be placed whatever is missing before
// it. A NAK "PSN sequence error" answers every request that comes out of order: BTH.PSN is the cumulative one, all
// before it is there; SACKETH.PSN the request's that came. In all other acknowledgements SACKETH.PSN is BTH.PSN.
//
// DEVIATION from the paper:
// - READ responses have no PSNs of their own and are not acknowledged: as in RC the READ reserves them, and the
// requester
//   asks again for each run of them that is missing, by a READ request for that run. So a READ longer than the cap is
//   not held to it.
// - `reorder_packets` (the paper's discussion of §7 has a threshold, too): with 1 it is the paper's.
// - While it gets over a timeout, an acknowledgement that leaves something of before unacknowledged sends the next such
//   packet at once (as NewReno, RFC 6582 §3.2 step 3), not after one more timeout.
//
// DEVIATION IBTA Vol 1 §9.5 (ordering): what two WRITEs under way at a time put in the same place may end as either's,
// and a WRITE may overtake a READ of the same place; a fence, or waiting for the completion, keeps them apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard::roce {

struct SelectiveRepeatConfig {
  // BDP-FC: packets that may be sent and not acknowledged; >= 1. The paper's for 40 Gb/s and 24 us.
  std::uint32_t bdp_packets = 110;
  // Both ends: how far beyond the first missing one packets are taken; at least the peer's bdp_packets. Rounded up to a
  // power of two, 64..kMostWindow.
  std::uint32_t window_packets = 512;
  // A packet is taken for lost when one that was sent so many later has arrived; >= 1. As long as packets overtake each
  // other by less, none goes again for it.
  std::uint32_t reorder_packets = 3;
  // The retransmission timeout: low with at most `rto_low_packets` in flight (N of the paper), else high. The QP's own
  // `timeout` counts only when it is 0: then there is none.
  Duration rto_low{100'000'000};
  Duration rto_high{320'000'000};
  std::uint32_t rto_low_packets = 3;

  static constexpr std::uint32_t kMostWindow = 1u << 15;
  bool operator==(const SelectiveRepeatConfig&) const = default;

  // window_packets as it is used.
  constexpr std::uint32_t window() const noexcept {
    return std::bit_ceil(std::clamp(std::max(window_packets, bdp_packets), 64u, kMostWindow));
  }
};

}  // namespace railyard::roce
