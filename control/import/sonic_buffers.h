// Buffers of priority groups and queues of a SONiC switch: BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/import/pg_profile_lookup.h"
#include "control/import/sonic_maps.h"

namespace railyard::importing {

// Of an ingress group at a port, in octets.
struct GroupBuffer {
  std::optional<int> alpha_exponent;  // dynamic_th: 2^n
  std::optional<std::int64_t> limit;  // static_th
  std::int64_t reserved = 0;
  std::optional<std::int64_t> headroom;    // lossless: xoff; nothing: nobody says
  std::optional<std::int64_t> xon_offset;  // lossless
  bool holds_headroom = false;             // its `size` is that of the headroom and what is reserved
  std::string profile;                     // where it comes from, to show
  const Row* row = nullptr;                // of BUFFER_PG

  bool same_as(const GroupBuffer& b) const {
    return alpha_exponent == b.alpha_exponent && limit == b.limit && headroom == b.headroom &&
           xon_offset == b.xon_offset;
  }
};

// Of an egress queue.
struct QueueBuffer {
  std::optional<int> alpha_exponent;
  std::optional<std::int64_t> limit;
  std::int64_t reserved = 0;
  bool trims = false;  // packet_discard_action: trim
  std::string profile;

  bool operator==(const QueueBuffer&) const = default;
};

// The packet memory: with a shared headroom pool that is smaller than what all groups may need, the pool; else the
// headroom of each group.
struct PacketMemory {
  std::optional<std::int64_t> buffer;  // nothing: nobody says
  std::int64_t headroom_pool = 0;
  std::string arithmetic;  // where the numbers come from
};

struct SonicBuffers {
  std::vector<std::array<std::optional<GroupBuffer>, kClasses>> groups;  // by port and class; nothing: nobody says
  std::array<std::optional<QueueBuffer>, kClasses> queues;               // as at most linked ports
  PacketMemory memory;
};

// Throws SpecError for names that are none, for thresholds that contradict each other, and for a class with PFC whose
// group has no headroom.
SonicBuffers read_buffers(const ConfigDb& db, const std::vector<SonicPort>& ports, const SonicMaps& maps,
                          const PgProfileLookup& lookup);

}  // namespace railyard::importing
