#include "transports/roce/inbound_message.h"

#include "transports/roce/gather.h"

namespace railyard::roce {
namespace {

bool begins(Position p) noexcept { return p == Position::kFirst || p == Position::kOnly; }
bool ends(Position p) noexcept { return p == Position::kLast || p == Position::kOnly; }

}  // namespace

std::expected<bool, Refusal> InboundMessage::take(const Packet& packet, const PayloadRef& payload,
                                                  bool placed) noexcept {
  const OpcodeInfo& info = packet.info();
  if (begins(info.position) == open() || (open() && info.operation != operation_))
    return std::unexpected(Refusal::kOrder);
  return info.operation == Operation::kSend ? take_send(packet, payload, placed) : take_write(packet, payload, placed);
}

bool InboundMessage::hold_receive() noexcept {
  if (receive_) return true;
  if (!early_.empty()) {
    receive_ = early_.front();
    early_.pop();
  } else {
    receive_ = qp_.receives->take();
  }
  if (receive_) received_ = (received_ + 1) & Psn::kMax;
  return receive_.has_value();
}

// That of the message with `number` (SrEth); nullptr: it is not there.
const RecvWr* InboundMessage::receive_of(std::uint32_t number) {
  const std::uint32_t ahead = (number - received_) & Psn::kMax;
  if (ahead == Psn::kMax) return receive_ ? &*receive_ : nullptr;
  // As many messages do not lie in any window.
  if (ahead >= SelectiveRepeatConfig::kMostWindow) return nullptr;
  while (early_.size() <= ahead) {
    const auto wr = qp_.receives->take();
    if (!wr) return nullptr;
    early_.push(*wr);
  }
  return &early_[ahead];
}

bool InboundMessage::place_early(const Packet& packet, const PayloadRef& payload) {
  if (!has_right_lengths(packet, qp_.path_mtu)) return false;
  const std::uint64_t offset = std::uint64_t{packet.sr_eth.packet_index} * qp_.path_mtu;
  if (packet.info().operation == Operation::kSend) {
    const RecvWr* const receive = receive_of(packet.sr_eth.receive_number);
    if (receive == nullptr || offset + payload.octets > receive->sges.octets()) return false;
    return scatter(nic_.memory, qp_.receives->domain(), receive->sges, offset, payload).has_value();
  }
  const RethValues& reth = packet.reth;
  if (!qp_.access.has(Access::kRemoteWrite) || offset + payload.octets > reth.dma_length) return false;
  // All of the range, as the first packet's check: a wrong one changes nothing.
  const auto at =
      nic_.memory.check(reth.r_key, qp_.domain, reth.virtual_address, reth.dma_length, Access::kRemoteWrite, qp_.number.value);
  if (!at) return false;
  if (at->memory != nullptr) place(at->memory + offset, payload);
  return true;
}

std::expected<bool, Refusal> InboundMessage::take_send(const Packet& packet, const PayloadRef& payload,
                                                       bool placed) noexcept {
  if (!hold_receive()) return std::unexpected(Refusal::kNoReceive);
  if (!has_right_lengths(packet, qp_.path_mtu)) return std::unexpected(Refusal::kLengths);
  if (std::uint64_t{placed_} + payload.octets > receive_->sges.octets()) return std::unexpected(Refusal::kTooLong);
  if (!placed && !scatter(nic_.memory, qp_.receives->domain(), receive_->sges, placed_, payload))
    return std::unexpected(Refusal::kLocalAccess);
  operation_ = Operation::kSend;
  note_identity(payload);
  return ends(packet.info().position);
}

std::expected<bool, Refusal> InboundMessage::take_write(const Packet& packet, const PayloadRef& payload,
                                                        bool placed) noexcept {
  const Position position = packet.info().position;
  const bool first = begins(position);
  const bool last = ends(position);
  if (!qp_.access.has(Access::kRemoteWrite)) return std::unexpected(Refusal::kNotPermitted);
  if (packet.info().headers.has(Header::kImmDt) && !hold_receive()) return std::unexpected(Refusal::kNoReceive);
  const std::uint64_t address = first ? packet.reth.virtual_address : address_;
  const std::uint32_t r_key = first ? packet.reth.r_key : r_key_;
  const std::uint32_t length = first ? packet.reth.dma_length : length_;
  const std::uint32_t left = length - placed_;
  const bool fits = last ? payload.octets == left : payload.octets < left;
  if (!has_right_lengths(packet, qp_.path_mtu) || !fits || length > kMaxMessageOctets)
    return std::unexpected(Refusal::kLengths);
  // The first packet checks all of the range, so that a wrong one changes nothing; the rest, whether it is still there.
  const auto at =
      nic_.memory.check(r_key, qp_.domain, address + placed_, left, Access::kRemoteWrite, qp_.number.value);
  if (!at) return std::unexpected(Refusal::kRemoteAccess);
  if (!placed) place(at->memory, payload);
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
                       .source_qp = QpNumber{qp_.dest_qpn},
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
  receive_.reset();
  fail_early(WcStatus::kWrFlushErr);
  reset();
}

void InboundMessage::fail_early(WcStatus status) noexcept {
  for (; !early_.empty(); early_.pop())
    qp_.recv_cq->push({.wr_id = early_.front().wr_id, .status = status, .opcode = WcOpcode::kRecv, .qp = qp_.number});
}

void InboundMessage::reset() noexcept {
  receive_.reset();
  while (!early_.empty()) early_.pop();
  received_ = 0;
  close();
}

}  // namespace railyard::roce
