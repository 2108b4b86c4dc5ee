// What ACKs and NACKs do (uet §3.10, §5.8, §5.9, §9).
#include <algorithm>
#include <bit>

#include "transports/uet/engine.h"

namespace railyard::uet {
namespace {

// Offsets have 16 bits: what is farther behind is of nobody.
constexpr std::int32_t kMostBehind = 1 << 15;

}  // namespace

void Engine::answer(Instant now, Pdc& pdc, const Cargo& cargo, const SesResponseValues* response,
                    const PayloadRef& payload) {
  switch (cargo.kind) {
    case Cargo::Kind::kRequest:
      initiator_.on_answered(now, pdc, cargo, response, payload);
      break;
    case Cargo::Kind::kReadData:
      target_.release_read_job(cargo.item);
      --pdc.open_read_jobs;
      break;
    case Cargo::Kind::kCloseCmd:
    case Cargo::Kind::kCloseReq:
    case Cargo::Kind::kNoop:
      break;
  }
}

std::optional<Engine::ReadOf> Engine::read_of(const InPacket& in) const noexcept {
  const auto* const response = std::get_if<SesResponseValues>(&in.packet.ses);
  if (response == nullptr || response->form != NextHdr::kResponseData) return std::nullopt;
  const Initiator::Message* m = nullptr;
  if (const auto* data = std::get_if<PdsRequestValues>(&in.packet.pds)) {
    const Pdc* const pdc = table_.find(data->dpdcid);
    if (pdc == nullptr || !pdc->initiator) return std::nullopt;
    m = initiator_.find_read(*pdc, response->read_request_message_id);
    if (m == nullptr && pdc->reader) return ReadOf{*pdc->reader};
  } else if (const auto* rudi = std::get_if<PdsRudiValues>(&in.packet.pds)) {
    if (const RudiPacket* const p = find_rudi(in, rudi->pkt_id)) m = &initiator_.message(p->message);
  } else if (const auto* ack = std::get_if<PdsAckValues>(&in.packet.pds)) {
    const Pdc* const pdc = table_.find(ack->dpdcid);
    if (pdc != nullptr && pdc->initiator) m = initiator_.find_read(*pdc, response->read_request_message_id);
  }
  if (m == nullptr || m->wr.operation != Operation::kRead) return std::nullopt;
  return ReadOf{m->context, m->wr.wr_id, m->tries};
}

std::optional<Drop> Engine::on_ack(Instant now, const InPacket& in, const PdsAckValues& ack) {
  const auto found = pdc_of(in, ack.spdcid, ack.dpdcid, ack.cack_psn, ack.retx, false);
  if (!found) return found.error();
  Pdc& pdc = **found;
  const Psn next = pdc.sent.next();
  const Psn cack(ack.cack_psn), ack_psn(ack.ack_psn());
  const auto possible = [&](Psn psn) { return psn - next < 0 && psn - pdc.sent.una() > -kMostBehind; };
  if (!possible(cack) || (!ack.p && !possible(ack_psn))) return Drop::kGhostAck;
  const Psn base(ack.sack_base());
  if (ack.has_cc() && ack.sack_bitmap != 0 &&
      !possible(base + (63u - static_cast<std::uint32_t>(std::countl_zero(ack.sack_bitmap)))))
    return Drop::kGhostAck;
  fep_.counters.acks_received.increment();
  if (ack.m) fep_.counters.ecn_marked_acks.increment();
  if (pdc.remote == 0) learn_target(pdc, ack.spdcid);
  pdc.last_entropy = in.entropy;
  pdc.idle_since = now;
  if (pdc.credit) pdc.credit->on_heard();
  const bool closing = pdc.state == PdcState::kClosing && pdc.initiator;
  note_arrivals(now, pdc, in, ack);
  if (closing && cack - pdc.close_psn >= 0) {
    fep_.counters.pdcs_closed.increment();
    free(now, pdc);
    return std::nullopt;
  }
  if (ack.req == AckRequest::kReqClear && pdc.initiator) pdc.clear_due = true;
  if (ack.req == AckRequest::kReqClose && pdc.initiator) quiesce(pdc);
  settle(now, pdc);
  return std::nullopt;
}

// What has arrived, what is answered, and what the path and the window learn of it.
void Engine::note_arrivals(Instant now, Pdc& pdc, const InPacket& in, const PdsAckValues& ack) {
  SentPackets& sent = pdc.sent;
  const Psn cack(ack.cack_psn), ack_psn(ack.ack_psn());
  const Psn una = sent.una();
  AckSignals signals{.ecn = ack.m};
  const bool of_probe = ack.p && pdc.probing && ack.probe_opaque == pdc.probe;
  std::uint64_t acked = 0;  // octets that are known to have arrived only now
  bool news = false;
  const auto note = [&](Psn psn, SentPacket& packet) {
    if (packet.lost) pdc.congestion.on_found(packet.octets);
    if (!sent.mark_received(psn, packet)) return;
    acked += packet.octets;
    news = true;
    if (packet.transmissions == 1) {
      pdc.newest_heard = std::max(pdc.newest_heard, packet.sent_at);
      if (infers_by_path(pdc) && sent.mark_passed(psn)) pdc.any_passed = true;
    } else if (psn == pdc.watched && now < pdc.watched_until && pdc.reorder.is_too_soon(now - packet.sent_at)) {
      // An earlier transmission of it has come, but it may have waited long for an ACK that names it: the window grows
      // by a part only (RFC 8985 §6.2: by a quarter of a round trip).
      pdc.reorder.came_after_all(std::min(now - pdc.watched_sent, pdc.reorder.patience() * 5 / 8));
      pdc.watched_until = {};
    }
  };
  const auto settle_answer = [&](Psn psn, const SesResponseValues* response) {
    SentPacket* const packet = sent.find(psn);
    if (packet == nullptr || packet->answered) return;
    note(psn, *packet);
    packet->answered = true;
    answer(now, pdc, packet->cargo, response, in.payload);
  };

  if (!ack.p) {
    if (!ack.retx) note_first_of(now, pdc, ack_psn);
    if (SentPacket* const packet = sent.find(ack_psn)) {
      // An ACK of a packet that was sent twice may be of either, unless it says so (uet §5.9).
      const bool is_of_last = packet->is_of_last(ack.retx);
      if (is_of_last) {
        signals.rtt = now - packet->sent_at;
        pdc.hear_answer(*signals.rtt);
      }
      // Others that this ACK names may have waited for it: it says nothing of their time.
      if (is_of_last && signals.rtt->ps > 0) pdc.reorder.heard(now, *signals.rtt);
      if (is_of_last && ack.retx) pdc.newest_heard = std::max(pdc.newest_heard, packet->sent_at);
      note(ack_psn, *packet);
      // One that was sent again says by its mark and its value which transmission this is of.
      if (is_of_last && ack.retx && in.entropy == packet->entropy && infers_by_path(pdc) && sent.mark_passed(ack_psn))
        pdc.any_passed = true;
      const auto* const response = std::get_if<SesResponseValues>(&in.packet.ses);
      const bool later = response != nullptr && (response->opcode == SesResponseOpcode::kNoResponse ||
                                                 response->return_code == ReturnCode::kNull);
      if (!later) settle_answer(ack_psn, response);
    }
  } else if (of_probe) {
    signals.rtt = now - pdc.probed_at;
    pdc.probing = false;
  }
  for (Psn psn = una; cack - psn >= 0; ++psn) settle_answer(psn, nullptr);
  if (ack.has_cc())
    for (std::uint64_t bits = sent.new_in_sack(Psn(ack.sack_base()), ack.sack_bitmap); bits != 0; bits &= bits - 1) {
      const Psn psn = Psn(ack.sack_base()) + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (SentPacket* const packet = sent.find(psn)) note(psn, *packet);
    }
  sent.pop_answered();

  if (ack.has_cc() && cack - pdc.peer_cack >= 0) pdc.peer_range = std::uint32_t{ack.mpr} * kMprPsns;
  if (cack - pdc.peer_cack > 0) pdc.peer_cack = cack;
  signals.newly = acked;
  bool says_gaps = false;
  if (ack.type == PdsType::kAckCc && ack.cc_type == static_cast<std::uint8_t>(CcType::kNscc) && ack.cc_state != 0) {
    const NsccStateValues state = nscc_state(ack.cc_state);
    // 24 bits that wrap; an ACK that was overtaken says nothing new.
    const auto ahead = static_cast<std::int32_t>((state.rcvd_bytes - pdc.last_rcvd) << 8) >> 8;
    signals.newly = ahead > 0 ? static_cast<std::uint64_t>(ahead) * kCreditOctets : 0;
    if (ahead > 0) pdc.last_rcvd = state.rcvd_bytes;
    signals.rcv_cwnd_pend = state.rcv_cwnd_pend;
    signals.restore_cwnd = state.restore_cwnd;
    if (state.service_time == kServiceTimeTooLong) signals.rtt.reset();
    if (signals.rtt) {
      *signals.rtt -= Duration{state.service_time * kServiceTimeNanoseconds * 1000};
      if (signals.rtt->ps <= 0) signals.rtt.reset();
    }
    says_gaps = state.ooo_count != kOooCountInvalid;
  } else if (ack.type == PdsType::kAckCc && ack.cc_type == static_cast<std::uint8_t>(CcType::kCredit)) {
    const CreditStateValues state = credit_state(ack.cc_state);
    if (pdc.credit) on_credit(now, pdc, state.credit);
    says_gaps = state.ooo_count != kOooCountInvalid;
  }
  const std::optional<Duration> probe_rtt = of_probe ? signals.rtt : std::nullopt;
  // Of the queues that data wait in it says nothing where control packets have another class.
  if (of_probe && data_lines_[pdc.data_class].config.priority != fep_.config.control) signals.rtt.reset();
  pdc.congestion.on_ack(now, signals);
  if (!ack.p) pdc.paths.on_feedback(now, in.entropy, ack.m ? PathFeedback::kEcn : PathFeedback::kGood);
  if (pdc.recovering && sent.una() - pdc.recovery_end >= 0) pdc.recovering = false;
  if (probe_rtt) on_probe_answer(now, pdc, *probe_rtt);
  if (news || sent.una() != una) progress(now, pdc);
  if (says_gaps) watch_overtaken(now, pdc);
  if (ack.p && !of_probe) on_path_probe_answer(now, pdc, ack.probe_opaque);
  // What was counted differs from what is there: rcvd_bytes is in units.
  if (!sent.any_in_flight()) pdc.congestion.on_nothing_in_flight();
}

// It was quick: the network is empty, and what was sent before the PROBE and is not there is lost.
//
// DEVIATION: in uet §9.5 all of it. Here what is away for longer than any lately was, too, as of what was overtaken:
// control packets overtake data.
void Engine::on_probe_answer(Instant now, Pdc& pdc, Duration rtt) {
  const Nscc* const nscc = pdc.congestion.nscc();
  if (nscc == nullptr || rtt - nscc->base_rtt() >= nscc->target() || data_lines_[pdc.data_class].config.lossless)
    return;
  const Instant before = std::min(pdc.probed_at, now - patience(pdc));
  SentPackets& sent = pdc.sent;
  bool any = false;
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn) {
    const SentPacket& p = sent.at(psn);
    if (p.received || p.lost || p.sent_at >= before) continue;
    pdc.congestion.on_loss(p.octets);
    fep_.counters.inferred_losses.increment();
    lose(now, pdc, psn, PathFeedback::kTrimmed);
    any = true;
  }
  if (!any) return;
  pdc.recovering = true;
  pdc.recovery_end = sent.next();
}

