// Control packets that come (uet §3.7, §5.10, §5.11).
#include "transports/uet/engine.h"

namespace railyard::uet {

// How many wait as long as the NIC may send none is bounded, whatever comes meanwhile: of each kind of control packet
// the last one, and answers to as many packets as may be under way twice. Who misses more asks again.
// False: there is no room for this one.
bool Engine::push_control(Pdc& pdc, const PendingControl& what) {
  if (pdc.control.empty()) [[likely]]
    return pdc.control.push(what), true;
  if (what.kind == PendingControl::Kind::kCp) {
    for (std::size_t i = 0; i < pdc.control.size(); ++i) {
      PendingControl& waiting = pdc.control[i];
      if (waiting.kind != what.kind || waiting.ctl != what.ctl) continue;
      waiting = what;
      return true;
    }
  } else if (pdc.control.size() >= std::size_t{2} * fep_.config.mp_range) {
    return false;
  }
  pdc.control.push(what);
  return true;
}

void Engine::push_cp(Pdc& pdc, CtlType type, Psn psn, std::uint32_t payload, std::uint16_t opaque) {
  push_control(pdc, {.kind = PendingControl::Kind::kCp,
                     .ctl = type,
                     .opaque = opaque,
                     .entropy = pdc.last_entropy,
                     .psn = psn,
                     .payload = payload});
}

std::optional<Drop> Engine::on_cp(Instant now, const InPacket& in, const PdsCpValues& cp) {
  std::expected<Pdc*, Drop> found = nullptr;
  bool opened = false;
  if (cp.syn) {
    // Only these may open a PDC.
    if (cp.ctl_type != CtlType::kNoop && cp.ctl_type != CtlType::kNegotiation) {
      nack_nobody(in, cp.psn, cp.spdcid, cp.retx, NackCode::kInvalidSyn);
      return Drop::kInvalidSyn;
    }
    const PdsRequestValues as_request{.type = cp.isrod ? PdsType::kRodReq : PdsType::kRudReq,
                                      .retx = cp.retx,
                                      .syn = true,
                                      .psn = cp.psn,
                                      .spdcid = cp.spdcid,
                                      .psn_offset = cp.psn_offset};
    found = pdc_of_syn(now, in, as_request, opened);
  } else {
    const bool answers = consumes_psn(cp.ctl_type) || cp.ctl_type == CtlType::kAckReq || cp.ctl_type == CtlType::kProbe;
    found = pdc_of(in, cp.spdcid, cp.dpdcid, cp.psn, cp.retx, answers);
  }
  if (!found) return found.error();
  Pdc& pdc = **found;
  if (cp.syn && pdc.is_rod() != cp.isrod) {
    nack(now, pdc, in, Psn(cp.psn), cp.retx, NackCode::kPdcModeMismatch);
    settle(now, pdc);
    return Drop::kModeMismatch;
  }
  const bool of_window = (consumes_psn(cp.ctl_type) || cp.ctl_type == CtlType::kAckReq) &&
                         pdc.window.place(Psn(cp.psn)) != ReceiveWindow::Place::kBeyond;
  if (pdc.remote == 0 && of_window) learn_target(pdc, cp.spdcid);
  pdc.idle_since = now;
  std::optional<Drop> drop;
  switch (cp.ctl_type) {
    case CtlType::kNoop:
    case CtlType::kNegotiation:
    case CtlType::kCloseCmd:
    case CtlType::kCloseReq:
      drop = on_counted_cp(now, pdc, in, cp);
      break;
    case CtlType::kAckReq:
      drop = on_ack_req(now, pdc, in, cp);
      break;
    case CtlType::kClearCmd: {
      const Psn cack = pdc.window.cack();
      pdc.clear_to(Psn(cp.payload));
      // Others waited behind what was cleared.
      if (pdc.window.cack() != cack)
        acknowledge(
            pdc, {.entropy = in.entropy,
                  .psn = pdc.window.cack(),
                  .arrived = now,
                  .response = {.ses = default_response(static_cast<std::uint16_t>(pdc.last_message), pdc.last_job)}});
      break;
    }
    case CtlType::kClearReq:
      pdc.clear_due = true;
      break;
    case CtlType::kProbe:
      acknowledge(pdc, {.m = in.ce,
                        .retx = cp.retx,
                        .probed = true,
                        .no_response = true,
                        .opaque = cp.probe_opaque,
                        .entropy = in.entropy,
                        .psn = Psn(cp.payload),
                        .arrived = now});
      break;
    case CtlType::kCredit:
      drop = on_credit_cp(now, pdc, cp);
      break;
    case CtlType::kCreditReq:
      on_credit_req(now, pdc, cp.credit_target());
      break;
  }
  if (pdc.live()) settle(now, pdc);
  return drop;
}

// Those that take a PSN, as requests do.
std::optional<Drop> Engine::on_counted_cp(Instant now, Pdc& pdc, const InPacket& in, const PdsCpValues& cp) {
  const Psn psn(cp.psn);
  PendingControl ack{
      .m = in.ce, .retx = cp.retx, .no_response = true, .entropy = in.entropy, .psn = psn, .arrived = now};
  const ReceiveWindow::Place place = pdc.window.place(psn);
  if (place == ReceiveWindow::Place::kBeyond) {
    nack(now, pdc, in, psn, cp.retx, cp.syn ? NackCode::kInvalidSyn : NackCode::kPsnOorWindow);
    return Drop::kOutOfWindow;
  }
  const bool again = place == ReceiveWindow::Place::kDuplicate;
  const bool close = cp.ctl_type == CtlType::kCloseCmd;
  // Initiators close, and targets ask for it.
  const bool wrong_way = pdc.initiator ? close : cp.ctl_type == CtlType::kCloseReq;
  if (!again && wrong_way) {
    nack(now, pdc, in, psn, cp.retx, NackCode::kUnexpEvent);
    return Drop::kUnexpected;
  }
  if (!again && (pdc.is_rod() || close) && psn != pdc.window.expected()) {
    // A close before all that it closes has come would lose it.
    if (!pdc.ooo_told) nack(now, pdc, in, psn, cp.retx, NackCode::kRodOoo);
    pdc.ooo_told = true;
    return Drop::kRodOutOfOrder;
  }
  if (!again) {
    if (psn == pdc.window.expected()) pdc.ooo_told = false;
    pdc.window.accept(psn, false);
    pdc.rcvd_octets += in.packet.octets();
    if (cp.ctl_type == CtlType::kCloseReq) quiesce(pdc);
  }
  if (!close || again) {
    acknowledge(pdc, ack);
    return again ? std::optional(Drop::kDuplicate) : std::nullopt;
  }
  // All is cleared by it. What this end has sent and is not acknowledged is lost.
  pdc.clear_to(psn);
  const std::uint32_t outstanding = pdc.sent.size() + static_cast<std::uint32_t>(pdc.read_jobs.size());
  const bool own = outstanding > 0 && !pdc.waits_for_close;
  PdsNackValues error{.m = in.ce,
                      .retx = cp.retx,
                      .code = NackCode::kClosingInErr,
                      .nack_psn = cp.psn,
                      .spdcid = pdc.id.value,
                      .dpdcid = cp.spdcid,
                      .payload = outstanding};
  OutPacket out;
  if (own) {
    fep_.counters.nacks_sent[static_cast<std::size_t>(NackCode::kClosingInErr)].increment();
    reply({.peer = pdc.peer, .pds = error, .entropy = in.entropy});
    fail(now, pdc, Status::kPdcFailed, After::kFail);
  } else {
    fill_ack(now, pdc, ack, out);
    reply({.peer = pdc.peer, .pds = out.packet.pds, .entropy = in.entropy});
    fep_.counters.pdcs_closed.increment();
    free(now, pdc);
  }
  return std::nullopt;
}

std::optional<Drop> Engine::on_ack_req(Instant now, Pdc& pdc, const InPacket& in, const PdsCpValues& cp) {
  const Psn psn(cp.psn);
  const ReceiveWindow::Place place = pdc.window.place(psn);
  if (place == ReceiveWindow::Place::kBeyond) {
    nack(now, pdc, in, psn, cp.retx, NackCode::kPsnOorWindow);
    return Drop::kOutOfWindow;
  }
  if (place == ReceiveWindow::Place::kNew) {
    nack(now, pdc, in, psn, cp.retx, NackCode::kPktNotRcvd);
    return std::nullopt;
  }
  PendingControl ack{.m = in.ce, .retx = cp.retx, .entropy = in.entropy, .psn = psn, .arrived = now};
  ack.response.ses = default_response(static_cast<std::uint16_t>(cp.payload), pdc.last_job);
  if (const StoredResponse* const stored = pdc.find_stored(psn)) {
    if (!stored->ready) {
      nack(now, pdc, in, psn, cp.retx, NackCode::kRcvdSesProcg);
      return std::nullopt;
    }
    ack.response = stored->response;
  }
  acknowledge(pdc, ack);
  return std::nullopt;
}

}  // namespace railyard::uet
