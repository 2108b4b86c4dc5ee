// Sending. What responses do is in requester_responses.cc.
#include "transports/roce/requester.h"

#include <algorithm>

#include "dataplane/base/assert.h"
#include "transports/roce/segmentation.h"
#include "transports/roce/wire/reth.h"

namespace railyard::roce {

std::expected<void, PostError> Requester::post(const SendWr& wr) {
  const bool read_or_atomic = is_read_or_atomic(wr.opcode);
  if (!reliable() && (read_or_atomic || wr.opcode == SendOpcode::kSendInv))
    return std::unexpected(PostError::kNotSupported);
  if (sq_.size() == most_wrs_) return std::unexpected(PostError::kQueueFull);
  const std::uint64_t octets = wr.sges.octets();
  if (octets > kMaxMessageOctets) return std::unexpected(PostError::kTooLong);
  if (is_atomic(wr.opcode) && octets != 8) return std::unexpected(PostError::kWrongLength);
  if (read_or_atomic && qp_.attributes.max_rd_atomic == 0) return std::unexpected(PostError::kNoReads);
  Wqe wqe{.octets = static_cast<std::uint32_t>(octets), .wr = Posted(wr)};
  wqe.psns = is_local(wr.opcode) ? 0 : is_atomic(wr.opcode) ? 1 : psns_of(wqe.octets, qp_.path_mtu);
  // A READ reserves all of its PSNs at once.
  if (wr.opcode == SendOpcode::kRead && wqe.psns > Psn::kMostAhead) return std::unexpected(PostError::kTooLong);
  sq_.push(wqe);
  return {};
}

void Requester::start() noexcept {
  una_ = next_ = fresh_ = heard_ = asked_ = Psn(qp_.attributes.sq_psn);
  timing_ = answers_twice_ = heard_lost_ = heard_timeout_ = false;
  timed_again_ = {};
  ssn_ = Ssn{};
  receive_number_ = 0;
  if (scoreboard_) scoreboard_->start(una_);
  retries_ = RetryCount(qp_.attributes.retry_cnt, nic_.config.retry_7_is_endless && qp_.attributes.retry_cnt == 7);
  rnr_retries_ = RetryCount(qp_.attributes.rnr_retry, qp_.attributes.rnr_retry == 7);
}

void Requester::reset() noexcept {
  while (!sq_.empty()) sq_.pop();
  cursor_ = 0;
  credit_limit_.reset();
  since_ack_req_ = 0;
  reads_ = 0;
  gone_back_ = failed_ = false;
  stuck_ = WcStatus::kSuccess;
  ack_deadline_ = rnr_until_ = Instant::never();
  if (scoreboard_) scoreboard_->start(una_);
}

void Requester::flush() noexcept {
  while (!sq_.empty()) complete_oldest(WcStatus::kWrFlushErr);
  una_ = next_ = heard_ = asked_ = fresh_;
  timing_ = false;
  cursor_ = 0;
  reads_ = 0;
  failed_ = false;
  stuck_ = WcStatus::kSuccess;
  ack_deadline_ = rnr_until_ = Instant::never();
  if (scoreboard_) scoreboard_->start(una_);
}

// A PSN that is half the circle ahead could not be told from one behind.
std::uint32_t Requester::window() const noexcept {
  const std::uint32_t congestion = congestion_window_ == 0 ? Psn::kMostAhead : congestion_window_;
  if (scoreboard_) return std::min({scoreboard_->config.bdp_packets, scoreboard_->window, congestion});
  const std::uint32_t set = nic_.config.window_packets;
  return std::min({set == 0 ? Psn::kMostAhead : set, Psn::kMostAhead, congestion});
}

bool Requester::may_begin(const Wqe& wqe) const noexcept {
  if (qp_.state != QpState::kRts) return false;  // SQD finishes what was begun
  if (!reliable() || is_local(wqe.wr.opcode)) return !wqe.wr.fence || reads_ == 0;
  if (wqe.wr.fence && reads_ > 0) return false;
  if (is_read_or_atomic(wqe.wr.opcode)) {
    if (reads_ >= qp_.attributes.max_rd_atomic) return false;
    // One that is longer than the window goes alone.
    if (next_ != una_ && static_cast<std::uint32_t>(next_ - una_) + wqe.psns > window()) return false;
  }
  // One that has no credit may still be sent alone, as a probe.
  if (nic_.config.enforce_credits && credit_limit_ && takes_receive(wqe.wr.opcode) && (ssn_ + 1) - *credit_limit_ > 0 &&
      next_ != una_)
    return false;
  return true;
}

bool Requester::ready(Instant now) const noexcept {
  if (qp_.state != QpState::kRts && qp_.state != QpState::kSqd) return false;
  if (rnr_until_ != Instant::never() && now < rnr_until_) return false;
  if (scoreboard_ && scoreboard_->lost_psns > 0) return true;
  if (cursor_ == sq_.size() || (stuck_ != WcStatus::kSuccess && cursor_ > 0)) return false;
  const Wqe& wqe = sq_[cursor_];
  if (!wqe.begun && !may_begin(wqe)) return false;
  if (wqe.psns == 0) return true;
  // What goes again is inside of a window that was open once.
  return next_ != fresh_ || static_cast<std::uint32_t>(next_ - una_) < window();
}

void Requester::begin(Wqe& wqe) noexcept {
  wqe.begun = true;
  wqe.first = next_;
  wqe.ssn = ++ssn_;
  wqe.receive_number = receive_number_;
  if (takes_receive(wqe.wr.opcode)) receive_number_ = (receive_number_ + 1) & Psn::kMax;
  if (is_read_or_atomic(wqe.wr.opcode)) ++reads_;
}

bool Requester::next(Instant now, OutPacket& out) {
  RAILYARD_EXPENSIVE_ASSERT(ready(now), "a requester that is not ready is not asked");
  rnr_until_ = Instant::never();
  if (scoreboard_ && scoreboard_->lost_psns > 0) return next_lost(now, out);
  if (sq_[cursor_].psns == 0 && (!pass_local() || !ready(now))) return false;
  Wqe& wqe = sq_[cursor_];
  if (!wqe.begun) begin(wqe);
  // A READ that goes again asks for all that is missing.
  if (!fill(wqe, next_, static_cast<std::uint32_t>(wqe.past() - next_), out)) {
    stuck_ = WcStatus::kLocProtErr;
    fail_when_oldest();
    return false;
  }
  const bool last = is_read_or_atomic(wqe.wr.opcode) || next_ + 1 == wqe.past();
  out.packet.bth.ack_req = reliable() && wants_ack(wqe, last);
  if (congestion_window_ != 0 && !timing_ && out.packet.bth.ack_req) begin_sample(now, wqe);
  sent(now, wqe, last, out.packet.bth.ack_req);
  return true;
}

// What goes again may be answered for the first time, which says nothing of the way (Karn). But a READ that goes again from
// its middle on is answered by a First or Only where no other answer has one. Where READs are always overtaken, there is
// no other measure.
void Requester::begin_sample(Instant now, const Wqe& wqe) noexcept {
  timing_again_ = next_ != fresh_;
  if (timing_again_ && (wqe.wr.opcode != SendOpcode::kRead || next_ == wqe.first || answers_twice_)) return;
  timing_ = true;
  timed_ = next_;
  timed_at_ = now;
}

// Of a READ a request for `psns` responses from `psn` on; else the packet `psn`. False: its memory is not there.
bool Requester::fill(const Wqe& wqe, Psn psn, std::uint32_t psns, OutPacket& out) {
  const auto index = static_cast<std::uint32_t>(psn - wqe.first);
  const std::uint32_t offset = index * qp_.path_mtu;
  const bool request_only = is_read_or_atomic(wqe.wr.opcode);
  const bool first = index == 0 || request_only;
  const bool last = index + 1 == wqe.psns || request_only;
  const std::uint32_t octets = request_only ? 0 : std::min(wqe.octets - offset, qp_.path_mtu);

  const auto payload = gather(nic_.memory, qp_.domain, wqe.wr.sges, offset, octets, nic_.bounce);
  if (!payload) return false;
  out.path = &qp_.path;
  out.payload = *payload;
  out.packet = Packet{};
  out.packet.bth = qp_.bth(request_opcode(wqe.wr.opcode, position_of(first, last)), psn);
  out.packet.bth.pad_cnt = pad_octets(octets);
  out.packet.payload_octets = octets;
  fill_headers(wqe, index, psns, last, out.packet);
  return true;
}

// Sets those that the opcode has, and harmlessly some that it has not.
void Requester::fill_headers(const Wqe& wqe, std::uint32_t index, std::uint32_t psns, bool last,
                             Packet& packet) const noexcept {
  const Posted& wr = wqe.wr;
  if (is_atomic(wr.opcode)) {
    packet.atomic_eth = {wr.remote_address, wr.r_key, wr.swap_add,
                         wr.opcode == SendOpcode::kCompareSwap ? wr.compare : 0};
    return;
  }
  if (wr.opcode == SendOpcode::kRead) {
    const std::uint32_t offset = index * qp_.path_mtu;
    const std::uint64_t most = std::uint64_t{psns} * qp_.path_mtu;
    packet.reth = {wr.remote_address + offset, wr.r_key,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(wqe.octets - offset, most))};
  } else {
    packet.reth = {wr.remote_address, wr.r_key, wqe.octets};
    packet.sr_eth.packet_index = index;
    packet.sr_eth.receive_number = wqe.receive_number;
  }
  if (!last) return;
  packet.imm_dt.immediate = wr.immediate;
  packet.ieth.r_key = wr.immediate;
  packet.bth.solicited = wr.solicited && takes_receive(wr.opcode);
}

