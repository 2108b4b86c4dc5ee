// A frame in an egress queue.
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.h"

namespace railyard {

// With what must be released when its last octet has left: by then the packet belongs to somebody else.
struct QueuedFrame {
  static constexpr std::uint16_t kNoOrigin = 0xFFFF;

  QueuedFrame() = default;
  QueuedFrame(Packet* p, std::uint32_t n, std::uint16_t in_cells, std::uint16_t from, unsigned its_notes = 0) noexcept
      : packet(p), octets(n), cells(in_cells & 0x3FFFu), notes(its_notes & 3u), origin(from) {}

  Packet* packet;
  std::uint32_t octets;
  std::uint16_t cells : 14;  // of the device's buffer
  // What is to be noted when it departs, so that a departure need not look at a packet that has waited for long:
  enum Note : std::uint8_t { kSampled = 1, kTelemetry = 2 };  // Packet::sampled, Packet::telemetry
  std::uint16_t notes : 2;
  std::uint16_t origin;      // ingress priority group that it is charged to; kNoOrigin: to none
};

}  // namespace railyard
