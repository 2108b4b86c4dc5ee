// What is counted of one flow at its two ends, whatever generates it.
#pragma once

#include <cstdint>

#include "dataplane/base/histogram.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"

namespace railyard {

struct TxFlowCounters {
  std::uint64_t packets = 0;  // of payload; retransmissions count again
  std::uint64_t payload_octets = 0;
  Instant first = Instant::never();  // when the first frame was handed to the NIC
};

// What each packet changes comes first.
struct RxFlowCounters {
  std::uint64_t packets = 0;         // arrived, those of no use included
  std::uint64_t payload_octets = 0;  // of what is of use: seen for the first time, and taken by the transport
  std::uint64_t marked = 0;          // with CE
  Instant first = Instant::never();
  Instant last{};
  Instant until = Instant::never();  // the flow is asked to send until then
  std::uint64_t late_octets = 0;     // of payload_octets: what came at or after `until`
  Instant taken{};                   // when the last of payload_octets came that is not late
  Histogram latency;                 // ps from the first octet sent to the frame handed over
  // Without a transport: arrived a second time. Over RoCE and UET: copies that a fault has made; these are also taken
  // or in `discarded`.
  std::uint64_t duplicated = 0;
  std::uint64_t discarded = 0;  // of no use: out of sequence, or there already (UC, UUD: a message that came again)
  // Arrived behind a later one (RFC 4737 type-P-reordered; without a transport, and over UET's RUDI and UUD); over RUD
  // and ROD: taken while others before it were missing.
  std::uint64_t reordered = 0;
  // Payload, or its identity, not what was sent. Messages of a transport with real payload: once per message.
  std::uint64_t corrupted = 0;
  std::uint64_t trimmed = 0;  // arrived without their payload, copies left out; counted nowhere else

  // All of it, to or from another process.
  void exchange(StateArchive& archive) {
    archive(packets, payload_octets, marked, first, last, until, late_octets, taken, latency, duplicated, discarded,
            reordered, corrupted, trimmed);
  }

  // Of the packet that came at `last`.
  void take(std::uint64_t octets) noexcept {
    payload_octets += octets;
    if (last >= until) [[unlikely]]
      late_octets += octets;
    else
      taken = last;
  }
};

}  // namespace railyard
