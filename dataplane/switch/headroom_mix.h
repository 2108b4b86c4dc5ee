// Which frames take most of a headroom.
#pragma once

#include <cstdint>

#include "dataplane/switch/headroom.h"

namespace railyard {

// Frames of one size that arrive while a pause takes effect, and the cells that they take.
struct HeadroomMix {
  std::int64_t frame = 0;       // octets, with FCS
  std::int64_t frames = 0;      // wire time / (frame + framing), rounded up
  std::int64_t cells_each = 0;  // frame / cell, rounded up
  std::int64_t cells() const noexcept { return frames * cells_each; }
};

// The size between least_frame and peer_frame that takes most cells of `cell` octets: headroom_cells() are these.
HeadroomMix worst_headroom_mix(const HeadroomTerms& terms, Bytes cell) noexcept;

}  // namespace railyard
