// The payload of a frame: real octets, or a promise of them. The part of a frame that no switch looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace railyard {

// `octets` of payload starting at `offset` of stream `stream`. With `bytes` set they are real and lie there; without,
// they are synthetic: every octet is a function of (stream, offset), see payload_pattern.h, and is made only where
// somebody needs it (a capture, a port to the outside). Identity (stream, offset, octets) is what elided runs verify.
struct PayloadRef {
  std::uint64_t stream = 0;
  std::uint64_t offset = 0;
  std::uint32_t octets = 0;
  const std::byte* bytes = nullptr;

  bool synthetic() const noexcept { return bytes == nullptr && octets > 0; }
  std::span<const std::byte> real() const noexcept { return {bytes, bytes == nullptr ? 0 : octets}; }
};

}  // namespace railyard
