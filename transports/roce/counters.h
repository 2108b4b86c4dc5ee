// What a RoCE engine counts. Names that hardware counters have, they have here, too (roce-and-lossless §16).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/base/counter.h"
#include "dataplane/base/state_archive.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce {

// Why a packet that came was of no use. Each one is counted once: received = taken + dropped by reason.
enum class Drop : std::uint8_t {
  kMalformed,  // by reason in Counters::malformed
  kNotRoce,    // not UDP to port 4791, or lengths that contradict each other
  kTrimmed,    // cut by a switch
  kIcrc,       // rx_icrc_encapsulated
  kUnknownQp,
  kWrongTransport,  // the opcode is of another kind of QP
  kWrongState,      // the QP takes no such packet now
  kWrongPeer,       // from or to another address than the QP's
  kPKey,
  kQKey,
  kOutOfSequence,   // a request beyond the expected PSN
  kDuplicate,       // duplicate_request: answered, not executed again
  kStaleDuplicate,  // of a READ or atomic that the responder has forgotten
  kRnr,             // no receive request; answered by RNR NAK
  kRefused,         // answered by another NAK
  kGhost,           // a response to what is acknowledged, or was never sent
  kImpliedNak,      // a response that shows that one before it was lost
  kBadResponse,     // a response that its request does not have
  kNoReceive,       // UC, UD: no receive request
  kBrokenMessage,   // UC: of a message of which something is missing or wrong
  kTooLong,         // UD: more than the receive buffer holds
  kCount
};
inline constexpr std::size_t kDrops = static_cast<std::size_t>(Drop::kCount);
std::string_view name(Drop reason) noexcept;  // e.g. "out_of_sequence"

struct Counters {
  Counter sent_packets;
  Counter sent_payload_octets;
  Counter received_packets;
  Counter taken_packets;
  std::array<Counter, kDrops> dropped;
  std::array<Counter, kMalformedReasons> malformed;

  Counter retransmitted_packets;
  Counter packet_seq_err;  // NAKs PSN sequence error received
  Counter implied_nak_seq_err;
  Counter local_ack_timeout_err;
  Counter rnr_nak_received;
  Counter rnr_nak_retry_err;  // QPs in error for it
  Counter req_transport_retries_exceeded;
  Counter out_of_sequence;  // gaps that were answered by a NAK
  Counter out_of_buffer;    // RNR NAKs sent
  Counter duplicate_request;
  Counter placed_out_of_order;  // selective repeat: packets taken while others before them were missing
  Counter nak_sent;             // the fatal ones
  Counter np_ecn_marked_roce_packets;
  Counter np_cnp_sent;
  Counter rp_cnp_handled;
  Counter rp_cnp_ignored;

  // All of it, to or from another process.
  void exchange(StateArchive& archive) {
    archive(sent_packets, sent_payload_octets, received_packets, taken_packets, dropped, malformed, retransmitted_packets,
            packet_seq_err, implied_nak_seq_err, local_ack_timeout_err, rnr_nak_received, rnr_nak_retry_err,
            req_transport_retries_exceeded, out_of_sequence, out_of_buffer, duplicate_request, placed_out_of_order, nak_sent,
            np_ecn_marked_roce_packets, np_cnp_sent, rp_cnp_handled, rp_cnp_ignored);
  }

  std::uint64_t drops(Drop reason) const noexcept { return dropped[static_cast<std::size_t>(reason)].read(); }
  std::uint64_t all_drops() const noexcept {
    std::uint64_t sum = 0;
    for (const Counter& c : dropped) sum += c.read();
    return sum;
  }
};

}  // namespace railyard::roce
