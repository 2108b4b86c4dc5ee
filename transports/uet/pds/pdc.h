// A packet delivery context (PDC) at one of its ends (uet §5, §7). Both directions are at both ends: messages go one
// way, what a target reads for its initiator the other.
//
// Initiator: syn -> established -> quiesce -> closing -> free; target: established -> closing -> free (uet §5.14).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/gap_jitter.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/uet/congestion/congestion_control.h"
#include "transports/uet/congestion/credit_pacer.h"
#include "transports/uet/congestion/rccc.h"
#include "transports/uet/ids.h"
#include "transports/uet/multipath/path_selector.h"
#include "transports/uet/pds/path_probes.h"
#include "transports/uet/pds/receive_window.h"
#include "transports/uet/pds/reorder_window.h"
#include "transports/uet/pds/sent_packets.h"
#include "transports/uet/ses/response.h"
#include "transports/uet/wire/pds_cp.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

enum class PdcState : std::uint8_t {
  kFree,
  kSyn,  // initiator: the target's PDCID is not known
  kEstablished,
  kQuiesce,  // initiator: takes no more messages, and closes when it is done
  kClosing   // CLOSE_CMD sent; target: CLOSE_REQ sent
};

// An answer, or a control packet that takes no PSN, which waits to be sent.
struct PendingControl {
  enum class Kind : std::uint8_t { kAck, kNack, kCp };
  Kind kind = Kind::kAck;
  CtlType ctl = CtlType::kNoop;
  NackCode code = NackCode::kNoResource;
  bool m = false;
  bool retx = false;
  bool probed = false;       // kAck: answers a PROBE, and SACK begins at `psn`
  bool no_response = false;  // kAck: of a control packet
  bool may_merge = false;    // kAck: for the count only, so that a later one says all that it says
  std::uint16_t opaque = 0;
  std::uint16_t entropy = 0;
  Psn psn{};  // that is answered, or asked about
  std::uint32_t payload = 0;
  Instant arrived{};
  Response response{};
};

// A response that is guaranteed, or one that is not there yet.
struct StoredResponse {
  Psn psn{};
  bool ready = true;
  Response response{};
};

struct Pdc {
  PdcId id{};
  std::uint16_t remote = 0;  // PDCID of the other end; 0: not known
  PeerId peer{};
  PdcState state = PdcState::kFree;
  DeliveryMode mode = DeliveryMode::kRud;
  bool initiator = false;
  std::uint8_t lane = 0;
  std::uint8_t data_class = 0;  // of its data; at a target that of the packet that has opened it
  Psn start{};

  // ---- Sending ----
  SentPackets sent;
  CongestionControl congestion;
  std::optional<Rccc> credit{};  // of the receiver; nullopt: it sends without
  std::int64_t backlog = 0;      // octets of requests that were not sent yet
  Instant credit_at = Instant::never();  // credit is asked for again, if none has come until then
  std::uint8_t credit_tries = 0;         // in a row
  Instant credit_since{};                // and has been waited for since
  Duration credit_takes{};               // how long lately: at once the longest, slowly less
  PathSelector paths;
  RngStream chance;
  std::uint64_t retransmitted = 0;  // packets
  Psn peer_cack{};               // the newest
  std::uint32_t peer_range = 0;  // MP_RANGE of the other end; 0: not said
  std::uint32_t last_rcvd = 0;   // rcvd_bytes of the newest ACK, in its unit
  // Losses by time (engine_losses.cc).
  ReorderWindow reorder;
  Instant newest_heard{};              // when the newest was sent of those that are known to have arrived
  Psn watched{};                       // one that was taken for lost: it may come after all;
  Instant watched_sent{};              // when it was sent, before it went again for the last time
  Instant watched_until{};             // 0: none is watched
  Instant late_at = Instant::never();  // what was overtaken is looked at again
  Instant tail_at = Instant::never();  // nothing was heard for so long that the tail may be lost
  std::uint8_t tail_tries = 0;         // in a row
  bool any_passed = false;             // lossless class: some packet is `passed`
  Instant look_from{};                 // and is not looked for before
  PathProbes path_probes;
  // Sprayed lossless class: when the first PROBEs of a silence were asked for, and how many have come back since or have
  // not; what was sent before `spread_passed` has been passed by enough of them.
  Instant spread_from{};
  Instant spread_passed{};
  std::uint32_t spread_answered = 0;
  std::uint32_t spread_missing = 0;
  bool goes_after_timeout = false;     // nothing has gone again since the last one
  bool one_beyond_window = false;      // the next that goes again does not wait for congestion control
  bool recovering = false;  // a PROBE has found losses; until everything before `recovery_end` is acknowledged
  Psn recovery_end{};
  Psn often_cut{};                // the oldest packet, when it had been cut as often as is counted,
  Instant often_cut_at{};         // and since when; 0: none has
  std::uint8_t timeouts = 0;      // in a row
  std::uint16_t setup_tries = 0;  // NACKs for want of a PDC
  std::uint8_t backoffs = 0;      // NACKs that asked for another try, in a row
  Instant blocked_until{};        // no data before
  // When the oldest packet that is not acknowledged is looked at: it may have been sent again since, or acknowledged.
  Instant rto_at = Instant::never();
  Duration answer_takes{};  // how long packets lately waited for their own ACK: at once the longest, slowly less
  // When something was heard last, or timed out, or went again after that; or the time of the oldest packet when the
  // first try of a tail was made.
  Instant rto_from{};
  Instant heard_at{};  // when something new was heard of its packets last, or the first of them was sent
  Instant asked_at{};  // when an acknowledgement was asked for, or the first sent of those that are outstanding
  // The first packet that asked for one and is not acknowledged with all before it; before una(): there is none.
  Psn asking{};
  Instant asking_since{};
  std::uint32_t unasked = 0;  // octets that were sent since
  Instant probe_at = Instant::never();
  std::uint16_t probe = 0;  // number of the last PROBE of those that ask for all,
  std::uint16_t probes = 0;  // and of all
  Instant probed_at{};
  bool probing = false;
  bool clear_due = false;        // the other end waits for a CLEAR
  bool waits_for_close = false;  // target: CLOSE_REQ was sent
  Psn close_psn{};
  bool retired = false;    // initiator: takes no more messages
  bool close_due = false;  // CLOSE_CMD, or of a target CLOSE_REQ, is to be sent
  // An initiator that waits for data of READs asks with NOOPs whether the target is still there.
  bool noop_due = false;                  // one is to be sent
  std::uint8_t noops = 0;                 // since the last data; how often the time between them has doubled
  Instant give_up_at = Instant::never();  // they are answered, but no data comes
  Instant next_data{};
  BitRate rate{};  // of its data on the wire; 0: no limit
  GapJitter gaps;  // at that rate

