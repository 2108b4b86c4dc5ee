// Selective repeat (selective_repeat.h): what is taken for lost and goes again, and what responses say of it.
#include <algorithm>

#include "transports/roce/gather.h"
#include "transports/roce/requester.h"

namespace railyard::roce {

Duration Requester::selective_timeout() const noexcept {
  const SelectiveRepeatConfig& config = scoreboard_->config;
  return static_cast<std::uint32_t>(fresh_ - una_) <= config.rto_low_packets ? config.rto_low : config.rto_high;
}

// The work request that `psn`, which is outstanding, belongs to. They are in the order of their PSNs.
Requester::Wqe* Requester::wqe_of(Psn psn) noexcept {
  std::size_t low = 0, high = sq_.size();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    if (sq_[middle].begun && psn - sq_[middle].first >= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &sq_[low];
}

// ---- What goes again -----------------------------------------------------------------------------------------------

// The first packet that is lost and has not been sent again, if there is one.
void Requester::look_for_lost() noexcept {
  Scoreboard& s = *scoreboard_;
  s.lost_psns = 0;
  const Psn end = s.arrived_end - s.forced_end > 0 ? s.arrived_end : s.forced_end;
  Psn at = una_;
  for (std::size_t i = 0; end - at > 0 && i < sq_.size() && sq_[i].begun; ++i) {
    const Wqe& wqe = sq_[i];
    if (!is_read_or_atomic(wqe.wr.opcode)) {
      if (look_in_message(at, end - wqe.past() < 0 ? end : wqe.past())) return;
    } else if (executed(wqe)) {
      if (look_in_responses(wqe, at)) return;
    } else if (!wqe.again && (s.forced(wqe.first) || (!wqe.arrived && s.request_lost(wqe.first)))) {
      s.lost = wqe.first;
      s.lost_psns = wqe.psns;
      return;
    }
    at = wqe.past();
  }
}

bool Requester::look_in_message(Psn from, Psn end) noexcept {
  Scoreboard& s = *scoreboard_;
  for (Psn p = from; end - p > 0; ++p) {
    // The oldest one goes again after a timeout even if it has arrived: its answer says how far the responder is.
    const bool missing = !s.arrived.test(p) || p == una_;
    if (s.again.test(p) || !missing) continue;
    if (!s.forced(p) && !(s.request_lost(p) && !s.arrived.test(p))) continue;
    s.lost = p;
    s.lost_psns = 1;
    return true;
  }
  return false;
}

// A run of responses that are missing.
bool Requester::look_in_responses(const Wqe& wqe, Psn from) noexcept {
  Scoreboard& s = *scoreboard_;
  const auto missing = [&](Psn p) {
    return wqe.past() - p > 0 && p - una_ < static_cast<std::int32_t>(s.window) && !s.arrived.test(p) &&
           !s.again.test(p);
  };
  for (Psn p = from; wqe.past() - p > 0 && p - una_ < static_cast<std::int32_t>(s.window); ++p) {
    if (!missing(p)) continue;
    if (!s.forced(p) && !s.response_lost(p)) return false;  // nor are those behind it
    Psn end = p + 1;
    // After a timeout nothing is under way any more.
    while (missing(end) && (s.timed_out || s.forced(end) || s.response_lost(end))) ++end;
    s.lost = p;
    s.lost_psns = static_cast<std::uint32_t>(end - p);
    return true;
  }
  return false;
}

bool Requester::next_lost(Instant now, OutPacket& out) {
  Scoreboard& s = *scoreboard_;
  const Psn psn = s.lost;
  const std::uint32_t psns = s.lost_psns;
  Wqe& wqe = *wqe_of(psn);
  const bool filled = fill(wqe, psn, psns, out);
  if (filled) note_sent(now, psn + psns, true);
  if (is_read_or_atomic(wqe.wr.opcode) && !executed(wqe)) {
    wqe.again = true;
  } else {
    for (std::uint32_t i = 0; i < psns; ++i) s.again.set(psn + i);
  }
  timing_ = false;
  heard_lost_ = true;
  look_for_lost();
  if (!filled) {
    // Its memory has gone since it was sent first. Errors are reported in order.
    if (&wqe == &sq_[0]) fail(WcStatus::kLocProtErr);
    return false;
  }
  out.packet.bth.ack_req = true;
  nic_.counters.retransmitted_packets.increment();
  ++qp_.counters.retransmitted_packets;
  return true;
}

void Requester::forget_again() noexcept {
  scoreboard_->again.clear_all();
  for (std::size_t i = 0; i < sq_.size() && sq_[i].begun; ++i) sq_[i].again = false;
}

void Requester::send_all_again() noexcept {
  forget_again();
  scoreboard_->forced_end = fresh_;
  asked_ = una_;
  look_for_lost();
}

void Requester::on_selective_timeout() noexcept {
  if (!retries_.spend()) {
    nic_.counters.req_transport_retries_exceeded.increment();
    return fail(WcStatus::kRetryExcErr);
  }
  Scoreboard& s = *scoreboard_;
  forget_again();
  s.timed_out = true;
  s.recovery_end = fresh_;
  s.forced_end = una_ + 1;
  asked_ = una_;
  look_for_lost();
}

// ---- What responses say --------------------------------------------------------------------------------------------

// Everything before `end` is behind us.
void Requester::pass(Psn end) noexcept {
  Scoreboard& s = *scoreboard_;
  for (; end - una_ > 0; ++una_) {
    s.arrived.clear(una_);
    s.again.clear(una_);
  }
}

// Completes what is complete: SENDs and WRITEs by the cumulative acknowledgement alone, because the responder may still
// refuse what has arrived; READs and atomics by their responses.
void Requester::advance(Instant now) noexcept {
  Scoreboard& s = *scoreboard_;
  const Psn before = una_;
  while (una_ != fresh_) {
    const Wqe& wqe = sq_[0];
    const Psn past = wqe.past();
    if (is_read_or_atomic(wqe.wr.opcode)) {
      Psn end = una_;
      while (end != past && end - una_ < static_cast<std::int32_t>(s.window) && s.arrived.test(end)) ++end;
      pass(end);
    } else {
      pass(s.cumulative - past < 0 ? s.cumulative : past);
    }
    if (una_ != past) break;
    complete_oldest(WcStatus::kSuccess);
  }
  if (una_ != before) {
    if (s.timed_out && una_ - s.recovery_end >= 0) s.timed_out = false;
    if (s.timed_out && una_ != fresh_ && !s.forced(una_)) s.forced_end = una_ + 1;
    if (s.forced_end - una_ < 0) s.forced_end = una_;
    progress(now);
  }
  look_for_lost();
}

std::optional<Drop> Requester::on_selective_acknowledge(Instant now, const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  const Syndrome syndrome = parse_syndrome(packet.aeth.syndrome);
  Scoreboard& s = *scoreboard_;
  if (!is_outstanding(psn)) {
    if (syndrome.type == SyndromeType::kAck && psn + 1 == una_) note_credits(packet);
    // One that was overtaken still says what has come.
    const bool says = syndrome == Syndrome::nak(NakCode::kPsnSequenceError) && psn - una_ < 0 &&
                      is_outstanding(Psn(packet.sack_eth.psn));
    if (!says) return Drop::kGhost;
  }
  switch (syndrome.type) {
    case SyndromeType::kAck:
      note_credits(packet);
      s.note_cumulative(psn + 1);
      s.note_answered(psn + 1);
      advance(now);
      return std::nullopt;
    case SyndromeType::kRnrNak:
      s.note_cumulative(psn);
      s.note_answered(psn);
      advance(now);
      on_rnr(now, syndrome.value);
      return std::nullopt;
    case SyndromeType::kNak:
      return on_selective_nak(now, packet, static_cast<NakCode>(syndrome.value));
    case SyndromeType::kReserved:
      break;  // decode() lets none pass
  }
  return Drop::kBadResponse;
}

std::optional<Drop> Requester::on_selective_nak(Instant now, const Packet& packet, NakCode code) noexcept {
  const Psn psn(packet.bth.psn);
  Scoreboard& s = *scoreboard_;
  if (code == NakCode::kPsnSequenceError) {
    nic_.counters.packet_seq_err.increment();
    ++qp_.counters.packet_seq_err;
    const Psn came(packet.sack_eth.psn);
    s.note_cumulative(psn);
    s.note_answered(psn);
    if (is_outstanding(came) && came - una_ < static_cast<std::int32_t>(s.window)) {
      Wqe& wqe = *wqe_of(came);
      if (is_read_or_atomic(wqe.wr.opcode)) {
        wqe.arrived = true;
      } else {
        s.arrived.set(came);
      }
      s.note_arrived(came);
    }
    advance(now);
    return std::nullopt;
  }
  const std::optional<WcStatus> status = refusal(code);
  if (!status) return Drop::kBadResponse;
  s.note_cumulative(psn);
  advance(now);
  if (una_ == fresh_ || psn - sq_[0].past() >= 0) {
    // What an earlier READ or atomic did is not known.
    return Drop::kImpliedNak;
  }
  fail(*status);
  return std::nullopt;
}

// READ responses and atomic ACKs.
std::optional<Drop> Requester::on_selective_response(Instant now, const Packet& packet,
                                                     const PayloadRef& payload) noexcept {
  const Psn psn(packet.bth.psn);
  if (!is_outstanding(psn)) return Drop::kGhost;
  Scoreboard& s = *scoreboard_;
  const Wqe& wqe = *wqe_of(psn);
  const bool atomic = packet.info().operation == Operation::kAtomicAcknowledge;
  if (atomic ? !is_atomic(wqe.wr.opcode) : wqe.wr.opcode != SendOpcode::kRead) return Drop::kBadResponse;
  s.note_cumulative(wqe.past());
  s.note_answered(psn + 1);
  // What is beyond the window is asked for again when the window gets there.
  const bool fits = psn - una_ < static_cast<std::int32_t>(s.window);
  if (!fits || s.arrived.test(psn)) {
    advance(now);
    return fits ? Drop::kGhost : Drop::kOutOfSequence;
  }
  const std::uint32_t offset = static_cast<std::uint32_t>(psn - wqe.first) * qp_.path_mtu;
  if (payload.octets != std::min(wqe.octets - offset, qp_.path_mtu)) {
    advance(now);
    fail(WcStatus::kBadRespErr);
    return Drop::kBadResponse;
  }
  if (!scatter(nic_.memory, qp_.domain, wqe.wr.sges, offset, payload)) {
    advance(now);
    fail(WcStatus::kLocProtErr);
    return std::nullopt;
  }
  if (psn != una_) nic_.counters.placed_out_of_order.increment();
  s.arrived.set(psn);
  advance(now);
  return std::nullopt;
}

}  // namespace railyard::roce
