// The requesting half of an RC or UC QP: work requests become packets, and responses completions
// (roce-and-lossless §5.2, §5.3, §5.7..§5.9; UC §5.13).
//
//   oldest                 cursor                    newest
//   | acknowledged in part | sent in part | not begun |      the send queue
//   una .................. next .. fresh                     PSNs: oldest not acknowledged, next to send, never sent
//
// Without loss `next` is `fresh`. Go-back-N sets `next` back to `una` and sends the same packets again. With selective
// repeat `next` is always `fresh`, and a Scoreboard says what goes again (requester_selective.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include "dataplane/base/ring_queue.h"
#include "transports/roce/congestion/congestion_control.h"
#include "transports/roce/nic_state.h"
#include "transports/roce/psn.h"
#include "transports/roce/qp_info.h"
#include "transports/roce/retry_timer.h"
#include "transports/roce/scoreboard.h"
#include "transports/roce/wire/syndrome.h"
#include "transports/roce/work_request.h"

namespace railyard::roce {

class Requester {
 public:
  // At most `most_wrs` work requests wait or are under way. Both references outlive it.
  Requester(NicState& nic, QpInfo& qp, std::size_t most_wrs) : nic_(nic), qp_(qp), most_wrs_(most_wrs) {
    if (qp.selective) scoreboard_ = std::make_unique<Scoreboard>(*qp.selective);
  }

  // In RTS, SQD, SQE or ERR, see takes_sends(); the engine flushes when it has to.
  std::expected<void, PostError> post(const SendWr& wr);

  // RTR -> RTS: begins at the attributes' sq_psn.
  void start() noexcept;
  // To RESET: forgets everything, without completions.
  void reset() noexcept;
  // Every work request completes with WR_FLUSH_ERR.
  void flush() noexcept;

  // Whether next() would give a packet at `now`.
  bool ready(Instant now) const noexcept;
  // The next packet of one that is ready. False: there is none after all (and maybe failed()).
  bool next(Instant now, OutPacket& out);

  // Responses to what was sent. nullopt: taken.
  std::optional<Drop> on_acknowledge(Instant now, const Packet& packet) noexcept;
  std::optional<Drop> on_read_response(Instant now, const Packet& packet, const PayloadRef& payload) noexcept;
  std::optional<Drop> on_atomic_acknowledge(Instant now, const Packet& packet) noexcept;

  // When on_timer() wants to be called: the end of the ACK timeout or of an RNR delay; never(): not at all.
  Instant deadline() const noexcept { return rnr_until_ < ack_deadline_ ? rnr_until_ : ack_deadline_; }
  void on_timer(Instant now) noexcept;

  // For congestion control: what was heard since the last call, and how many packets may be in flight besides what the
  // settings say. Round trips are measured from the first call of set_window() on.
  Heard take_heard(Instant now) noexcept;
  void set_window(std::uint32_t packets) noexcept { congestion_window_ = packets; }

  // A work request completed with an error: the QP leaves RTS.
  bool failed() const noexcept { return failed_; }
  // Everything that was begun is complete: what SQD waits for.
  bool drained() const noexcept { return sq_.empty() || !sq_[0].begun; }
  // The credits of the last ACK: the greatest SSN that may take a receive request of the peer; nullopt: no limit.
  std::optional<Ssn> credit_limit() const noexcept { return credit_limit_; }

  // Fetches what the next packet is made of: up to the first piece of memory.
  void prefetch_next() const noexcept {
    if (cursor_ >= sq_.size()) return;
    const Wqe& wqe = sq_[cursor_];
    __builtin_prefetch(&wqe);
    __builtin_prefetch(wqe.wr.sges.begin());
  }

  // Where that begins which few packets touch.
  const void* cold() const noexcept { return &most_wrs_; }

  std::size_t posted() const noexcept { return sq_.size(); }
  Psn una() const noexcept { return una_; }
  Psn next_psn() const noexcept { return next_; }
  Psn next_new_psn() const noexcept { return fresh_; }  // of packets that were not sent before

 private:
  // Of a SendWr that is RC's or UC's; what each packet is made of first.
  struct Posted {
    Posted() = default;
    explicit Posted(const SendWr& wr) noexcept
        : wr_id(wr.wr_id),
          opcode(wr.opcode),
          signaled(wr.signaled),
          solicited(wr.solicited),
          fence(wr.fence),
          immediate(wr.immediate),
          remote_address(wr.remote_address),
          r_key(wr.r_key),
          sges(wr.sges),
          compare(wr.compare),
          swap_add(wr.swap_add),
          access(wr.access),
          zero_based(wr.zero_based),
          own_window(wr.own_window) {}

    std::uint64_t wr_id = 0;
    SendOpcode opcode = SendOpcode::kSend;
    bool signaled = true, solicited = false, fence = false;
    std::uint32_t immediate = 0;
    std::uint64_t remote_address = 0;
    std::uint32_t r_key = 0;
    SgeList sges{};
    std::uint64_t compare = 0, swap_add = 0;
    AccessSet access{};
    bool zero_based = false, own_window = false;
  };
  struct alignas(64) Wqe {
    std::uint32_t octets = 0;  // of the message
    std::uint32_t psns = 1;    // how many it takes; 0: it is local
    bool begun = false;        // has PSNs
    bool replied = false;      // READ: something of this request's answer has come
    // Selective repeat, READ and atomic: of the request, as Scoreboard's bits, which are those of the responses.
    bool arrived = false;
    bool again = false;
    Psn first{};
    Ssn ssn{};
    std::uint32_t receive_number = 0;  // of SrEth
    Posted wr{};

