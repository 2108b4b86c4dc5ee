// How a switch's packet buffer is divided: the numbers behind mmu.h.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/ids.h"
#include "dataplane/base/units.h"

namespace railyard {

// A dynamic threshold's share of the free shared memory: alpha = 2^exponent (as SAI stores it), -8..7.
struct Alpha {
  std::int8_t exponent = 0;

  static constexpr std::int8_t kLeast = -8;
  static constexpr std::int8_t kMost = 7;

  bool operator==(const Alpha&) const = default;
};

// One class (priority group on the way in, queue on the way out) of one port.
struct ClassBuffer {
  bool lossless = false;    // pause the sender instead of dropping
  Bytes reserved{};         // guaranteed to the ingress priority group
  Alpha alpha{0};           // of the group: its share of the free shared memory
  Bytes xoff{};             // a fixed limit in the place of alpha; 0: use alpha
  Bytes headroom{};         // lossless: holds what arrives after XOFF (headroom.h)
  Bytes xon_offset{18432};  // lossless: XON when this far below the XOFF threshold; two maximum frames by default
  Bytes credits{};          // lossless: the sender has credits for so much (CBFC) and is never paused; 0: it is (PFC)
  Bytes pooled_headroom{};  // lossless: what may come from the headroom pool beyond that
  Bytes queue_reserved{};   // guaranteed to the egress queue
  Alpha queue_alpha{0};     // lossy: the queue's share of the free shared memory
  Bytes queue_limit{};      // lossy: a fixed limit of the queue in the place of queue_alpha; 0: use queue_alpha

  bool operator==(const ClassBuffer&) const = default;
};

// The memory that all ports share.
struct BufferConfig {
  Bytes size{32 << 20};
  Bytes cell{256};  // memory is allocated in cells of this size, 64..4096
  Bytes headroom_pool{};  // of `size`, shared by the lossless groups that have used up their own headroom
};

// What can be wrong with a class's numbers by themselves. `where` names the class in the message.
std::expected<void, std::string> validate(const ClassBuffer& config, const std::string& where);
std::expected<void, std::string> validate(const BufferConfig& config, const std::string& where);

}  // namespace railyard