void Engine::progress(Instant now, Pdc& pdc) {
  // Time begins anew after a timeout: what is old may be late, all of it. Else it is each packet's own.
  if (pdc.sent.empty()) {
    pdc.rto_at = Instant::never();
  } else if (pdc.rto_at == Instant::never() || (pdc.timeouts > 0 && !has_packet_timers(pdc))) {
    pdc.rto_at = now + rto(pdc);
  }
  pdc.rto_from = pdc.heard_at = now;
  pdc.timeouts = pdc.backoffs = 0;
  pdc.tail_tries = 0;
  set_tail(now, pdc);
  const Nscc* const nscc = pdc.congestion.nscc();
  if (!fep_.config.probe || nscc == nullptr || pdc.is_rod()) return;
  const Duration quiet = pdc.messages.empty() ? nscc->base_rtt() + nscc->target() : nscc->base_rtt() * 3;
  pdc.probe_at = pdc.sent.empty() ? Instant::never() : now + quiet;
  pdc.probing = false;
}

// It goes again. Of its window the caller speaks.
void Engine::lose(Instant now, Pdc& pdc, Psn psn, PathFeedback feedback) {
  const SentPacket* const packet = pdc.sent.find(psn);
  if (packet == nullptr || !pdc.sent.mark_lost(psn)) return;
  pdc.paths.on_feedback(now, packet->entropy, feedback);
}