    Psn past() const noexcept { return first + psns; }
  };

  bool reliable() const noexcept { return qp_.type == QpType::kRc; }
  std::uint32_t window() const noexcept;
  bool may_begin(const Wqe& wqe) const noexcept;
  void begin(Wqe& wqe) noexcept;
  bool pass_local();
  WcStatus perform(const Posted& wr);
  bool fill(const Wqe& wqe, Psn psn, std::uint32_t psns, OutPacket& out);
  void fill_headers(const Wqe& wqe, std::uint32_t index, std::uint32_t psns, bool last, Packet& packet) const noexcept;
  bool wants_ack(const Wqe& wqe, bool last) noexcept;
  void sent(Instant now, const Wqe& wqe, bool last, bool asks) noexcept;
  void fail_when_oldest() noexcept;

  bool is_outstanding(Psn psn) const noexcept { return psn - una_ >= 0 && psn - fresh_ < 0; }
  bool acknowledge_before(Instant now, Psn end) noexcept;
  void progress(Instant now) noexcept;
  void arm(Instant now) noexcept;
  bool awaits_answer() const noexcept;
  void note_sent(Instant now, Psn end, bool asks) noexcept;
  void begin_sample(Instant now, const Wqe& wqe) noexcept;
  void note_timed_answer(Instant now, const Packet& packet) noexcept;
  void rewind() noexcept;
  void go_back() noexcept;
  void implied_nak() noexcept;
  void on_rnr(Instant now, std::uint8_t code) noexcept;
  void note_credits(const Packet& packet) noexcept;
  std::optional<Drop> on_nak(Instant now, const Packet& packet, NakCode code) noexcept;
  Wqe* answered(Instant now, Psn psn, bool atomic) noexcept;

  // Selective repeat:
  Duration selective_timeout() const noexcept;
  Wqe* wqe_of(Psn psn) noexcept;
  bool executed(const Wqe& wqe) const noexcept { return scoreboard_->cumulative - wqe.first > 0; }
  bool next_lost(Instant now, OutPacket& out);
  void look_for_lost() noexcept;
  bool look_in_message(Psn from, Psn end) noexcept;
  bool look_in_responses(const Wqe& wqe, Psn from) noexcept;
  void forget_again() noexcept;
  void advance(Instant now) noexcept;
  void pass(Psn end) noexcept;
  void send_all_again() noexcept;
  std::optional<Drop> on_selective_acknowledge(Instant now, const Packet& packet) noexcept;
  std::optional<Drop> on_selective_nak(Instant now, const Packet& packet, NakCode code) noexcept;
  std::optional<Drop> on_selective_response(Instant now, const Packet& packet, const PayloadRef& payload) noexcept;
  void on_selective_timeout() noexcept;

  void complete_oldest(WcStatus status) noexcept;
  void fail(WcStatus status) noexcept;

  // What every packet touches.
  NicState& nic_;
  QpInfo& qp_;
  RingQueue<Wqe> sq_;
  std::size_t cursor_ = 0;  // of sq_: what `next_` is in; sq_.size(): everything was sent
  Psn una_{}, next_{}, fresh_{};
  Psn asked_{};  // behind the newest packet in flight that asks for an answer; una_ or before it: none does
  std::uint32_t since_ack_req_ = 0;
  std::uint32_t reads_ = 0;              // READs and atomics that are under way
  std::uint32_t congestion_window_ = 0;  // 0: none
  Instant ack_deadline_ = Instant::never();
  Instant rnr_until_ = Instant::never();
  std::unique_ptr<Scoreboard> scoreboard_;  // selective repeat only
  WcStatus stuck_ = WcStatus::kSuccess;     // why the work request at the cursor cannot be sent
  bool gone_back_ = false;                  // for a loss, and no progress since
  bool failed_ = false;
  // One packet's way there and back is timed at a time; none that was sent again (Karn), but for READs, see next().
  bool timing_ = false;
  bool timing_again_ = false;  // it is a READ from its middle on
  bool answers_twice_ = false;  // what was sent last before may still be answered: after a timeout
  bool heard_lost_ = false;
  bool heard_timeout_ = false;
  RetryCount retries_, rnr_retries_;
  // What fewer do.
  std::size_t most_wrs_;
  Ssn ssn_{};                         // of the work request that was begun last
  std::uint32_t receive_number_ = 0;  // of the next message that takes a receive request
  std::optional<Ssn> credit_limit_;
  Instant armed_at_{};  // the beginning of the timeout
  Psn timed_{};
  Instant timed_at_{};
  Duration timed_again_{};  // of the READ, for take_heard(); 0: none
  Psn heard_{};  // una_ when take_heard() was called last
};

}  // namespace railyard::roce
