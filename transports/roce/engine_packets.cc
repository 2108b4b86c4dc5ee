// Packets that come, checked in the order of roce-and-lossless §4 (steps 1..4 and 8 are RoceEndpoint's and decode()'s).
#include "transports/roce/engine.h"

namespace railyard::roce {
void Engine::on_drop(Drop reason) noexcept {
  nic_.counters.received_packets.increment();
  nic_.counters.dropped[static_cast<std::size_t>(reason)].increment();
}

void Engine::on_malformed(Malformed reason) noexcept {
  on_drop(Drop::kMalformed);
  nic_.counters.malformed[static_cast<std::size_t>(reason)].increment();
}

std::optional<Drop> Engine::on_packet(Instant now, const InPacket& in) {
  run_due(now);
  if (runs_on(in.packet)) [[unlikely]] {
    on_malformed(Malformed::kBadPayloadLength);
    return Drop::kMalformed;
  }
  const auto drop = accept(now, in);
  if (drop) {
    on_drop(*drop);
    return drop;
  }
  nic_.counters.received_packets.increment();
  nic_.counters.taken_packets.increment();
  return std::nullopt;
}

std::optional<Drop> Engine::accept(Instant now, const InPacket& in) {
  Qp* const qp = find(QpNumber{in.packet.bth.dest_qp});
  if (qp == nullptr) return Drop::kUnknownQp;
  if (const auto refused = admit(*qp, in)) return refused;
  if (in.packet.bth.opcode == opcode::kCnp) return on_cnp(now, *qp);
  if (in.ce) note_ce(now, *qp, in);
  const auto drop = dispatch(now, *qp, in);
  if (in.telemetry != nullptr) [[unlikely]]
    note_telemetry(*qp, *in.telemetry, in.packet.info().response);
  if (in.packet.info().response) {
    settle(now, *qp);
  } else {
    settle_responder(now, *qp);
  }
  return drop;
}

std::optional<Drop> Engine::admit(const Qp& qp, const InPacket& in) const noexcept {
  const QpInfo& info = qp.info;
  const std::uint8_t code = in.packet.bth.opcode;
  const bool cnp = code == opcode::kCnp;
  if (!cnp && (code & opcode::kTransportMask) != info.transport) return Drop::kWrongTransport;
  const bool response = in.packet.info().response;
  if (response ? !takes_responses(info.state) : !takes_requests(info.state)) return Drop::kWrongState;
  if (info.type != QpType::kUd &&
      (in.source != info.path.av().destination || in.destination != info.path.av().source))
    return Drop::kWrongPeer;
  if (!cnp && !p_keys_match(in.packet.bth.p_key, info.p_key)) return Drop::kPKey;
  return std::nullopt;
}

std::optional<Drop> Engine::dispatch(Instant now, Qp& qp, const InPacket& in) {
  const Packet& packet = in.packet;
  if (packet.info().response) {
    switch (packet.info().operation) {
      case Operation::kReadResponse:
        return qp.requester.on_read_response(now, packet, in.payload);
      case Operation::kAtomicAcknowledge:
        return qp.requester.on_atomic_acknowledge(now, packet);
      default:
        return qp.requester.on_acknowledge(now, packet);
    }
  }
  if (qp.info.state == QpState::kRtr && !qp.established) {
    qp.established = true;
    nic_.events.push_back({AsyncEventType::kPathEstablished, qp.info.number.value});
  }
  switch (qp.info.type) {
    case QpType::kRc:
      return qp.responder.on_request(packet, in.payload);
    case QpType::kUc:
      return qp.uc_receiver.on_request(packet, in.payload);
    case QpType::kUd:
      return receive_datagram(nic_, qp.info, packet, in.ip, in.payload);
  }
  return std::nullopt;
}

std::optional<Drop> Engine::on_cnp(Instant now, Qp& qp) {
  if (qp.congestion.on_cnp(now)) {
    nic_.counters.rp_cnp_handled.increment();
    ++qp.info.counters.rp_cnp_handled;
  } else {
    nic_.counters.rp_cnp_ignored.increment();
    ++qp.info.counters.rp_cnp_ignored;
  }
  return std::nullopt;
}

// Of every packet that has passed the checks, be it a duplicate or out of sequence.
void Engine::note_ce(Instant now, Qp& qp, const InPacket& in) {
  nic_.counters.np_ecn_marked_roce_packets.increment();
  ++qp.info.counters.np_ecn_marked_roce_packets;
  // A UD QP has no way of its own back to the sender.
  if (!qp.cnps || qp.info.type == QpType::kUd) return;
  if (cnp_pacing_.notify(now, qp.info.number.value, in.source)) owe_cnp(qp);
}

// What came with a request goes back with the next response; the newest, if several requests are answered by one. What
// has come back is for congestion control, once the response has done its work.
void Engine::note_telemetry(Qp& qp, const PathTelemetry& telemetry, bool response) {
  if (response != (telemetry.echo != 0)) return;
  if (response) return qp.congestion.on_telemetry(telemetry, qp.requester.una(), qp.requester.next_new_psn());
  if (qp.telemetry == nullptr) qp.telemetry = std::make_unique<PathTelemetry>();
  *qp.telemetry = telemetry;
  qp.telemetry->echo = 1;
  qp.returns_telemetry = true;
}

}  // namespace railyard::roce
