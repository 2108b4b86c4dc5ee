// Requests that come, checked in the order of uet §5.5, and what is answered.
#include <algorithm>

#include "transports/uet/engine.h"

namespace railyard::uet {

void Engine::on_drop(Drop reason) noexcept {
  fep_.counters.received_packets.increment();
  fep_.counters.dropped[static_cast<std::size_t>(reason)].increment();
}

void Engine::on_malformed(Malformed reason) noexcept {
  on_drop(Drop::kMalformed);
  fep_.counters.malformed[static_cast<std::size_t>(reason)].increment();
}

void Engine::on_not_uet(NotUet reason) noexcept {
  on_drop(Drop::kNotUet);
  fep_.counters.not_uet[static_cast<std::size_t>(reason)].increment();
}

std::optional<Drop> Engine::on_packet(Instant now, const InPacket& in) {
  run_due(now);
  if (!in.trimmed && runs_on(in.packet)) [[unlikely]] {
    on_malformed(Malformed::kBadPayloadLength);
    return Drop::kMalformed;
  }
  const auto drop = accept(now, in);
  if (drop) {
    on_drop(*drop);
    return drop;
  }
  fep_.counters.received_packets.increment();
  fep_.counters.taken_packets.increment();
  return std::nullopt;
}

std::optional<Drop> Engine::accept(Instant now, const InPacket& in) {
  if (in.ce) fep_.counters.ecn_marked_packets.increment();
  if (in.trimmed) return on_trimmed(now, in);
  if (const auto* request = std::get_if<PdsRequestValues>(&in.packet.pds)) return on_request(now, in, *request);
  if (const auto* ack = std::get_if<PdsAckValues>(&in.packet.pds)) return on_ack(now, in, *ack);
  if (const auto* nack = std::get_if<PdsNackValues>(&in.packet.pds)) return on_nack(now, in, *nack);
  if (const auto* cp = std::get_if<PdsCpValues>(&in.packet.pds)) return on_cp(now, in, *cp);
  if (const auto* rudi = std::get_if<PdsRudiValues>(&in.packet.pds))
    return rudi->type == PdsType::kRudiReq ? on_rudi_request(in, *rudi) : on_rudi_response(now, in, *rudi);
  return on_datagram(in);
}

std::optional<PeerId> Engine::known_peer(const InPacket& in) const noexcept {
  const auto at = fep_.by_address.find(in.source);
  return at == fep_.by_address.end() ? std::nullopt : std::optional(PeerId{at->second});
}

// The way back is the way it came. Who writes from addresses without end is not remembered without end.
std::optional<PeerId> Engine::learn_peer(const InPacket& in) {
  if (const auto known = known_peer(in)) return known;
  if (strangers_ >= fep_.config.most_strangers) return std::nullopt;
  ++strangers_;
  return peer({.source_mac = in.destination_mac,
               .next_hop_mac = in.source_mac,
               .source = in.destination,
               .destination = in.source});
}

bool Engine::reply(const Reply& what) {
  if (replies_.size() >= fep_.config.most_replies) return false;
  replies_.push(what);
  return true;
}

// (What it is about is dropped, and counted, whether there is room for the answer or not.)
void Engine::nack_nobody(const InPacket& in, std::uint32_t psn, std::uint16_t to, bool retx, NackCode code) {
  const auto peer = learn_peer(in);
  if (peer && reply({.peer = *peer,
                     .pds = PdsNackValues{.m = in.ce, .retx = retx, .code = code, .nack_psn = psn, .dpdcid = to},
                     .entropy = in.entropy}))
    fep_.counters.nacks_sent[static_cast<std::size_t>(code)].increment();
}

void Engine::nack_rudi(const InPacket& in, const PdsRudiValues& rudi, NackCode code) {
  const auto peer = learn_peer(in);
  if (peer &&
      reply({.peer = *peer,
             .pds = PdsNackValues{.m = in.ce, .retx = rudi.retx, .nt = true, .code = code, .nack_psn = rudi.pkt_id},
             .entropy = in.entropy}))
    fep_.counters.nacks_sent[static_cast<std::size_t>(code)].increment();
}

void Engine::nack(Instant now, Pdc& pdc, const InPacket& in, Psn psn, bool retx, NackCode code, std::uint32_t payload) {
  if (push_control(pdc, {.kind = PendingControl::Kind::kNack,
                         .code = code,
                         .m = in.ce,
                         .retx = retx,
                         .entropy = in.entropy,
                         .psn = psn,
                         .payload = payload,
                         .arrived = now}))
    fep_.counters.nacks_sent[static_cast<std::size_t>(code)].increment();
}

// Never acknowledged, never delivered: only what the PDS header says counts (uet §10.5).
std::optional<Drop> Engine::on_trimmed(Instant now, const InPacket& in) {
  const NackCode code = in.last_hop ? NackCode::kTrimmedLasthop : NackCode::kTrimmed;
  const auto* const rudi = std::get_if<PdsRudiValues>(&in.packet.pds);
  if (rudi != nullptr && rudi->type == PdsType::kRudiReq) {
    nack_rudi(in, *rudi, code);
  } else if (rudi != nullptr) {
    on_trimmed_rudi_response(now, in, *rudi);
  }
  const auto* const pds = std::get_if<PdsRequestValues>(&in.packet.pds);
  if (pds == nullptr) return Drop::kTrimmed;
  const auto peer = known_peer(in);
  Pdc* pdc = nullptr;
  if (pds->syn) {
    if (peer) pdc = table_.find_opened(*peer, pds->spdcid);
    if (pdc != nullptr && pdc->start != Psn(pds->start_psn())) return Drop::kTrimmed;
    if (pdc == nullptr && peer && table_.was_closed(*peer, pds->spdcid, Psn(pds->start_psn()))) return Drop::kTrimmed;
  } else {
    const auto found = pdc_of(in, pds->spdcid, pds->dpdcid, pds->psn, pds->retx, true);
    if (!found) return Drop::kTrimmed;
    pdc = *found;
  }
  const Psn psn(pds->psn);
  // A sender that is not known yet can be granted nothing.
  if (pdc != nullptr && pdc->remote != 0 && pds->has_cc()) {
    pacer_.on_packet(now, in.ce, true, in.last_hop);
    on_demand(now, *pdc, pds->credit_target);
  }
  if (pdc == nullptr) {
    nack_nobody(in, pds->psn, pds->spdcid, pds->retx, code);
  } else if (pdc->window.place(psn) == ReceiveWindow::Place::kDuplicate) {
    on_duplicate(now, *pdc, in, *pds);
    settle(now, *pdc);
  } else {
    nack(now, *pdc, in, psn, pds->retx, code);
    settle(now, *pdc);
  }
  return Drop::kTrimmed;
}

// The PDC of a packet that names it. `answers`: a packet of nobody's is answered.
std::expected<Pdc*, Drop> Engine::pdc_of(const InPacket& in, std::uint16_t spdcid, std::uint16_t dpdcid,
                                         std::uint32_t psn, bool retx, bool answers) {
  Pdc* const pdc = table_.find(dpdcid);
  if (pdc == nullptr) {
    if (answers) nack_nobody(in, psn, spdcid, retx, NackCode::kInvDpdcid);
    return std::unexpected(Drop::kUnknownPdc);
  }
  const bool right = fep_.peer(pdc->peer).address.destination == in.source &&
                     (pdc->remote == spdcid || (pdc->remote == 0 && pdc->initiator && spdcid != 0));
  if (right) return pdc;
  if (answers) nack_nobody(in, psn, spdcid, retx, NackCode::kPdcHdrMismatch);
  return std::unexpected(Drop::kWrongPeer);
}

// The PDC of a packet whose sender does not know what it is called here; maybe a new one.
std::expected<Pdc*, Drop> Engine::pdc_of_syn(Instant now, const InPacket& in, const PdsRequestValues& pds,
                                             bool& opened) {
  const auto known = learn_peer(in);
  if (!known) return std::unexpected(Drop::kNoPeer);
  const PeerId peer = *known;
  const Psn start(pds.start_psn());
  const auto invalid = [&] {
    nack_nobody(in, pds.psn, pds.spdcid, pds.retx, NackCode::kInvalidSyn);
    return std::unexpected(Drop::kInvalidSyn);
  };
  if (pds.spdcid == 0) return std::unexpected(Drop::kInvalidSyn);
  if (Pdc* const pdc = table_.find_opened(peer, pds.spdcid)) {
    if (pdc->start != start) return invalid();
    return pdc;
  }
  // DEVIATION: uet §5.3 has INVALID_SYN for any syn towards a PDC that was opened here. One with another Start_PSN
  // comes of a peer that has given its half up, and uses the number again: it opens another.
  if (const Pdc* const own = table_.find_learnt(peer, pds.spdcid); own != nullptr && own->start == start)
    return invalid();
  if (!std::holds_alternative<SesRequestValues>(in.packet.ses) && !std::holds_alternative<PdsCpValues>(in.packet.pds))
    return invalid();
  if (table_.was_closed(peer, pds.spdcid, start)) return std::unexpected(Drop::kClosedPdc);
  Pdc* const pdc = open(now, peer, pds.mode(), start, false, in.data_class);
  if (pdc == nullptr) {
    nack_nobody(in, pds.psn, pds.spdcid, pds.retx, NackCode::kNoPdcAvail);
    ask_for_room(now);
    return std::unexpected(Drop::kNoPdc);
  }
  pdc->remote = pds.spdcid;
  table_.note_opened(*pdc);
  opened = true;
  return pdc;
}

// What the semantic sublayer makes of a packet that is taken.
Verdict Engine::execute(Instant now, Pdc& pdc, Psn psn, const InPacket& in) {
  if (const auto* request = std::get_if<SesRequestValues>(&in.packet.ses))
    return target_.on_request(now, pdc, psn, *request, in.payload);
  const auto* data = std::get_if<SesResponseValues>(&in.packet.ses);
  if (data != nullptr && pdc.initiator) return initiator_.on_read_data(now, pdc, *data, in.payload);
  return {};
}

std::optional<Drop> Engine::on_request(Instant now, const InPacket& in, const PdsRequestValues& pds) {
  bool opened = false;
  const auto found =
      pds.syn ? pdc_of_syn(now, in, pds, opened) : pdc_of(in, pds.spdcid, pds.dpdcid, pds.psn, pds.retx, true);
  if (!found) return found.error();
  Pdc& pdc = **found;
  const Psn psn(pds.psn);
  if (pdc.mode != pds.mode()) {
    nack(now, pdc, in, psn, pds.retx, NackCode::kPdcModeMismatch);
    settle(now, pdc);
    return Drop::kModeMismatch;
  }
  pdc.idle_since = now;
  const Psn cack = pdc.window.cack();
  pdc.clear_to(Psn(pds.clear_psn()));
  const bool cleared = pdc.window.cack() != cack;

  std::optional<Drop> drop;
  const ReceiveWindow::Place place = pdc.window.place(psn);
  if (place == ReceiveWindow::Place::kDuplicate) {
    drop = on_duplicate(now, pdc, in, pds);
  } else if (place == ReceiveWindow::Place::kBeyond) {
    nack(now, pdc, in, psn, pds.retx, pds.syn ? NackCode::kInvalidSyn : NackCode::kPsnOorWindow);
    drop = Drop::kOutOfWindow;
  } else if (pdc.is_rod() && psn != pdc.window.expected()) {
    // DEVIATION: go-back-N; a reorder buffer, which the reference provider has, is optional (uet §13, 19).
    if (!pdc.ooo_told) nack(now, pdc, in, psn, pds.retx, NackCode::kRodOoo);
    pdc.ooo_told = true;
    drop = Drop::kRodOutOfOrder;
  } else if (pdc.stored.size() >= fep_.config.most_stored_responses && psn != pdc.window.expected()) {
    // (The one that is next is taken in any case: without it none of the others can be cleared.)
    nack(now, pdc, in, psn, pds.retx, NackCode::kNoGtdDelAvail);
    drop = Drop::kNoResource;
  } else {
    const Verdict verdict = execute(now, pdc, psn, in);
    if (verdict.refused) {
      nack(now, pdc, in, psn, pds.retx, *verdict.refused);
      drop = Drop::kNoResource;
    } else {
      take(now, pdc, in, pds, verdict, opened || cleared);
    }
  }
  // What it says of the other end holds in any case.
  if (pdc.remote == 0 && place != ReceiveWindow::Place::kBeyond) learn_target(pdc, pds.spdcid);
  if (pds.has_cc() && place != ReceiveWindow::Place::kBeyond) [[unlikely]] {
    pacer_.on_packet(now, in.ce, false, false);
    on_demand(now, pdc, pds.credit_target);
  }
  if (!pdc.inbound.empty() && (pdc.halves_at <= now || pdc.halves_at == Instant::never()))
    pdc.halves_at = now + fep_.config.half_message_keeps();
  settle(now, pdc);
  return drop;
}

// It has come before: its answer goes again.
std::optional<Drop> Engine::on_duplicate(Instant now, Pdc& pdc, const InPacket& in, const PdsRequestValues& pds) {
  if (!pds.retx && !fep_.config.answer_all_duplicates) return Drop::kDuplicate;
  const Psn psn(pds.psn);
  PendingControl ack{.m = in.ce, .retx = pds.retx, .entropy = in.entropy, .psn = psn, .arrived = now};
  if (const StoredResponse* const stored = pdc.find_stored(psn)) {
    if (!stored->ready) {
      nack(now, pdc, in, psn, pds.retx, NackCode::kRcvdSesProcg);
      return Drop::kDuplicate;
    }
    ack.response = stored->response;
  } else if (const auto* request = std::get_if<SesRequestValues>(&in.packet.ses)) {
    ack.response = default_answer(*request);
  } else if (const auto* data = std::get_if<SesResponseValues>(&in.packet.ses)) {
    ack.response.ses = default_response(data->message_id, data->job_id);
  } else {
    ack.response.ses = default_response(static_cast<std::uint16_t>(pdc.last_message), pdc.last_job);
  }
  acknowledge(pdc, ack);
  return Drop::kDuplicate;
}

void Engine::acknowledge(Pdc& pdc, const PendingControl& ack) {
  pdc.ack_octets = 0;
  const std::size_t waiting = pdc.control.size();
  if (waiting > 0 && pdc.control[waiting - 1].may_merge) {
    pdc.control[waiting - 1] = ack;
    return;
  }
  push_control(pdc, ack);
}

// A packet that is new: noted, counted, and acknowledged at once or with others (uet §5.7).
void Engine::take(Instant now, Pdc& pdc, const InPacket& in, const PdsRequestValues& pds, const Verdict& verdict,
                  bool at_once) {
  const Psn psn(pds.psn);
  if (psn != pdc.window.expected()) fep_.counters.placed_out_of_order.increment();
  if (psn == pdc.window.expected()) pdc.ooo_told = false;
  pdc.window.accept(psn, verdict.guaranteed);
  pdc.hears_of_reads();
  if (verdict.guaranteed) pdc.stored.push_back({psn, verdict.ready, verdict.response});
  pdc.rcvd_octets += in.packet.octets();
  pdc.last_message = verdict.response.ses.message_id;
  pdc.last_job = verdict.response.ses.job_id;
  pdc.last_entropy = in.entropy;
  pdc.ack_octets += std::max(in.packet.payload_octets, fep_.config.ack_min_add);
  if (pds.ar && pdc.window.gap() && psn - pdc.window.expected() > 0) {
    // The farthest of them: when what is before it has come, all of them are told.
    if (!pdc.ar_waits || psn - pdc.last_ar > 0) pdc.last_ar = psn;
    pdc.ar_waits = true;
  }
  bool closes_gap = false;
  if (pdc.ar_waits && pdc.window.expected() - pdc.last_ar > 0) {
    pdc.ar_waits = false;
    closes_gap = true;
  }
  const EngineConfig& c = fep_.config;
  const bool counted =
      pdc.ack_octets >= c.ack_trigger || (pdc.window.gap() && pdc.ack_octets >= c.ack_trigger_missing);
  // So far behind the newest that a SACK of packets to come would not name it.
  const bool out_of_sight = pdc.window.highest() - psn >= 64;
  const bool must = at_once || pds.ar || in.ce || verdict.guaranteed || closes_gap || out_of_sight;
  if (!must && !counted) return;
  acknowledge(pdc, {.m = in.ce,
                    .retx = pds.retx,
                    .may_merge = !must,
                    .entropy = in.entropy,
                    .psn = psn,
                    .arrived = now,
                    .response = verdict.response});
}

void Engine::take_late_responses(Instant now) {
  for (const LateResponse& late : target_.late()) {
    Pdc* const pdc = table_.find(late.pdc);
    StoredResponse* const stored = pdc == nullptr ? nullptr : pdc->find_stored(late.psn);
    if (stored == nullptr || stored->ready) continue;
    stored->ready = true;
    stored->response = late.response;
    acknowledge(*pdc, {.entropy = pdc->last_entropy, .psn = late.psn, .arrived = now, .response = late.response});
    settle(now, *pdc);
  }
  target_.late().clear();
}

}  // namespace railyard::uet
