// Packets are made.
#include <algorithm>
#include <utility>

#include "transports/base/payload_place.h"
#include "transports/uet/engine.h"

namespace railyard::uet {
namespace {

// Of cargo that is a control packet.
CtlType ctl_type_of(Cargo::Kind kind) noexcept {
  switch (kind) {
    case Cargo::Kind::kCloseCmd:
      return CtlType::kCloseCmd;
    case Cargo::Kind::kCloseReq:
      return CtlType::kCloseReq;
    default:
      return CtlType::kNoop;
  }
}

}  // namespace

bool Engine::send(Instant now, Priority priority, OutPacket& out, Ahead& ahead) {
  if (run_due(now)) ahead = {};
  if (priority == fep_.config.control && send_control(now, out)) {
    ahead = {};
  } else if (!send_class(now, priority, out, ahead)) {
    return false;
  }
  fep_.counters.sent_packets.increment();
  fep_.counters.sent_payload_octets.add(out.payload.octets);
  return true;
}

bool Engine::send_control(Instant now, OutPacket& out) {
  if (!replies_.empty()) {
    const Reply& reply = replies_.front();
    out.begin(reply.peer, reply.entropy, true);
    out.packet.pds = reply.pds;
    out.packet.ses = reply.ses;
    replies_.pop();
    return true;
  }
  while (!control_line_.empty()) {
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(control_line_.front()));
    control_line_.pop();
    if (pdc == nullptr || !pdc->in_control_line) continue;
    pdc->in_control_line = false;
    bool sent = false;
    if (!pdc->control.empty()) {
      fill_control(now, *pdc, pdc->control.front(), out);
      pdc->control.pop();
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
    if (!sent && pdc->blocked_until <= now && has_counted_cp(*pdc)) {
      if (pdc->sent.any_lost()) {
        send_again(now, *pdc, out);
      } else {
        send_first(now, *pdc, {next_counted_cp(*pdc), PdsCp::kOctets}, out);
      }
      pdc->idle_since = now;
      set_tail(now, *pdc);
      set_timer(*pdc);
      sent = true;
    }
    line_up(now, *pdc);
    if (sent) return true;
  }
  return false;
}

// Data classes that differ in their marks only share a class of the NIC: in turn.
bool Engine::send_class(Instant now, Priority priority, OutPacket& out, Ahead& ahead) {
  const std::size_t lines = data_lines_.size();
  std::size_t at = next_line_;
  for (std::size_t n = 0; n < lines; ++n) {
    DataLine& line = data_lines_[at];
    if (++at == lines) at = 0;
    if (line.config.priority != priority || !send_data(now, line, out, ahead)) continue;
    next_line_ = at;
    return true;
  }
  return false;
}

bool Engine::send_data(Instant now, DataLine& line, OutPacket& out, Ahead& ahead) {
  line.connectionless_first = !line.connectionless_first;
  if (!has_connectionless(line)) [[likely]]
    return send_pdc_data(now, line, out, ahead);
  return (line.connectionless_first && send_connectionless(now, line, out)) || send_pdc_data(now, line, out, ahead) ||
         send_connectionless(now, line, out);
}

bool Engine::send_pdc_data(Instant now, DataLine& line, OutPacket& out, Ahead& ahead) {
  while (!line.pdcs.empty()) {
    Pdc* const pdc = table_.find(static_cast<std::uint16_t>(line.pdcs.front()));
    line.pdcs.pop();
    if (pdc == nullptr || !pdc->in_data_line) continue;
    pdc->in_data_line = false;
    NextCargo next = ahead.next;
    if (ahead.pdc != pdc->id.value && (pdc->data_from() > now || !has_data(now, *pdc, next))) {
      set_tail(now, *pdc);
      settle(now, *pdc);
      continue;
    }
    if (pdc->path_probes.any_waiting()) [[unlikely]] {
      send_path_probe(now, *pdc, out);
    } else if (pdc->sent.any_lost()) {
      send_again(now, *pdc, out);
    } else {
      send_first(now, *pdc, next, out);
    }
    // As settle() does: something is under way.
    const bool more = has_data(now, *pdc, ahead.next);
    const bool is_known = more && !pdc->sent.any_lost() && !pdc->path_probes.any_waiting() && pdc->data_from() <= now;
    ahead.pdc = is_known ? pdc->id.value : std::uint16_t{0};
    if (auto* const request = std::get_if<PdsRequestValues>(&out.packet.pds)) {
      if (!request->ar) request->ar = needs_ack(now, *pdc, more);
      if (request->ar) pdc->asks(now, Psn(request->psn));
    }
    pdc->idle_since = now;
    if (pdc->credit && !more) [[unlikely]]
      watch_credit(now, *pdc);
    line_up_control(now, *pdc);
    if (more) {
      line_up_data(now, *pdc);
    } else {
      set_tail(now, *pdc);
    }
    set_timer(*pdc);
    return true;
  }
  return false;
}

// Whether a packet that was just sent has to ask for its acknowledgement: nothing follows that would bring one about,
// or not soon. What follows slowly counts for one only once in many packets, and all of them would time out before.
bool Engine::needs_ack(Instant now, Pdc& pdc, bool more) const noexcept {
  const Duration soon = fep_.config.rto_init / 4;
  if (pdc.sent.size() == 1) pdc.asked_at = now;  // nothing is outstanding from before
  if (now - pdc.asked_at >= soon || pdc.next_data - now > soon) return true;
  if (const Nscc* const nscc = pdc.congestion.nscc(); nscc != nullptr) {
    // A window that is hardly more than what one ACK is for would wait for it.
    const double window = nscc->max_wnd();
    const double next = pdc.sent.at(pdc.sent.next() - 1).octets;
    if (window < 2.0 * fep_.config.ack_trigger && (pdc.unasked + next) * 2 > window) return true;
  }
  return !more && !initiator_.waits_for_reads(pdc);
}

void Engine::send_again(Instant now, Pdc& pdc, OutPacket& out) {
  const Psn psn = pdc.sent.first_lost();
  const SentPacket& packet = pdc.sent.at(psn);
  // When it comes after all, that is of the transmission before this one, at the earliest.
  if (psn == pdc.watched) pdc.watched_sent = packet.sent_at;
  pdc.sent.sent_again(psn, now, pdc.paths.next(now, pdc.chance));
  pdc.one_beyond_window = false;
  if (std::exchange(pdc.goes_after_timeout, false)) pdc.rto_from = now;
  if (pdc.rto_at == Instant::never()) pdc.rto_at = rto_due(pdc);
  start_packet_timer(now, pdc, packet);
  const Instant allowed = pdc.next_data;
  pdc.next_data = pdc.congestion.on_sent(now, allowed, packet.octets);
  spend_credit(pdc, packet);
  pace(now, pdc, allowed, packet.cargo, packet.octets);
  fep_.counters.retransmitted_packets.increment();
  ++pdc.retransmitted;
  fill(pdc, packet.cargo, psn, packet.entropy, true, out);
}

void Engine::send_first(Instant now, Pdc& pdc, const NextCargo& next, OutPacket& out) {
  // A close takes the way of the last ACK, behind it.
  const bool behind_ack = next.cargo.kind == Cargo::Kind::kCloseCmd && pdc.ack_entropy;
  const SentPacket packet{.sent_at = now,
                          .cargo = next.cargo,
                          .octets = next.octets,
                          .entropy = behind_ack ? *pdc.ack_entropy : pdc.paths.next(now, pdc.chance),
                          .transmissions = 1};
  const Psn psn = pdc.sent.add(packet);
  pdc.unasked += packet.octets;
  const Instant allowed = pdc.next_data;
  pdc.next_data = pdc.congestion.on_sent(now, allowed, packet.octets);
  spend_credit(pdc, packet);
  pace(now, pdc, allowed, packet.cargo, packet.octets);
  if (pdc.rto_at == Instant::never()) progress(now, pdc);
  start_packet_timer(now, pdc, packet);
  switch (packet.cargo.kind) {
    case Cargo::Kind::kRequest:
      if (pdc.credit) [[unlikely]]
        take_off_backlog(pdc, packet);
      fill(pdc, packet.cargo, psn, packet.entropy, false, out);
      initiator_.sent_first(pdc, packet.cargo);
      pdc.hears_of_reads();
      break;
    case Cargo::Kind::kReadData:
      pdc.read_jobs.pop();
      ++pdc.open_read_jobs;
      fill(pdc, packet.cargo, psn, packet.entropy, false, out);
      break;
    case Cargo::Kind::kCloseCmd:
    case Cargo::Kind::kCloseReq:
      pdc.close_due = false;
      pdc.close_psn = psn;
      pdc.state = PdcState::kClosing;
      pdc.waits_for_close = !pdc.initiator;
      fill(pdc, packet.cargo, psn, packet.entropy, false, out);
      break;
    case Cargo::Kind::kNoop:
      pdc.noop_due = false;
      fill(pdc, packet.cargo, psn, packet.entropy, false, out);
      break;
  }
}

// In the class of data, behind those of its entropy value: it waits where they wait.
void Engine::send_path_probe(Instant now, Pdc& pdc, OutPacket& out) {
  PathProbe& probe = pdc.path_probes.next();
  probe.id = ++pdc.probes;
  probe.sent_at = now;
  probe.until = now + path_probe_takes(pdc, probe.tries);
  pdc.late_at = std::min(pdc.late_at, probe.until);
  fep_.counters.probes_sent.increment();
  out.begin(pdc.peer, probe.entropy, false, pdc.data_class);
  out.packet.pds = PdsCpValues{.ctl_type = CtlType::kProbe,
                               .ar = true,
                               .probe_opaque = probe.id,
                               .spdcid = pdc.id.value,
                               .dpdcid = pdc.remote,
                               .payload = probe.from.value()};
  out.packet.ses = std::monostate{};
}

void Engine::fill(Pdc& pdc, const Cargo& cargo, Psn psn, std::uint16_t entropy, bool again, OutPacket& out) {
  out.begin(pdc.peer, entropy, cargo.is_control(), pdc.data_class);
  out.again = again;
  const bool syn = pdc.initiator && pdc.remote == 0;
  if (cargo.is_control()) {
    out.packet.pds = PdsCpValues{.ctl_type = ctl_type_of(cargo.kind),
                                 .isrod = cargo.kind == Cargo::Kind::kNoop && pdc.is_rod(),
                                 .retx = again,
                                 .ar = true,
                                 .psn = psn.value(),
                                 .spdcid = pdc.id.value,
                                 .dpdcid = pdc.remote};
    out.packet.ses = std::monostate{};
    return;
  }
  PdsRequestValues& pds = out.packet.pds.emplace<PdsRequestValues>();
  if (pdc.credit) [[unlikely]] {
    pds.type = pdc.is_rod() ? PdsType::kRodCcReq : PdsType::kRudCcReq;
    pds.credit_target = ask_for_credit(pdc).value();
  } else {
    pds.type = pdc.is_rod() ? PdsType::kRodReq : PdsType::kRudReq;
  }
  pds.retx = again;
  pds.ar = again;
  pds.syn = syn;
  pds.clear_psn_offset = static_cast<std::int16_t>((pdc.sent.una() - 1) - psn);
  pds.psn = psn.value();
  pds.spdcid = pdc.id.value;
  if (syn) {
    pds.psn_offset = static_cast<std::uint16_t>(psn - pdc.start);
  } else {
    pds.dpdcid = pdc.remote;
  }
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
  out.begin(pdc.peer, what.entropy, true);
  out.packet.ses = std::monostate{};
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
  out.begin(pdc.peer, what.entropy, true);
  pdc.ack_entropy = what.entropy;
  fep_.counters.acks_sent.increment();
  const ReceiveWindow& window = pdc.window;
  PdsAckValues& ack = out.packet.pds.emplace<PdsAckValues>();
  ack.type = fep_.config.ack_cc ? PdsType::kAckCc : PdsType::kAck;
  ack.next_hdr = what.no_response ? NextHdr::kNone : what.response.ses.form;
  ack.m = what.m;
  ack.retx = what.retx;
  ack.p = what.probed;
  ack.cack_psn = window.cack().value();
  ack.spdcid = pdc.id.value;
  ack.dpdcid = pdc.remote;
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
    const auto ooo_count = static_cast<std::uint16_t>(std::min(window.ooo_count(), kMostOoo));
    if (acks_carry_credit(pdc)) [[unlikely]] {
      ack.cc_type = static_cast<std::uint8_t>(CcType::kCredit);
      ack.cc_state = to_cc_state(CreditStateValues{.credit = pdc.grants.granted.value(), .ooo_count = ooo_count});
    } else {
      ack.cc_state = to_cc_state(NsccStateValues{
          .service_time = static_cast<std::uint16_t>(std::min<std::int64_t>(service, kServiceTimeTooLong)),
          .rcvd_bytes = static_cast<std::uint32_t>(pdc.rcvd_octets / kCreditOctets) & 0xFF'FFFF,
          .ooo_count = ooo_count});
    }
  }
  if (what.no_response) {
    out.packet.ses = std::monostate{};
    return;
  }
  out.packet.ses = what.response.ses;
  if (!what.response.has_data()) return;
  const std::uint32_t octets = what.response.ses.payload_length;
  out.packet.payload_octets = octets;
  out.read_from = what.response.read_from;
  if (what.response.real) {
    out.small = what.response.data;
    out.payload = {.octets = octets, .bytes = out.small.data()};
  } else {
    out.payload = what.response.promise;
  }
}

}  // namespace railyard::uet
