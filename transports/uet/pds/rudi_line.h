// RUDI to one peer in one data class: packets that belong to no PDC, but share a way and so what congestion control
// keeps of it (uet §5.12: "still applies at the sender").
#pragma once

#include <cstdint>

#include "dataplane/base/ring_queue.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "transports/uet/congestion/congestion_control.h"
#include "transports/uet/ids.h"
#include "transports/uet/multipath/path_selector.h"
#include "transports/uet/pds/reorder_window.h"

namespace railyard::uet {

// One that is outstanding: sent, and not answered.
struct RudiPacket {
  std::uint32_t message = 0;
  std::uint32_t index = 0;   // of the message's packets
  std::uint32_t line = 0;    // RudiLine
  std::uint32_t octets = 0;  // as congestion control counts it
  Instant sent_first_at{};
  Instant sent_at{};  // the last time
  Instant deadline{};  // of its timeout, since it was sent first or timed out last
  Instant looked_at{};  // it is lost by then, or looked at again; not after `deadline`
  std::uint16_t entropy = 0;
  std::uint16_t generation = 0;
  static constexpr std::uint8_t kMostCounted = 255;
  std::uint8_t transmissions = 0;  // no further than kMostCounted
  std::uint8_t timeouts = 0;       // in a row
  bool lost = false;       // goes again
  bool timed_out = false;  // since it was sent last
  bool unclear = false;    // more than one of its retransmissions may have arrived
  bool used = false;
};

struct RudiLine {
  PeerId peer{};
  std::uint8_t data_class = 0;
  bool used = false;
  bool in_line = false;           // stands in line to send
  bool waits_for_number = false;  // as many RUDI packets are outstanding as there are numbers
  std::uint32_t outstanding = 0;
  std::uint32_t in_flight = 0;  // of those, not lost
  CongestionControl congestion;
  // Losses by time (engine_losses.cc).
  ReorderWindow reorder;
  Instant newest_heard{};  // when the newest was sent of those that are answered
  RngStream chance;
  PathSelector paths;
  RingQueue<std::uint32_t> messages;       // not wholly sent; the first is being sent
  RingQueue<std::uint32_t> again;          // packets that are lost; some may have been answered since
  Instant paced_until = Instant::never();  // waits for its time to send; never: does not
  Instant idle_since{};
  Instant looked_at = Instant::never();  // when it is looked at whether it was idle for long

  bool idle() const noexcept { return outstanding == 0 && messages.empty(); }
};

}  // namespace railyard::uet
