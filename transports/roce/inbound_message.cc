#include "transports/roce/inbound_message.h"

namespace railyard::roce {
namespace {

bool begins(Position p) noexcept { return p == Position::kFirst || p == Position::kOnly; }
bool ends(Position p) noexcept { return p == Position::kLast || p == Position::kOnly; }

}  // namespace

std::expected<bool, Refusal> InboundMessage::take(const Packet& packet, const PayloadRef& payload) noexcept {
  const OpcodeInfo& info = packet.info();
  if (begins(info.position) == open() || (open() && info.operation != operation_))
    return std::unexpected(Refusal::kOrder);
  return info.operation == Operation::kSend ? take_send(packet, payload) : take_write(packet, payload);
}

bool InboundMessage::hold_receive() noexcept {
  if (!receive_) receive_ = qp_.receives->take();
  return receive_.has_value();
}

std::expected<bool, Refusal> InboundMessage::take_send(const Packet& packet, const PayloadRef& payload) noexcept {
  if (!hold_receive()) return std::unexpected(Refusal::kNoReceive);
  if (!has_right_lengths(packet, qp_.path_mtu)) return std::unexpected(Refusal::kLengths);
  if (std::uint64_t{placed_} + payload.octets > receive_->sges.octets()) return std::unexpected(Refusal::kTooLong);
  if (!scatter(nic_.memory, qp_.receives->domain(), receive_->sges, placed_, payload))
    return std::unexpected(Refusal::kLocalAccess);
  operation_ = Operation::kSend;
  note_identity(payload);
  return ends(packet.info().position);
}

std::expected<bool, Refusal> InboundMessage::take_write(const Packet& packet, const PayloadRef& payload) noexcept {
  const Position position = packet.info().position;
  const bool first = begins(position);
  const bool last = ends(position);
  if (!qp_.attributes.access_flags.has(Access::kRemoteWrite)) return std::unexpected(Refusal::kNotPermitted);
  if (packet.info().headers.has(Header::kImmDt) && !hold_receive()) return std::unexpected(Refusal::kNoReceive);
  const std::uint64_t address = first ? packet.reth.virtual_address : address_;
  const std::uint32_t r_key = first ? packet.reth.r_key : r_key_;
  const std::uint32_t length = first ? packet.reth.dma_length : length_;
  const std::uint32_t left = length - placed_;
  const bool fits = last ? payload.octets == left : payload.octets < left;
  if (!has_right_lengths(packet, qp_.path_mtu) || !fits || length > kMaxMessageOctets)
    return std::unexpected(Refusal::kLengths);
  // The first packet checks all of the range, so that a wrong one changes nothing; the rest, whether it is still there.
  if (!nic_.memory.check(r_key, qp_.domain, address + placed_, left, Access::kRemoteWrite))
    return std::unexpected(Refusal::kRemoteAccess);
  const auto at = nic_.memory.check(r_key, qp_.domain, address + placed_, payload.octets, Access::kRemoteWrite);
  place(at->memory, payload);
  operation_ = Operation::kWrite;
  address_ = address;
  r_key_ = r_key;
  length_ = length;
  note_identity(payload);
  return last;
}

void InboundMessage::note_identity(const PayloadRef& payload) noexcept {
  if (placed_ == 0) first_ = payload;
  if (payload.octets > 0 && (payload.stream != first_.stream || payload.offset != first_.offset + placed_))
    intact_ = intact_ && payload.bytes != nullptr;
  placed_ += payload.octets;
}

void InboundMessage::finish(const Packet& last) noexcept {
  const Headers headers = last.info().headers;
  if (receive_ && (operation_ == Operation::kSend || headers.has(Header::kImmDt))) {
    const bool invalidate = headers.has(Header::kIeth);
    qp_.recv_cq->push({.wr_id = receive_->wr_id,
                       .opcode = operation_ == Operation::kSend ? WcOpcode::kRecv : WcOpcode::kRecvWriteImm,
                       .with_immediate = headers.has(Header::kImmDt),
                       .with_invalidate = invalidate,
                       .solicited = last.bth.solicited,
                       .intact = intact_,
                       .qp = qp_.number,
                       .source_qp = QpNumber{qp_.attributes.dest_qpn},
                       .octets = placed_,
                       .immediate = invalidate ? last.ieth.r_key : last.imm_dt.immediate,
                       .stream = first_.stream,
                       .offset = first_.offset});
    receive_.reset();
  }
  close();
}

void InboundMessage::close() noexcept {
  operation_ = Operation::kReserved;
  placed_ = 0;
  intact_ = true;
  first_ = {};
}

void InboundMessage::abandon() noexcept { close(); }

void InboundMessage::fail(WcStatus status) noexcept {
  if (receive_)
    qp_.recv_cq->push({.wr_id = receive_->wr_id, .status = status, .opcode = WcOpcode::kRecv, .qp = qp_.number});
  reset();
}

void InboundMessage::reset() noexcept {
  receive_.reset();
  close();
}

}  // namespace railyard::roce
