// Responses, in the order of the requests.
#include <algorithm>

#include "transports/roce/gather.h"
#include "transports/roce/responder.h"
#include "transports/roce/segmentation.h"

namespace railyard::roce {

Syndrome Responder::ack_syndrome() const noexcept {
  if (!nic_.config.advertise_credits || qp_.has_srq) return Syndrome::ack(kNoCreditLimit);
  return Syndrome::ack(credit_code(static_cast<std::uint32_t>(qp_.receives->size())));
}

// With selective repeat a READ is asked for again in pieces.
std::size_t Responder::most_replays() const noexcept {
  constexpr std::size_t kPieces = 64;
  return early_ ? std::max(kPieces, resources_.size()) : resources_.size();
}

void Responder::acknowledge(Psn psn) noexcept { answer(psn, ack_syndrome()); }

// An ACK that has not been sent yet says no more than what comes after it: one is enough.
void Responder::answer(Psn psn, Syndrome syndrome, Psn came) noexcept {
  const Response response{.psn = psn, .msn = msn_, .syndrome = syndrome, .came = came};
  if (!responses_.empty()) {
    Response& newest = responses_[responses_.size() - 1];
    if (newest.kind == Response::Kind::kAcknowledge && newest.syndrome.type == SyndromeType::kAck) {
      // A duplicate may be acknowledged less far.
      if (syndrome.type == SyndromeType::kAck && psn - newest.psn < 0) return;
      newest = response;
      return;
    }
    if (newest.kind == Response::Kind::kAcknowledge && newest.psn == psn && newest.syndrome == syndrome &&
        newest.came == came)
      return;
  }
  responses_.push(response);
}

void Responder::answer_read(const ResponderResource& resource, Psn from, std::uint32_t octets,
                            std::size_t index) noexcept {
  const auto skipped = static_cast<std::uint64_t>(from - resource.first) * qp_.path_mtu;
  responses_.push({.kind = Response::Kind::kRead,
                   .psn = from,
                   .msn = msn_,
                   .address = resource.address + skipped,
                   .r_key = resource.r_key,
                   .octets = octets,
                   .psns = psns_of(octets, qp_.path_mtu),
                   .resource = index});
}

Responder::Next Responder::waiting() const noexcept {
  if (responses_.empty()) return Next::kNothing;
  return responses_.front().kind == Response::Kind::kRead ? Next::kReadResponse : Next::kControl;
}

bool Responder::next(OutPacket& out) noexcept {
  if (responses_.empty()) return false;
  Response& response = responses_.front();
  out.packet = Packet{};
  out.payload = {};
  out.path = &qp_.path;
  if (response.kind == Response::Kind::kRead) return next_read(response, out);
  Packet& packet = out.packet;
  if (response.kind == Response::Kind::kAtomic) {
    packet.bth = qp_.bth(opcode::kRcAtomicAcknowledge, response.psn);
    packet.aeth = {to_octet(ack_syndrome()), response.msn.value()};
    packet.atomic_ack_eth.original = response.original;
  } else {
    packet.bth = qp_.bth(opcode::kRcAcknowledge, response.psn);
    packet.aeth = {to_octet(response.syndrome), response.msn.value()};
    packet.sack_eth.psn = response.came.value();
  }
  done();
  return true;
}

void Responder::done() noexcept {
  const Response& response = responses_.front();
  if (response.resource != kNoResource) {
    resources_[response.resource].waits = false;
  } else if (response.kind != Response::Kind::kAcknowledge) {
    --replays_;
  }
  responses_.pop();
}

bool Responder::next_read(Response& response, OutPacket& out) noexcept {
  const std::uint32_t octets = std::min(response.octets, qp_.path_mtu);
  // The region may have gone while the answer waited.
  const auto at = nic_.memory.check(response.r_key, qp_.domain, response.address, octets, Access::kRemoteRead, qp_.number.value);
  if (!at) {
    const Psn psn = response.psn;
    while (!responses_.empty()) done();
    refuse(psn, NakCode::kRemoteAccessError, WcStatus::kRemAccessErr);
    return next(out);
  }
  const bool last = response.psns == 1;
  const Position position = position_of(!response.begun, last);
  Packet& packet = out.packet;
  packet.bth = qp_.bth(read_response_opcode(position), response.psn);
  packet.bth.pad_cnt = pad_octets(octets);
  packet.payload_octets = octets;
  packet.aeth = {to_octet(ack_syndrome()), response.msn.value()};
  out.payload = octets == 0 ? PayloadRef{} : payload_at(*at, octets);
  response.begun = true;
  ++response.psn;
  --response.psns;
  response.address += octets;
  response.octets -= octets;
  if (last) done();
  return true;
}

}  // namespace railyard::roce