// ROD: all from there on go again, for the target has thrown them away.
void Engine::go_back(Pdc& pdc, Psn from) {
  for (Psn psn = from; psn - pdc.sent.next() < 0; ++psn)
    if (const SentPacket* const p = pdc.sent.find(psn); p != nullptr && !p->received && !p->lost) {
      pdc.congestion.on_returned(p->octets);
      pdc.sent.mark_lost(psn);
    }
}

void Engine::back_off(Instant now, Pdc& pdc) {
  // The other end is there. The timer goes on: something else may have to be asked after.
  pdc.timeouts = 0;
  if (pdc.blocked_until > now) return;
  constexpr std::uint8_t kMost = 16;
  const Duration wait = std::min(fep_.config.nack_backoff * (std::int64_t{1} << pdc.backoffs), fep_.config.rto_init);
  pdc.backoffs = std::min<std::uint8_t>(kMost, static_cast<std::uint8_t>(pdc.backoffs + 1));
  pdc.blocked_until = now + wait;
}

// Whether a switch has no room for the oldest packet however long it is asked: it was cut, or lost, as often as is
// counted, and for as long again as silence is listened to. DEVIATION: no source says when that is; the simulator goes on for ever.
bool Engine::is_cut_for_ever(Instant now, Pdc& pdc, Psn psn) const noexcept {
  if (psn != pdc.sent.una() || pdc.sent.front().transmissions < SentPacket::kMostCounted) return false;
  if (pdc.often_cut_at == Instant{} || pdc.often_cut != psn) {
    pdc.often_cut = psn;
    pdc.often_cut_at = now;
  }
  return now - pdc.often_cut_at > fep_.config.silence();
}

