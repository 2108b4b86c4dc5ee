// Which frames of a port a capture has.
#pragma once

#include <cstdint>

#include "dataplane/device/tap.h"

namespace railyard {

enum class CaptureDirection : std::uint8_t { kBoth, kIn, kOut };

// A drop without an egress queue is one of the receiving side.
constexpr bool is_inbound(const TapNote& note) noexcept {
  return note.event == TapNote::Event::kReceived || (note.event == TapNote::Event::kDropped && note.depth_octets < 0);
}

constexpr bool is_wanted(CaptureDirection direction, const TapNote& note) noexcept {
  return direction != (is_inbound(note) ? CaptureDirection::kOut : CaptureDirection::kIn);
}

}  // namespace railyard