// Always on what fills the window: without an answer nothing more would be sent.
bool Requester::wants_ack(const Wqe&, bool last) noexcept {
  const bool full = static_cast<std::uint32_t>(next_ + 1 - una_) >= window();
  // A cap on packets in flight wants to hear in time that some have arrived.
  const std::uint32_t every = scoreboard_ || congestion_window_ != 0
                                  ? std::min(nic_.config.ack_every, std::max(1u, window() / 4))
                                  : nic_.config.ack_every;
  if (!last && !full && since_ack_req_ + 1 < every) {
    ++since_ack_req_;
    return false;
  }
  since_ack_req_ = 0;
  return true;
}

void Requester::sent(Instant now, const Wqe& wqe, bool last, bool asks) noexcept {
  if (next_ - fresh_ < 0) {
    nic_.counters.retransmitted_packets.increment();
    ++qp_.counters.retransmitted_packets;
  }
  next_ = is_read_or_atomic(wqe.wr.opcode) ? wqe.past() : next_ + 1;
  if (next_ - fresh_ > 0) fresh_ = next_;
  if (last) ++cursor_;
  if (reliable()) {
    note_sent(now, next_, asks);
    // With more in flight it is longer.
    if (scoreboard_ && ack_deadline_ != Instant::never()) ack_deadline_ = armed_at_ + selective_timeout();
    return;
  }
  una_ = next_;
  if (last) complete_oldest(WcStatus::kSuccess);
}

