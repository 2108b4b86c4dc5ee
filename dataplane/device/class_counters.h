// What one priority of one port has counted, as plain numbers.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/device/drop_counts.h"

namespace railyard {

class StateArchive;

// One priority of one port. Octets are of frames with FCS.
struct ClassCounters {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_octets = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_octets = 0;
  std::uint64_t ecn_marked = 0;  // CE set here, on the way out of this port
  std::uint64_t trimmed = 0;     // for this queue, which had no room: sent on without their payload in another class
  std::uint64_t xoff_sent = 0;   // PFC frames with a pause time, refreshes included
  std::uint64_t xon_sent = 0;    // PFC frames with time 0
  std::uint64_t xoff_received = 0;
  std::uint64_t xon_received = 0;
  std::uint64_t pfc_not_enabled = 0;  // PFC requests that named this priority, for which PFC is not enabled: ignored
  // How long the peer had this priority of this port paused. Live: up to the last PFC frame, or the end of the pause.
  Duration paused{};
  Duration stalled{};  // how long its first frame waited for credits (CBFC). Live: of waits that are over
  std::uint64_t storms_detected = 0;  // by the PFC watchdog (switches only)
  std::uint64_t storms_restored = 0;
  // Switches only: when this egress queue first marked a frame CE, and when an ingress group behind it first went over
  // its XOFF threshold. Instant::never(): not yet.
  Instant first_ce = Instant::never();
  Instant first_xoff = Instant::never();
  std::uint64_t depth_octets = 0;  // egress queue now, with the frame in transmission
  std::uint64_t max_depth_octets = 0;
  std::uint64_t ingress_cells = 0;      // of the buffer, held by frames that came in here, and
  std::uint64_t max_ingress_cells = 0;  // ... the most ever (switches only)
  std::uint64_t headroom_cells = 0;
  std::uint64_t max_headroom_cells = 0;
  DropCounts drops{};
  DropCounts rdma_drops{};  // of these, frames of RoCEv2 and UET; not those of traffic generators

  bool operator==(const ClassCounters&) const = default;
};

void exchange(StateArchive& archive, ClassCounters& counters);

}  // namespace railyard
