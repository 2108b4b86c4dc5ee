// What a JobID, PIDonFEP and resource index name at this end: where messages are received (uet §6.1, §6.3).
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/ring_queue.h"
#include "transports/base/memory_regions.h"
#include "transports/uet/ids.h"
#include "transports/uet/wire/ses_request.h"
#include "transports/uet/work_request.h"

namespace railyard::uet {

// A relative address names a context by all three: the JobID scopes the PIDonFEP, which another job may use for another
// context. An absolute one names it by PIDonFEP and resource index alone, as the end counts them whatever the job; the
// JobID then says who asks.
struct ContextInit {
  std::uint32_t job_id = 1;           // 24 bits; requests of other jobs are refused
  std::uint16_t pid_on_fep = 0;       // 12 bits
  std::uint16_t resource_index = 15;  // 12 bits; one for RMA, SEND and TAGGED alike
  bool any_job = false;               // by absolute addresses every job may ask, as of a service; else its own only
  std::uint32_t initiator = 0x10;     // what this end calls itself in its messages
  ProtectionDomain domain{};          // of the memory that it and its peers may touch
  CqId cq{};
  std::size_t most_receives = 4096;
  // Messages that nobody waits for yet, and their octets.
  std::size_t most_unexpected = 1024;
  std::uint64_t most_unexpected_octets = 64u << 20;
  bool truncates = true;  // a message longer than its buffer is cut; else refused: TOO_LONG

  bool operator==(const ContextInit&) const = default;
};

// Whether a receive takes a message.
constexpr bool matches(const RecvWr& wr, bool tagged, std::uint64_t match_bits, std::uint32_t initiator,
                       PeerId peer) noexcept {
  if (wr.tagged != tagged || (wr.initiator && *wr.initiator != initiator) || (wr.peer && *wr.peer != peer))
    return false;
  return !tagged || ((wr.match_bits ^ match_bits) & ~wr.ignore) == 0;
}

struct Context {
  ContextInit init;
  RingQueue<RecvWr> receives{};             // not tagged
  std::vector<RecvWr> tagged{};             // in the order of posting
  std::vector<std::uint32_t> unexpected{};  // messages, in the order of their first packets
  std::uint64_t unexpected_octets = 0;
};

}  // namespace railyard::uet
