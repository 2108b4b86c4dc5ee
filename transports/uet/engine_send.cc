// Packets are made.
#include <algorithm>
#include <utility>

#include "transports/base/payload_place.h"
#include "transports/uet/engine.h"

namespace railyard::uet {

bool Engine::send(Instant now, Priority priority, OutPacket& out) {
  run_due(now);
  const bool any = (priority == fep_.config.control && send_control(now, out)) ||
                   (priority == fep_.config.data && send_data(now, out));
  if (!any) return false;
  fep_.counters.sent_packets.increment();
  fep_.counters.sent_payload_octets.add(out.payload.octets);
  return true;
}

bool Engine::send_control(Instant now, OutPacket& out) {
  if (first_reply_ < replies_.size()) {
    const Reply reply = replies_[first_reply_++];
    if (first_reply_ == replies_.size()) {
      replies_.clear();
      first_reply_ = 0;
    }
    out = {};
    out.packet.pds = reply.pds;
    out.packet.ses = reply.ses;
    out.to = &fep_.peer(reply.peer).address;
    out.entropy = reply.entropy;
    out.control = true;
    return true;
  }
  while (!control_line_.empty()) {
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(control_line_.front()));
    control_line_.pop();
    if (pdc == nullptr || !pdc->in_control_line) continue;
    pdc->in_control_line = false;
    bool sent = false;
    if (!pdc->control.empty()) {
      const PendingControl what = pdc->control.front();
      pdc->control.pop();
      fill_control(now, *pdc, what, out);
      sent = true;
    } else if (pdc->clear_due) {
      pdc->clear_due = false;
      // Data that goes now says it, too (uet §5.6).
      if (!has_data(now, *pdc)) {
        fill_control(now, *pdc,
                     {.kind = PendingControl::Kind::kCp,
                      .ctl = CtlType::kClearCmd,
                      .entropy = pdc->last_entropy,
                      .payload = (pdc->sent.una() - 1).value()},
                     out);
        sent = true;
      }
    }
    line_up(now, *pdc);
    if (sent) return true;
  }
  return false;
}

bool Engine::send_data(Instant now, OutPacket& out) {
  connectionless_.first = !connectionless_.first;
  return (connectionless_.first && send_connectionless(now, out)) || send_pdc_data(now, out) ||
         send_connectionless(now, out);
}

bool Engine::send_pdc_data(Instant now, OutPacket& out) {
  while (!data_line_.empty()) {
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(data_line_.front()));
    data_line_.pop();
    if (pdc == nullptr || !pdc->in_data_line) continue;
    pdc->in_data_line = false;
    const bool may = std::max(pdc->next_data, pdc->blocked_until) <= now && has_data(now, *pdc);
    if (may) {
      if (pdc->sent.any_lost()) {
        send_again(now, *pdc, out);
      } else {
        send_first(now, *pdc, out);
      }
    }
    settle(now, *pdc);
    if (may) return true;
  }
  return false;
}

void Engine::send_again(Instant now, Pdc& pdc, OutPacket& out) {
  const Psn psn = pdc.sent.first_lost();
  const SentPacket& packet = pdc.sent.at(psn);
  pdc.sent.sent_again(psn, now, pdc.paths.next(now, pdc.chance));
  const Instant allowed = pdc.next_data;
  pdc.next_data = pdc.congestion.on_sent(now, allowed, packet.octets);
  pace(now, pdc, allowed, packet.cargo, packet.octets);
  fep_.counters.retransmitted_packets.increment();
  fill(pdc, packet.cargo, psn, true, out);
  out.entropy = packet.entropy;
}