std::optional<Drop> Engine::on_nack(Instant now, const InPacket& in, const PdsNackValues& nack) {
  fep_.counters.nacks_received[static_cast<std::size_t>(nack.code)].increment();
  if (nack.nt) return on_rudi_nack(now, in, nack);
  Pdc* const pdc = table_.find(nack.dpdcid);
  if (pdc == nullptr) return Drop::kUnknownPdc;
  if (fep_.peer(pdc->peer).address.destination != in.source ||
      (nack.spdcid != 0 && pdc->remote != 0 && nack.spdcid != pdc->remote))
    return Drop::kWrongPeer;
  const SentPacket* const packet = pdc->sent.find(Psn(nack.nack_psn));
  if (packet == nullptr || packet->answered) return Drop::kGhostNack;
  if (pdc->credit) pdc->credit->on_heard();
  const auto drop = on_pdc_nack(now, *pdc, in, nack);
  if (pdc->live()) settle(now, *pdc);
  return drop;
}

std::optional<Drop> Engine::on_pdc_nack(Instant now, Pdc& pdc, const InPacket& in, const PdsNackValues& nack) {
  const Psn psn(nack.nack_psn);
  const SentPacket packet = pdc.sent.at(psn);
  const bool in_flight = !packet.received && !packet.lost;
  switch (nack.code) {
    case NackCode::kTrimmed:
    case NackCode::kTrimmedAck:
    case NackCode::kTrimmedLasthop: {
      const bool last_hop = nack.code == NackCode::kTrimmedLasthop;
      if (!in_flight) return std::nullopt;
      if (is_cut_for_ever(now, pdc, psn)) {
        fail(now, pdc, Status::kRetryExceeded, After::kFail);
        return std::nullopt;
      }
      // The receiver's credit keeps the last hop free: what it cuts is no matter of the window (uet §9.6).
      pdc.congestion.on_trimmed(now, packet.octets, !(last_hop && pdc.credit));
      pdc.sent.mark_lost(psn, true);
      // Whoever is not known there is granted nothing, and tries one packet at a time: not all of them at once.
      if (pdc.credit && pdc.remote == 0 && !pdc.sent.any_in_flight()) back_off(now, pdc);
      // The network is not as empty as the PROBE found it. DEVIATION: uet §9.5 goes on beyond the window.
      pdc.recovering = false;
      pdc.paths.on_feedback(now, in.entropy,
                            !last_hop ? PathFeedback::kTrimmed
                            : nack.m  ? PathFeedback::kEcn
                                      : PathFeedback::kGood);
      if (pdc.is_rod()) go_back(pdc, psn);
      progress(now, pdc);
      return std::nullopt;
    }
    case NackCode::kNoPdcAvail:
    case NackCode::kNoCccAvail:
    case NackCode::kNoBitmap:
    case NackCode::kNoResource:
      if (pdc.remote == 0) {
        if (pdc.blocked_until > now) {
          go_back(pdc, psn);
          return std::nullopt;
        }
        if (++pdc.setup_tries > fep_.config.setup_retries) {
          fail(now, pdc, Status::kRetryExceeded, After::kFail);
          return std::nullopt;
        }
        go_back(pdc, pdc.sent.una());
        back_off(now, pdc);
        return std::nullopt;
      }
      [[fallthrough]];
    case NackCode::kNoGtdDelAvail:
      pdc.clear_due = pdc.clear_due || nack.code == NackCode::kNoGtdDelAvail;
      [[fallthrough]];
    case NackCode::kNoPktBuffer:
    case NackCode::kNoSesMsgAvail:
    case NackCode::kPsnOorWindow:
      if (!in_flight) return std::nullopt;
      pdc.congestion.on_returned(packet.octets);
      pdc.sent.mark_lost(psn);
      if (pdc.is_rod()) go_back(pdc, psn);
      back_off(now, pdc);
      return std::nullopt;
    case NackCode::kRodOoo:
      // While what was thrown away is on its way again more complaints say nothing new.
      if (!pdc.sent.any_lost()) go_back(pdc, pdc.sent.una());
      return std::nullopt;
    case NackCode::kInvDpdcid:
    case NackCode::kPdcHdrMismatch:
    case NackCode::kClosing:
      if (pdc.remote == 0) return Drop::kGhostNack;
      if (pdc.state == PdcState::kClosing && pdc.initiator) {
        // The ACK of the close was lost.
        fep_.counters.pdcs_closed.increment();
        free(now, pdc);
      } else {
        fail(now, pdc, Status::kPdcFailed, After::kSendAgain, false);
      }
      return std::nullopt;
    case NackCode::kPktNotRcvd:
      pdc.sent.forget_received(psn);
      [[fallthrough]];
    case NackCode::kAckWithData:
    case NackCode::kRcvrInferLoss:
    case NackCode::kExpNackNormal:
    case NackCode::kExpNackErr:
      if (in_flight) pdc.congestion.on_returned(packet.octets);
      lose(now, pdc, psn, PathFeedback::kTrimmed);
      if (pdc.is_rod()) go_back(pdc, psn);
      return std::nullopt;
    case NackCode::kRcvdSesProcg:
      if (packet.lost) pdc.congestion.on_found(packet.octets);
      pdc.sent.mark_received(psn);
      progress(now, pdc);
      return std::nullopt;
    case NackCode::kNewStartPsn:
      if (pdc.remote != 0 || !pdc.initiator || pdc.sent.una() != pdc.start) return Drop::kGhostNack;
      pdc.start = Psn(nack.payload);
      pdc.sent.renumber(pdc.start);
      pdc.peer_cack = pdc.start - 1;
      pdc.window.start(pdc.start);
      go_back(pdc, pdc.start);
      progress(now, pdc);
      return std::nullopt;
    case NackCode::kClosingInErr:
    case NackCode::kGtdRespUnavail:
    case NackCode::kInvalidSyn:
    case NackCode::kPdcModeMismatch:
    case NackCode::kUnexpEvent:
    case NackCode::kExpNackFatal:
      fail(now, pdc, Status::kPdcFailed, After::kFail, nack.code != NackCode::kClosingInErr);
      return std::nullopt;
  }
  return Drop::kGhostNack;  // reserved
}

}  // namespace railyard::uet
