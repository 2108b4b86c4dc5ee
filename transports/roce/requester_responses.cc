// What ACKs, NAKs, READ responses and atomic ACKs do, and silence.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "transports/roce/gather.h"
#include "transports/roce/requester.h"

namespace railyard::roce {

// Takes every SEND and WRITE packet before `end` as received. False: a READ or atomic that began before `end` is not
// answered yet, and nothing from there on is.
bool Requester::acknowledge_before(Instant now, Psn end) noexcept {
  bool all = true;
  bool moved = false;
  while (!sq_.empty() && sq_[0].begun && end - sq_[0].first > 0) {
    const Wqe& wqe = sq_[0];
    if (is_read_or_atomic(wqe.wr.opcode)) {
      all = false;
      break;
    }
    if (end - una_ > 0) moved = true;
    if (end - wqe.past() < 0) {
      if (end - una_ > 0) una_ = end;
      break;
    }
    una_ = wqe.past();
    complete_oldest(WcStatus::kSuccess);
  }
  if (moved) progress(now);
  return all;
}

void Requester::progress(Instant now) noexcept {
  // What was on its way again has arrived the first time.
  if (next_ - una_ < 0) {
    next_ = una_;
    cursor_ = 0;
  }
  retries_.reload();
  rnr_retries_.reload();
  gone_back_ = false;
  ack_deadline_ = Instant::never();
  if (una_ != fresh_ && rnr_until_ == Instant::never()) arm(now);
  fail_when_oldest();
}

void Requester::arm(Instant now) noexcept {
  armed_at_ = now;
  Duration timeout = local_ack_timeout(qp_.attributes.timeout);
  if (scoreboard_ && timeout != Duration{}) timeout = selective_timeout();
  ack_deadline_ = timeout == Duration{} ? Instant::never() : now + timeout;
}

// Whether the peer owes an answer: one was asked for, and the oldest packet does not wait to be sent again.
bool Requester::awaits_answer() const noexcept {
  if (scoreboard_ && scoreboard_->lost_psns > 0 && scoreboard_->lost == una_) return false;
  return asked_ - una_ > 0;
}

// A packet that ends before `end` leaves. The timer starts with the first one that asks for an answer (IBTA Vol 1
// §9.7.6.1.3). Before that it only watches over a window that closes without one, see on_timer().
void Requester::note_sent(Instant now, Psn end, bool asks) noexcept {
  const bool starts = ack_deadline_ == Instant::never() || (asks && !awaits_answer());
  if (asks && end - asked_ > 0) asked_ = end;
  if (starts) arm(now);
}

void Requester::rewind() noexcept {
  next_ = asked_ = una_;
  cursor_ = 0;
  since_ack_req_ = 0;
  stuck_ = WcStatus::kSuccess;
  if (!sq_.empty()) sq_[0].replied = false;
}

// Once per loss: until there is progress, more complaints of the same gap change nothing.
void Requester::go_back() noexcept {
  if (gone_back_ || rnr_until_ != Instant::never()) return;
  if (!retries_.spend()) {
    nic_.counters.req_transport_retries_exceeded.increment();
    return fail(WcStatus::kRetryExcErr);
  }
  gone_back_ = true;
  timing_ = answers_twice_ = false;
  heard_lost_ = true;
  rewind();
  // It runs again when the first packet has left: until then that may wait for its rate, or for a paused class.
  ack_deadline_ = Instant::never();
}

void Requester::implied_nak() noexcept {
  nic_.counters.implied_nak_seq_err.increment();
  ++qp_.counters.implied_nak_seq_err;
  go_back();
}

void Requester::note_credits(const Packet& packet) noexcept {
  const auto limit = credits(parse_syndrome(packet.aeth.syndrome).value);
  if (limit) {
    credit_limit_ = Ssn(packet.aeth.msn) + *limit;
  } else {
    credit_limit_.reset();
  }
}

std::optional<Drop> Requester::on_acknowledge(Instant now, const Packet& packet) noexcept {
  if (scoreboard_) return on_selective_acknowledge(now, packet);
  const Psn psn(packet.bth.psn);
  const Syndrome syndrome = parse_syndrome(packet.aeth.syndrome);
  if (!is_outstanding(psn)) {
    // The last one again, with more credits.
    if (syndrome.type == SyndromeType::kAck && psn + 1 == una_) note_credits(packet);
    return Drop::kGhost;
  }
  switch (syndrome.type) {
    case SyndromeType::kAck:
      note_credits(packet);
      if (acknowledge_before(now, psn + 1)) return std::nullopt;
      implied_nak();
      return Drop::kImpliedNak;
    case SyndromeType::kRnrNak:
      if (!acknowledge_before(now, psn) && una_ != psn) {
        implied_nak();
        return Drop::kImpliedNak;
      }
      on_rnr(now, syndrome.value);
      return std::nullopt;
    case SyndromeType::kNak:
      return on_nak(now, packet, static_cast<NakCode>(syndrome.value));
    case SyndromeType::kReserved:
      break;  // decode() lets none pass
  }
  return Drop::kBadResponse;
}

std::optional<Drop> Requester::on_nak(Instant now, const Packet& packet, NakCode code) noexcept {
  const Psn psn(packet.bth.psn);
  if (code == NakCode::kPsnSequenceError) {
    nic_.counters.packet_seq_err.increment();
    ++qp_.counters.packet_seq_err;
    acknowledge_before(now, psn);
    go_back();
    return std::nullopt;
  }
  const std::optional<WcStatus> status = refusal(code);
  if (!status) return Drop::kBadResponse;
  // (A READ may be refused in its middle.)
  if (!acknowledge_before(now, psn) && una_ != psn) {
    // What an earlier READ or atomic did is not known.
    implied_nak();
    return Drop::kImpliedNak;
  }
  fail(*status);
  return std::nullopt;
}

void Requester::on_rnr(Instant now, std::uint8_t code) noexcept {
  if (rnr_until_ != Instant::never()) return;
  nic_.counters.rnr_nak_received.increment();
  ++qp_.counters.rnr_nak_received;
  if (!rnr_retries_.spend()) {
    nic_.counters.rnr_nak_retry_err.increment();
    return fail(WcStatus::kRnrRetryExcErr);
  }
  if (scoreboard_) {
    send_all_again();
  } else {
    rewind();
  }
  rnr_until_ = now + rnr_delay(code);
  ack_deadline_ = Instant::never();
}

// The READ (or atomic) that a response with `psn` answers, everything before it acknowledged; nullptr: it answers none,
// or one before it has no answer.
Requester::Wqe* Requester::answered(Instant now, Psn psn, bool atomic) noexcept {
  acknowledge_before(now, psn);
  if (sq_.empty()) return nullptr;
  Wqe& wqe = sq_[0];
  const bool fits = wqe.begun && (atomic ? is_atomic(wqe.wr.opcode) : wqe.wr.opcode == SendOpcode::kRead);
  return fits && psn - wqe.first >= 0 && psn - wqe.past() < 0 ? &wqe : nullptr;
}

void Requester::note_timed_answer(Instant now, const Packet& packet) noexcept {
  const Position position = packet.info().position;
  const bool begins = position == Position::kFirst || position == Position::kOnly;
  if (!begins || Psn(packet.bth.psn) != timed_) return;
  timed_again_ = now - timed_at_;
  timing_ = false;
}

std::optional<Drop> Requester::on_read_response(Instant now, const Packet& packet, const PayloadRef& payload) noexcept {
  if (scoreboard_) return on_selective_response(now, packet, payload);
  if (timing_ && timing_again_) note_timed_answer(now, packet);
  const Psn psn(packet.bth.psn);
  if (!is_outstanding(psn)) return Drop::kGhost;
  Wqe* const wqe = answered(now, psn, false);
  if (wqe == nullptr || psn != una_) {
    if (psn - una_ < 0) return Drop::kGhost;
    implied_nak();
    return Drop::kImpliedNak;
  }
  const auto index = static_cast<std::uint32_t>(psn - wqe->first);
  const std::uint32_t offset = index * qp_.path_mtu;
  const bool last = index + 1 == wqe->psns;
  const Position position = packet.info().position;
  // The first response to a request that went again may, from rxe, be a Middle or Last.
  const bool ends = position == Position::kLast || position == Position::kOnly;
  const bool begins = position == Position::kFirst || position == Position::kOnly;
  if (ends != last || (begins && wqe->replied) || (!begins && !wqe->replied && index == 0)) {
    implied_nak();
    return Drop::kImpliedNak;
  }
  if (payload.octets != std::min(wqe->octets - offset, qp_.path_mtu)) {
    fail(WcStatus::kBadRespErr);
    return Drop::kBadResponse;
  }
  if (!scatter(nic_.memory, qp_.domain, wqe->wr.sges, offset, payload)) {
    fail(WcStatus::kLocProtErr);
    return std::nullopt;
  }
  wqe->replied = true;
  una_ = psn + 1;
  if (last) complete_oldest(WcStatus::kSuccess);
  progress(now);
  return std::nullopt;
}

std::optional<Drop> Requester::on_atomic_acknowledge(Instant now, const Packet& packet) noexcept {
  const auto original = std::bit_cast<std::array<std::byte, 8>>(packet.atomic_ack_eth.original);
  const PayloadRef value{.octets = 8, .bytes = original.data()};
  if (scoreboard_) return on_selective_response(now, packet, value);
  const Psn psn(packet.bth.psn);
  if (!is_outstanding(psn)) return Drop::kGhost;
  Wqe* const wqe = answered(now, psn, true);
  if (wqe == nullptr) {
    if (psn - una_ < 0) return Drop::kGhost;
    implied_nak();
    return Drop::kImpliedNak;
  }
  if (!scatter(nic_.memory, qp_.domain, wqe->wr.sges, 0, value)) {
    fail(WcStatus::kLocProtErr);
    return std::nullopt;
  }
  una_ = psn + 1;
  complete_oldest(WcStatus::kSuccess);
  progress(now);
  return std::nullopt;
}

void Requester::on_timer(Instant now) noexcept {
  if (rnr_until_ <= now) rnr_until_ = Instant::never();
  if (ack_deadline_ > now) return;
  ack_deadline_ = Instant::never();
  // Nobody is late: the next packet, which has still to be sent, starts the timer.
  if (!awaits_answer() && ready(now)) return;
  nic_.counters.local_ack_timeout_err.increment();
  ++qp_.counters.local_ack_timeout_err;
  heard_timeout_ = true;
  if (scoreboard_) return on_selective_timeout();
  gone_back_ = false;
  go_back();
  answers_twice_ = true;
}

}  // namespace railyard::roce