void Engine::send_first(Instant now, Pdc& pdc, OutPacket& out) {
  SentPacket packet{.sent_at = now, .entropy = pdc.paths.next(now, pdc.chance), .transmissions = 1};
  next_cargo(pdc, packet.cargo, packet.octets);
  const Psn psn = pdc.sent.add(packet);
  const Instant allowed = pdc.next_data;
  pdc.next_data = pdc.congestion.on_sent(now, allowed, packet.octets);
  pace(now, pdc, allowed, packet.cargo, packet.octets);
  if (pdc.rto_at == Instant::never()) progress(now, pdc);
  switch (packet.cargo.kind) {
    case Cargo::Kind::kRequest:
      fill(pdc, packet.cargo, psn, false, out);
      initiator_.sent_first(pdc, packet.cargo);
      break;
    case Cargo::Kind::kReadData:
      pdc.read_jobs.pop();
      ++pdc.open_read_jobs;
      fill(pdc, packet.cargo, psn, false, out);
      break;
    case Cargo::Kind::kCloseCmd:
    case Cargo::Kind::kCloseReq:
      pdc.close_due = false;
      pdc.close_psn = psn;
      pdc.state = PdcState::kClosing;
      pdc.waits_for_close = !pdc.initiator;
      fill(pdc, packet.cargo, psn, false, out);
      break;
  }
  out.entropy = packet.entropy;
  // Nothing follows that would bring an acknowledgement about.
  auto* const request = std::get_if<PdsRequestValues>(&out.packet.pds);
  if (request != nullptr && !request->ar) request->ar = !has_data(now, pdc) && !initiator_.waits_for_reads(pdc);
}

void Engine::fill(Pdc& pdc, const Cargo& cargo, Psn psn, bool again, OutPacket& out) {
  out = {};
  out.to = &fep_.peer(pdc.peer).address;
  out.again = again;
  const bool syn = pdc.initiator && pdc.remote == 0;
  const auto psn_offset = static_cast<std::uint16_t>(syn ? psn - pdc.start : 0);
  if (cargo.kind == Cargo::Kind::kCloseCmd || cargo.kind == Cargo::Kind::kCloseReq) {
    out.control = true;
    out.packet.pds =
        PdsCpValues{.ctl_type = cargo.kind == Cargo::Kind::kCloseCmd ? CtlType::kCloseCmd : CtlType::kCloseReq,
                    .retx = again,
                    .ar = true,
                    .psn = psn.value(),
                    .spdcid = pdc.id.value,
                    .dpdcid = pdc.remote};
    return;
  }
  PdsRequestValues pds{.type = pdc.is_rod() ? PdsType::kRodReq : PdsType::kRudReq,
                       .retx = again,
                       .ar = again,
                       .syn = syn,
                       .clear_psn_offset = static_cast<std::int16_t>((pdc.sent.una() - 1) - psn),
                       .psn = psn.value(),
                       .spdcid = pdc.id.value,
                       .dpdcid = syn ? std::uint16_t{0} : pdc.remote,
                       .psn_offset = psn_offset};
  pdc.clear_due = false;
  if (cargo.kind == Cargo::Kind::kReadData) {
    fill_read_data(target_.read_job(cargo.item), out.packet, out.payload);
    out.read_from = target_.read_job(cargo.item).key;
    pds.next_hdr = NextHdr::kResponseData;
  } else {
    initiator_.fill(cargo, out.packet, out.payload, out.small);
    name_message(cargo.item, out);
    pds.next_hdr = NextHdr::kRequestStd;
    pds.ar = pds.ar || initiator_.is_last(cargo);
  }
  out.packet.pds = pds;
}

void Engine::name_message(std::uint32_t message, OutPacket& out) const noexcept {
  out.context = initiator_.message(message).context;
  out.wr_id = initiator_.message(message).wr.wr_id;
}

void Engine::fill_read_data(const ReadJob& job, Packet& packet, PayloadRef& payload) {
  SesResponseValues ses{.form = NextHdr::kResponseData,
                        .opcode = SesResponseOpcode::kResponseWData,
                        .message_id = job.message_id,
                        .job_id = job.job_id,
                        .modified_length = job.total,
                        .read_request_message_id = job.message_id,
                        .payload_length = static_cast<std::uint16_t>(job.octets),
                        .message_offset = job.message_offset};
  const auto at = fep_.memory.check(job.key, job.domain, job.address, job.octets, Access::kRemoteRead);
  if (at) {
    payload = payload_at(*at, job.octets);
  } else {
    // It has gone since it was asked for.
    ses.return_code = ReturnCode::kBadMkey;
    ses.payload_length = 0;
  }
  packet.payload_octets = payload.octets;
  packet.ses = ses;
}