Heard Requester::take_heard(Instant now) noexcept {
  Heard heard{.packets = static_cast<std::uint32_t>(una_ - heard_),
              .delay = timed_again_,
              .lost = heard_lost_,
              .timed_out = heard_timeout_};
  timed_again_ = {};
  if (timing_ && !timing_again_ && una_ - timed_ > 0) {
    heard.delay = now - timed_at_;
    timing_ = false;
  }
  // The whole READ has come without such a packet (rxe sends none).
  if (timing_ && timing_again_ && (una_ == fresh_ || sq_[0].first - timed_ > 0)) timing_ = false;
  heard_ = una_;
  heard_lost_ = heard_timeout_ = false;
  return heard;
}

// Errors are reported in order: what was sent before is waited for.
void Requester::fail_when_oldest() noexcept {
  if (stuck_ != WcStatus::kSuccess && cursor_ == 0) fail(stuck_);
}

void Requester::complete_oldest(WcStatus status) noexcept {
  const Wqe& wqe = sq_[0];
  const Posted& wr = wqe.wr;
  if (is_read_or_atomic(wr.opcode) && wqe.begun) --reads_;
  if (wr.signaled || qp_.signal_all || status != WcStatus::kSuccess) {
    using enum SendOpcode;
    const WcOpcode opcode = wr.opcode == kWrite || wr.opcode == kWriteImm ? WcOpcode::kWrite
                            : wr.opcode == kRead                          ? WcOpcode::kRead
                            : wr.opcode == kCompareSwap                   ? WcOpcode::kCompareSwap
                            : wr.opcode == kFetchAdd                      ? WcOpcode::kFetchAdd
                            : wr.opcode == kBindWindow                    ? WcOpcode::kBindWindow
                            : wr.opcode == kInvalidateLocal               ? WcOpcode::kInvalidateLocal
                                                                          : WcOpcode::kSend;
    qp_.send_cq->push({.wr_id = wr.wr_id, .status = status, .opcode = opcode, .qp = qp_.number, .octets = wqe.octets});
  }
  sq_.pop();
  if (cursor_ > 0) --cursor_;
  // What was local and behind it is done already.
  if (status == WcStatus::kSuccess && cursor_ > 0 && sq_[0].psns == 0) complete_oldest(status);
}

void Requester::fail(WcStatus status) noexcept {
  if (failed_ || sq_.empty()) return;
  complete_oldest(status);
  failed_ = true;
}

}  // namespace railyard::roce
