// The frame check sequence, IEEE 802.3 §3.2.9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/crc32.h"

namespace railyard::wire {

// The FCS of a whole frame, padding included; write_crc32() puts it behind the frame.
inline std::uint32_t fcs(std::span<const std::byte> frame) noexcept { return crc32(frame); }

}  // namespace railyard::wire