void Engine::fill_control(Instant now, Pdc& pdc, const PendingControl& what, OutPacket& out) {
  if (what.kind == PendingControl::Kind::kAck) return fill_ack(now, pdc, what, out);
  out = {};
  out.to = &fep_.peer(pdc.peer).address;
  out.entropy = what.entropy;
  out.control = true;
  if (what.kind == PendingControl::Kind::kNack) {
    out.packet.pds = PdsNackValues{.m = what.m,
                                   .retx = what.retx,
                                   .code = what.code,
                                   .nack_psn = what.psn.value(),
                                   .spdcid = pdc.id.value,
                                   .dpdcid = pdc.remote,
                                   .payload = what.payload};
    return;
  }
  const bool asks = what.ctl == CtlType::kAckReq || what.ctl == CtlType::kProbe;
  out.packet.pds = PdsCpValues{.ctl_type = what.ctl,
                               .ar = asks,
                               .probe_opaque = what.opaque,
                               .psn = what.psn.value(),
                               .spdcid = pdc.id.value,
                               .dpdcid = pdc.remote,
                               .payload = what.payload};
}

void Engine::fill_ack(Instant now, Pdc& pdc, const PendingControl& what, OutPacket& out) {
  out = {};
  out.to = &fep_.peer(pdc.peer).address;
  out.entropy = what.entropy;
  out.control = true;
  fep_.counters.acks_sent.increment();
  const ReceiveWindow& window = pdc.window;
  PdsAckValues ack{.type = fep_.config.ack_cc ? PdsType::kAckCc : PdsType::kAck,
                   .next_hdr = what.no_response ? NextHdr::kNone : what.response.ses.form,
                   .m = what.m,
                   .retx = what.retx,
                   .p = what.probed,
                   .cack_psn = window.cack().value(),
                   .spdcid = pdc.id.value,
                   .dpdcid = pdc.remote};
  if (what.probed) {
    ack.probe_opaque = what.opaque;
  } else {
    ack.ack_psn_offset = static_cast<std::int16_t>(what.psn - window.cack());
  }
  // Only a target asks (uet §2).
  if (!pdc.stored.empty() && !pdc.initiator) ack.req = AckRequest::kReqClear;
  if (fep_.config.ack_cc) {
    // The packet that is answered is the last that the bitmap covers, unless that began before what is missing. A PROBE
    // says itself where it begins.
    constexpr std::int32_t kMostOffset = 1 << 14;
    Psn base = what.psn - 63 - window.cack() > 2 ? what.psn - 63 : window.cack() + 2;
    if (what.probed && what.psn - window.cack() < kMostOffset && what.psn - window.cack() > -kMostOffset)
      base = what.psn;
    ack.mpr = static_cast<std::uint8_t>(std::min(window.range() / kMprPsns, 255u));
    ack.sack_psn_offset = static_cast<std::int16_t>(base - window.cack());
    ack.sack_bitmap = window.sack(base);
    constexpr std::uint32_t kMostOoo = kOooCountInvalid - 1;
    const std::int64_t service = (now - what.arrived).ps / (kServiceTimeNanoseconds * 1000);
    ack.cc_state = to_cc_state(NsccStateValues{
        .service_time = static_cast<std::uint16_t>(std::min<std::int64_t>(service, kServiceTimeTooLong)),
        .rcvd_bytes = static_cast<std::uint32_t>(pdc.rcvd_octets / kCreditOctets) & 0xFF'FFFF,
        .ooo_count = static_cast<std::uint16_t>(std::min(window.ooo_count(), kMostOoo))});
  }
  out.packet.pds = ack;
  if (what.no_response) return;
  out.packet.ses = what.response.ses;
  if (!what.response.has_data()) return;
  const std::uint32_t octets = what.response.ses.payload_length;
  out.packet.payload_octets = octets;
  if (what.response.real) {
    out.small = what.response.data;
    out.payload = {.octets = octets, .bytes = out.small.data()};
  } else {
    out.payload = what.response.promise;
  }
}

}  // namespace railyard::uet