  // ---- Receiving ----
  ReceiveWindow window;
  CreditLine grants;               // to the other end
  std::uint64_t rcvd_octets = 0;   // of packets that were taken
  std::uint32_t ack_octets = 0;    // since the last ACK
  bool ar_waits = false;           // a packet that wanted an ACK came behind a gap,
  Psn last_ar{};                   // this one
  bool ooo_told = false;           // ROD: the gap was NACKed
  std::uint32_t last_message = 0;  // of the packet that came last: what a default response names
  std::uint32_t last_job = 0;
  std::uint16_t last_entropy = 0;
  std::optional<std::uint16_t> ack_entropy{};  // of the last ACK that was sent
  std::vector<StoredResponse> stored;
  RingQueue<PendingControl> control;

  // ---- Messages ----
  RingQueue<std::uint32_t> messages;   // not wholly sent; the first is being sent
  std::uint32_t open_messages = 0;     // not complete
  std::uint16_t message_id = 0;        // the last one given
  std::vector<std::uint32_t> begun;    // initiator: messages that have a message_id
  std::uint32_t reads_in_flight = 0;   // initiator: READ requests whose data is not here
  std::optional<ContextId> reader{};   // initiator: who has posted the newest READ
  RingQueue<std::uint32_t> read_jobs;  // target: READs whose data was not sent yet
  std::uint32_t open_read_jobs = 0;
  std::vector<std::uint32_t> inbound;  // target: messages of which something has come
  Instant halves_at = Instant::never();  // and when the next of them may have been idle for too long

  // ---- The engine's ----
  bool in_control_line = false;
  bool in_data_line = false;
  Instant timer_at = Instant::never();
  Instant idle_since{};

  bool is_rod() const noexcept { return mode == DeliveryMode::kRod; }
  bool live() const noexcept { return state != PdcState::kFree; }
  // Everything is done that was to be done.
  bool idle() const noexcept {
    return open_messages == 0 && messages.empty() && sent.empty() && read_jobs.empty() && open_read_jobs == 0;
  }
  // Octets to be sent, for the first time or again, where what is not counted is full packets of `packet`.
  std::int64_t to_send(std::uint32_t packet) const noexcept {
    return backlog + static_cast<std::int64_t>(read_jobs.size() + sent.lost()) * packet;
  }
  // Whether the receiver's credit lets a packet go. Without knowing this end it cannot grant any: then one at a time goes.
  bool has_credit() const noexcept {
    return !credit || credit->allows() || (remote == 0 && initiator && !sent.any_in_flight());
  }
  // No data goes before.
  Instant data_from() const noexcept { return std::max({next_data, blocked_until, congestion.next_at()}); }
  // An initiator has sent all that may be sent, and all of it is acknowledged: what is missing, data of READs, is the
  // target's to send.
  bool waits_for_peer() const noexcept { return initiator && reads_in_flight > 0 && sent.empty() && !in_data_line; }
  bool is_asked() const noexcept { return asking - sent.una() >= 0; }
  // A packet with this PSN, or one about it, asks for an acknowledgement.
  void asks(Instant now, Psn psn) noexcept {
    if (!is_asked()) {
      asking = psn;
      asking_since = now;
    }
    asked_at = now;
    unasked = 0;
  }
  // It has come, or more was asked for.
  void hears_of_reads() noexcept {
    noop_due = false;
    noops = 0;
    give_up_at = Instant::never();
  }
  StoredResponse* find_stored(Psn psn) noexcept {
    for (StoredResponse& s : stored)
      if (s.psn == psn) return &s;
    return nullptr;
  }
  // An ACK that only this packet's last transmission can have brought about came `took` (> 0) after it.
  void hear_answer(Duration took) noexcept {
    constexpr std::int64_t kWeight = 8;  // RFC 6298 §2.3
    answer_takes = took > answer_takes ? took : answer_takes - (answer_takes - took) / kWeight;
  }
  // The initiator has the responses up to `psn`.
  void clear_to(Psn psn) noexcept {
    if (!window.clear(psn)) return;
    std::erase_if(stored, [&](const StoredResponse& s) { return s.psn - psn <= 0; });
  }
};

}  // namespace railyard::uet
