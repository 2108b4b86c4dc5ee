#include "transports/roce/services/atomics_exchange.h"

#include <cstring>

namespace railyard::roce {
namespace {

// Where things are in memory: the word, what an atomic brought back, messages that come, the one that goes.
constexpr std::size_t kWordAt = 0;
constexpr std::size_t kAnswerAt = 8;
constexpr std::size_t kMessagesAt = 16;
constexpr std::size_t kSaidAt = kMessagesAt + ServiceContext::kMostReceives * RpingMessage::kOctets;
constexpr std::size_t kMemoryOctets = kSaidAt + RpingMessage::kOctets;

}  // namespace

AtomicsExchange::AtomicsExchange(Engine& engine, ProtectionDomain domain)
    : engine_(engine), memory_(engine, domain, kMemoryOctets, Access::kRemoteAtomic) {}

void AtomicsExchange::start(Instant now, QpNumber qp) {
  qp_ = qp;
  for (std::uint64_t i = 0; i < ServiceContext::kMostReceives; ++i) post_receive(now, i);
}

void AtomicsExchange::offer(Instant now, std::uint32_t atomics) {
  atomics_ = atomics;
  offered_ = true;
  say(now, {memory_.address() + kWordAt, memory_.key(), atomics});
}

void AtomicsExchange::on_completion(Instant now, const Completion& c) {
  if (state_ != State::kAwaitsOffer && state_ != State::kUnderWay) return;
  if (c.opcode == WcOpcode::kRecv) {
    if (c.octets != RpingMessage::kOctets) {
      state_ = State::kViolated;
      return;
    }
    const RpingOffer message =
        read_rping(memory_.octets().data() + kMessagesAt + c.wr_id * std::uint64_t{RpingMessage::kOctets});
    post_receive(now, c.wr_id);
    on_message(now, message);
  } else if (c.opcode == WcOpcode::kFetchAdd || c.opcode == WcOpcode::kCompareSwap) {
    right_ = right_ && word(kAnswerAt) == value_;
    value_ = AtomicStep::of(done_, value_).after;
    ++done_;
    next(now);
  }
}

void AtomicsExchange::on_message(Instant now, const RpingOffer& message) {
  if (state_ == State::kAwaitsOffer) {
    if (message.octets == 0 || message.octets > kMostAtomics || (offered_ && message.octets != atomics_)) {
      state_ = State::kViolated;
      return;
    }
    peer_ = message;
    state_ = State::kUnderWay;
    if (!offered_) offer(now, message.octets);
    next(now);
  } else if (heard_ || message.octets != 0) {
    state_ = State::kViolated;
  } else {
    heard_ = true;
    const std::uint64_t should_be = word_after(atomics_);
    right_ = right_ && message.address == should_be && word(kWordAt) == should_be;
    if (done_ == atomics_) state_ = right_ ? State::kRight : State::kWrong;
  }
}

void AtomicsExchange::next(Instant now) {
  if (done_ == atomics_) {
    say(now, {value_, 0, 0});
    if (heard_) state_ = right_ ? State::kRight : State::kWrong;
    return;
  }
  const AtomicStep step = AtomicStep::of(done_, value_);
  post(now, {.opcode = step.opcode,
             .sges = {memory_.piece(kAnswerAt, 8)},
             .remote_address = peer_.address,
             .r_key = peer_.r_key,
             .compare = step.compare,
             .swap_add = step.swap_add});
}

// The offer is through when the word's value is said: atomics between them have been answered.
void AtomicsExchange::say(Instant now, const RpingOffer& message) {
  write_rping(memory_.octets().data() + kSaidAt, message);
  post(now, {.sges = {memory_.piece(kSaidAt, std::uint32_t{RpingMessage::kOctets})}});
}

// A QP that takes nothing has gone into error, and says so by completions.
void AtomicsExchange::post(Instant now, const SendWr& wr) { static_cast<void>(engine_.post_send(now, qp_, wr)); }

void AtomicsExchange::post_receive(Instant now, std::uint64_t place) {
  static_cast<void>(engine_.post_recv(
      now, qp_,
      {.wr_id = place,
       .sges = {memory_.piece(kMessagesAt + place * RpingMessage::kOctets, std::uint32_t{RpingMessage::kOctets})}}));
}

std::uint64_t AtomicsExchange::word(std::size_t offset) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, memory_.octets().data() + offset, sizeof value);
  return value;
}

}  // namespace railyard::roce
