// What a device has counted, as plain numbers: the content of a snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/device/class_counters.h"
#include "dataplane/device/port_classes.h"

namespace railyard {

// Link-level retry, in the direction that this device sends.
struct LinkRetryCounters {
  bool on = false;            // the link has it
  std::uint64_t frames = 0;   // that came through after one replay or more, MAC control included
  std::uint64_t replays = 0;  // transmissions that came in wrong
  Duration late{};            // of those frames together: from the first start to that which came through
  Duration least_late{};      // ... and of one; 0 while there is none
  Duration most_late{};

  Duration mean_late() const noexcept {
    return frames == 0 ? Duration{} : Duration{late.ps / static_cast<std::int64_t>(frames)};
  }
  // With those of another port.
  void add(const LinkRetryCounters& other) noexcept;
};

struct PortCounters {
  PortClasses classes;
  std::uint64_t rx_control = 0;  // MAC control frames; not among the class counters (RFC 3635 §3.2.8)
  std::uint64_t tx_control = 0;
  std::uint64_t quality_reports_sent = 0;  // of these, reports for global load balancing (switches only)
  std::uint64_t quality_reports_received = 0;
  std::uint64_t credit_messages_sent = 0;  // of these, of credit-based flow control (CBFC), and
  std::uint64_t credit_octets_sent = 0;    // ... the wire time of these
  std::uint64_t credit_messages_received = 0;
  std::uint64_t delivered = 0;  // frames taken from the wire, control included
  std::uint64_t lost = 0;       // frames that never arrived: the link went down, or a fault of the link took them
  std::uint64_t lost_to_faults = 0;  // of these, the latter
  std::uint64_t duplicated = 0;      // frames that a fault of the link has made
  std::uint64_t misclassified = 0;   // frames that a fault has put into a class not theirs (switches only)
  std::uint64_t held_back = 0;       // frames that faults of the link hold back: still on their way
  LinkRetryCounters llr;
  DropCounts drops{};           // frames dropped before they had a class

  std::uint64_t rx_packets() const noexcept;
  std::uint64_t rx_octets() const noexcept;
  std::uint64_t tx_packets() const noexcept;
  std::uint64_t tx_octets() const noexcept;
  std::uint64_t dropped() const noexcept;
};

// What a switch has sent each of several equal next hops, by choice among them.
struct PathGroupCounters {
  struct Member {
    PortIndex port;
    std::uint64_t packets = 0;
    std::uint64_t octets = 0;
  };
  std::vector<Member> members;
};

class StateArchive;
void exchange(StateArchive& archive, PortCounters& port);
void exchange(StateArchive& archive, PathGroupCounters& group);

// The books of a device: received + generated = sent + consumed + dropped + queued. "Sent" counts at the start of
// transmission, "received" when a frame takes effect.
struct DeviceCounters {
  std::string name;
  Instant at{};
  std::vector<PortCounters> ports;
  std::uint64_t generated = 0;         // frames made here (traffic, replies, MAC control)
  std::uint64_t consumed = 0;          // frames that ended here as they should
  std::uint64_t queued = 0;            // frames held
  std::uint64_t buffer_cells = 0;      // of the buffer in use (switches only), and
  std::uint64_t max_shared_cells = 0;  // ... the most ever of its shared part
  std::vector<PathGroupCounters> path_groups;  // with at least two members (switches only)

  std::uint64_t received() const noexcept;
  std::uint64_t sent() const noexcept;
  std::uint64_t dropped() const noexcept;
  bool balanced() const noexcept { return received() + generated == sent() + consumed + dropped() + queued; }

  // All of them, to or from another process.
  void exchange(StateArchive& archive);
};

}  // namespace railyard
