// What a UET engine counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/base/counter.h"
#include "dataplane/base/state_archive.h"
#include "transports/uet/security/security_drop.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/malformed.h"
#include "transports/uet/wire/nack_code.h"

namespace railyard::uet {

// Why a packet that came was of no use. Each one is counted once: received = taken + dropped by reason.
enum class Drop : std::uint8_t {
  kMalformed,        // by reason in Counters::malformed
  kNotUet,           // by reason in Counters::not_uet
  kTrimmed,          // cut by a switch; a request is answered by NACK TRIMMED
  kUnknownPdc,       // to a PDCID that nobody has
  kWrongPeer,        // from another address or PDCID than the PDC's
  kModeMismatch,     // RUD on a PDC for ROD, or the other way round
  kInvalidSyn,       // does not open a PDC, or another than the one that is there
  kClosedPdc,        // of a PDC that was closed not long ago
  kNoPdc,            // there is no room for another
  kDuplicate,        // answered again, not executed
  kOutOfWindow,      // a PSN that nobody may send now
  kRodOutOfOrder,    // ROD: something before it is missing
  kNoResource,       // answered by a NACK that asks for another try
  kGhostAck,         // of what was never sent
  kGhostNack,        // of what is acknowledged, or was never sent
  kUnexpected,       // a control packet that this end has no use for
  kUnknownPacketId,  // RUDI: a response that nobody waits for
  kNoMatch,          // UUD: nobody waits for it
  kNoPeer,           // from an address that is not known, and no other can be
  kSecurity,         // by reason in Counters::security
  kCount
};
inline constexpr std::size_t kDrops = static_cast<std::size_t>(Drop::kCount);
std::string_view name(Drop reason) noexcept;  // e.g. "out_of_window"

struct Counters {
  Counter sent_packets;
  Counter sent_payload_octets;
  Counter received_packets;
  Counter taken_packets;
  std::array<Counter, kDrops> dropped;
  std::array<Counter, kMalformedReasons> malformed;
  std::array<Counter, kNotUetReasons> not_uet;

  Counter secured_packets_sent;      // encrypted
  Counter secured_packets_received;  // authentic
  std::array<Counter, kSecurityDrops> security;

  Counter pdcs_opened;  // of both ends
  Counter pdcs_closed;  // in order
  Counter pdcs_failed;  // in error
  Counter acks_sent;
  Counter acks_received;
  std::array<Counter, 256> nacks_sent;  // by NackCode
  std::array<Counter, 256> nacks_received;
  Counter retransmitted_packets;
  Counter retransmission_timeouts;
  Counter inferred_losses;  // packets
  Counter probes_sent;
  Counter credits_sent;             // CREDIT packets, and ACKs in place of them
  Counter credits_received;         // grants of more
  Counter credit_requests_sent;     // CREDIT_REQ packets
  Counter credit_requests_received;
  Counter speculative_packets;      // sent by the first credit, before anything was heard
  Counter ecn_marked_packets;   // received
  Counter ecn_marked_acks;      // received, that is, packets of ours that were marked
  Counter placed_out_of_order;  // packets taken while others before them were missing

  // All of it, to or from another process.
  void exchange(StateArchive& archive) {
    archive(sent_packets, sent_payload_octets, received_packets, taken_packets, dropped, malformed, not_uet, pdcs_opened,
            pdcs_closed, pdcs_failed, acks_sent, acks_received, nacks_sent, nacks_received, retransmitted_packets,
            retransmission_timeouts, inferred_losses, probes_sent, credits_sent, credits_received,
            credit_requests_sent, credit_requests_received, speculative_packets, ecn_marked_packets, ecn_marked_acks,
            placed_out_of_order, secured_packets_sent, secured_packets_received, security);
  }

  std::uint64_t drops(Drop reason) const noexcept { return dropped[static_cast<std::size_t>(reason)].read(); }
  std::uint64_t drops(SecurityDrop reason) const noexcept { return security[static_cast<std::size_t>(reason)].read(); }
  std::uint64_t all_drops() const noexcept {
    std::uint64_t sum = 0;
    for (const Counter& c : dropped) sum += c.read();
    return sum;
  }
  std::uint64_t sent(NackCode code) const noexcept { return nacks_sent[static_cast<std::size_t>(code)].read(); }
  std::uint64_t received(NackCode code) const noexcept { return nacks_received[static_cast<std::size_t>(code)].read(); }
};

}  // namespace railyard::uet
