// What is posted: messages to other ends, and buffers for theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transports/base/memory_regions.h"
#include "transports/uet/ids.h"
#include "transports/uet/wire/pds_type.h"
#include "transports/uet/wire/ses_extension.h"

namespace railyard::uet {

// A piece of local memory.
struct LocalBuffer {
  std::uint64_t address = 0;
  std::uint32_t octets = 0;
  MemoryRegions::Key key = 0;
};

enum class Operation : std::uint8_t {
  kSend,
  kTaggedSend,
  kWrite,
  kRead,
  kAtomic,          // nothing comes back
  kFetchingAtomic,  // the value before comes back; AtomicOpcode::kCswap.. compare
  kDatagram         // UUD: one packet
};
constexpr bool is_atomic(Operation o) noexcept { return o == Operation::kAtomic || o == Operation::kFetchingAtomic; }

// The longest message: the field has 32 bits; the limit is the reference provider's (uet §6.2).
inline constexpr std::uint32_t kMostMessageOctets = 0xFFFF'FFFE;

struct SendWr {
  std::uint64_t wr_id = 0;
  Operation operation = Operation::kSend;
  DeliveryMode mode = DeliveryMode::kRud;
  PeerId peer{};
  std::uint8_t lane = 0;  // messages of different lanes, or classes, do not share a PDC
  LocalBuffer local{};    // what is sent; where what is read goes
  bool signaled = true;   // wants a completion even when all is well
  // Whom at the peer: relative to the context's JobID, or absolute.
  bool relative = true;
  std::uint16_t pid_on_fep = 0;       // 12 bits
  std::uint16_t resource_index = 15;  // 12 bits
  std::uint64_t match_bits = 0;       // tagged
  std::uint64_t memory_key = 0;       // WRITE, READ, atomics: the region's MemoryRegions::Key, and bits of uet §6.1
  std::uint64_t buffer_offset = 0;    // from the beginning of that region
  std::optional<std::uint64_t> header_data{};  // comes with the completion at the target; of a WRITE makes one
  bool delivery_complete = false;              // SEND: not complete before it is in its buffer
  // Atomics; `operand` and `compare` have as many of the low octets as the type.
  AtomicOpcode atomic = AtomicOpcode::kSum;
  AtomicDatatype datatype = AtomicDatatype::kUint64;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::uint8_t data_class = 0;  // EngineConfig::other_classes
};

struct RecvWr {
  std::uint64_t wr_id = 0;
  LocalBuffer local{};
  bool tagged = false;
  // Tagged: takes messages whose match_bits are these but for those that `ignore` has.
  std::uint64_t match_bits = 0;
  std::uint64_t ignore = 0;
  std::optional<std::uint32_t> initiator{};  // from this one only
  std::optional<PeerId> peer{};              // from this end only
  // SENDs: not 0: takes several messages, one behind the other, as long as so many octets of it are left.
  std::uint32_t least_left = 0;
};

// Why something cannot be posted.
enum class PostError : std::uint8_t {
  kUnknownContext,
  kUnknownPeer,
  kNotSupported,  // the operation in this delivery mode
  kTooLong,
  kWrongLength,  // of an atomic: its type's
  kQueueFull
};
std::string_view name(PostError error) noexcept;

// Bits of a memory key besides the region's (uet §6.1, table 2-13).
inline constexpr std::uint64_t kIdempotentSafe = std::uint64_t{1} << 63;

}  // namespace railyard::uet
