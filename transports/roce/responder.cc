// Requests. What is sent for them is in responder_responses.cc.
#include "transports/roce/responder.h"

#include <bit>
#include <cstring>
#include <utility>

namespace railyard::roce {

void Responder::start() {
  reset();
  expected_ = Psn(qp_.attributes.rq_psn);
  resources_.resize(qp_.attributes.max_dest_rd_atomic);
}

void Responder::reset() noexcept {
  message_.reset();
  resources_.reset();
  if (early_) early_->reset();
  while (!responses_.empty()) responses_.pop();
  replays_ = 0;
  msn_ = Msn{};
  nak_sent_ = rnr_sent_ = failed_ = false;
}

void Responder::flush(bool answers) noexcept {
  message_.fail(WcStatus::kWrFlushErr);
  if (!answers)
    while (!responses_.empty()) responses_.pop();
  failed_ = false;
}

std::optional<Drop> Responder::on_request(const Packet& packet, const PayloadRef& payload) {
  switch (place(Psn(packet.bth.psn), expected_)) {
    case PsnPlace::kGap:
      return early_ ? on_early(packet, payload) : on_gap();
    case PsnPlace::kDuplicate:
      return on_duplicate(packet);
    case PsnPlace::kExpected:
      break;
  }
  return early_ ? execute_and_catch_up(packet, payload) : execute(packet, payload, false);
}

std::optional<Drop> Responder::execute(const Packet& packet, const PayloadRef& payload, bool placed) noexcept {
  const Psn psn(packet.bth.psn);
  nak_sent_ = rnr_sent_ = false;
  switch (packet.info().operation) {
    case Operation::kSend:
    case Operation::kWrite:
      return on_message(packet, payload, placed);
    case Operation::kReadRequest:
      return on_read(packet);
    case Operation::kCompareSwap:
    case Operation::kFetchAdd:
      return on_atomic(packet);
    default:
      // FLUSH and ATOMIC WRITE are known and not done here.
      return refuse(psn, NakCode::kInvalidRequest, WcStatus::kRemInvReqErr);
  }
}

// One NAK per gap; none behind an RNR NAK, which the requester answers with all of it.
std::optional<Drop> Responder::on_gap() noexcept {
  if (!nak_sent_ && !rnr_sent_) {
    nic_.counters.out_of_sequence.increment();
    ++qp_.counters.out_of_sequence;
    answer(expected_, Syndrome::nak(NakCode::kPsnSequenceError));
    nak_sent_ = true;
  }
  return Drop::kOutOfSequence;
}

// Selective repeat: its payload is placed, and the rest of it kept until what is missing before it has come.
std::optional<Drop> Responder::on_early(const Packet& packet, const PayloadRef& payload) {
  const Psn psn(packet.bth.psn);
  if (psn - expected_ >= static_cast<std::int32_t>(early_->window())) return Drop::kOutOfSequence;
  std::optional<Drop> drop;
  if (early_->has(psn)) {
    nic_.counters.duplicate_request.increment();
    ++qp_.counters.duplicate_request;
    drop = Drop::kDuplicate;
  } else {
    const Operation operation = packet.info().operation;
    const bool data = operation == Operation::kSend || operation == Operation::kWrite;
    if (data && !message_.place_early(packet, payload)) return Drop::kOutOfSequence;
    early_->keep(packet, payload);
    nic_.counters.placed_out_of_order.increment();
  }
  // Behind an RNR NAK the requester waits, and sends again what is missing after that.
  if (!rnr_sent_) {
    nic_.counters.out_of_sequence.increment();
    ++qp_.counters.out_of_sequence;
    answer(expected_, Syndrome::nak(NakCode::kPsnSequenceError), psn);
  }
  return drop;
}

std::optional<Drop> Responder::execute_and_catch_up(const Packet& packet, const PayloadRef& payload) noexcept {
  // It may have come before and been refused.
  const bool placed = early_->has(expected_);
  const auto drop = execute(packet, payload, placed);
  if (drop) return drop;
  early_->forget(Psn(packet.bth.psn));
  while (early_->has(expected_)) {
    const Psn psn = expected_;
    const EarlyRequests::Kept kept = early_->at(psn);
    // What is refused now has its answer; it comes again.
    if (execute(kept.packet, kept.payload, true)) return std::nullopt;
    early_->forget(psn);
    const Operation operation = kept.packet.info().operation;
    if (operation == Operation::kSend || operation == Operation::kWrite) acknowledge(psn);
  }
  return std::nullopt;
}

std::optional<Drop> Responder::on_message(const Packet& packet, const PayloadRef& payload, bool placed) noexcept {
  const Psn psn(packet.bth.psn);
  const bool invalidates = packet.info().headers.has(Header::kIeth);
  const auto last = message_.take(packet, payload, placed);
  if (!last) return refuse(psn, last.error());
  if (invalidates && !invalidate(packet.ieth.r_key))
    return refuse(psn, NakCode::kRemoteAccessError, WcStatus::kRemAccessErr);
  expected_ = psn + 1;
  if (*last) {
    ++msn_;
    message_.finish(packet);
  }
  if (packet.bth.ack_req) acknowledge(psn);
  return std::nullopt;
}

// Only what peers may reach at all can they take away.
bool Responder::invalidate(std::uint32_t r_key) noexcept {
  const MemoryRegion* const region = nic_.memory.region(r_key);
  if (region == nullptr || region->domain != qp_.domain || (region->user != 0 && region->user != qp_.number.value))
    return false;
  if (!region->access.has(Access::kRemoteWrite) && !region->access.has(Access::kRemoteRead) &&
      !region->access.has(Access::kRemoteAtomic))
    return false;
  return nic_.memory.invalidate(r_key);
}

std::optional<Drop> Responder::on_read(const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  const auto invalid = [&] { return refuse(psn, NakCode::kInvalidRequest, WcStatus::kRemInvReqErr); };
  const RethValues& reth = packet.reth;
  if (message_.open() || !qp_.access.has(Access::kRemoteRead)) return invalid();
  if (!has_right_lengths(packet, qp_.path_mtu) || reth.dma_length > kMaxMessageOctets) return invalid();
  if (!nic_.memory.check(reth.r_key, qp_.domain, reth.virtual_address, reth.dma_length, Access::kRemoteRead, qp_.number.value))
    return refuse(psn, NakCode::kRemoteAccessError, WcStatus::kRemAccessErr);
  ResponderResource* const resource = resources_.add();
  if (resource == nullptr) return invalid();
  *resource = {.kind = ResponderResource::Kind::kRead,
               .waits = true,
               .first = psn,
               .psns = psns_of(reth.dma_length, qp_.path_mtu),
               .address = reth.virtual_address,
               .r_key = reth.r_key,
               .octets = reth.dma_length};
  expected_ = resource->past();
  ++msn_;
  answer_read(*resource, psn, reth.dma_length, resources_.index_of(*resource));
  return std::nullopt;
}

std::optional<Drop> Responder::on_atomic(const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  const auto invalid = [&] { return refuse(psn, NakCode::kInvalidRequest, WcStatus::kRemInvReqErr); };
  const AtomicEthValues& request = packet.atomic_eth;
  if (message_.open() || !qp_.access.has(Access::kRemoteAtomic)) return invalid();
  if (!has_right_lengths(packet, qp_.path_mtu) || request.virtual_address % 8 != 0) return invalid();
  const auto at = nic_.memory.check(request.r_key, qp_.domain, request.virtual_address, 8, Access::kRemoteAtomic, qp_.number.value);
  if (!at) return refuse(psn, NakCode::kRemoteAccessError, WcStatus::kRemAccessErr);
  // There is no arithmetic on promises.
  if (at->memory == nullptr) return refuse(psn, NakCode::kRemoteOperationalError, WcStatus::kLocQpOpErr);
  ResponderResource* const resource = resources_.add();
  if (resource == nullptr) return invalid();

  std::uint64_t original = 0;
  std::memcpy(&original, at->memory, sizeof original);
  const bool swaps = packet.info().operation == Operation::kCompareSwap;
  const std::uint64_t value = !swaps                        ? original + request.swap_add
                              : original == request.compare ? request.swap_add
                                                            : original;
  std::memcpy(at->memory, &value, sizeof value);
  *resource = {.kind = ResponderResource::Kind::kAtomic, .waits = true, .first = psn, .original = original};
  expected_ = psn + 1;
  ++msn_;
  responses_.push({.kind = Response::Kind::kAtomic,
                   .psn = psn,
                   .msn = msn_,
                   .original = original,
                   .resource = resources_.index_of(*resource)});
  return std::nullopt;
}

std::optional<Drop> Responder::on_duplicate(const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  nic_.counters.duplicate_request.increment();
  ++qp_.counters.duplicate_request;
  switch (packet.info().operation) {
    case Operation::kSend:
    case Operation::kWrite:
      // As much as has come, but not what a READ or atomic in between asked for: to a requester that has no answer to
      // it, that would look like one that was lost.
      acknowledge(resources_.next_after(psn, expected_) - 1);
      return Drop::kDuplicate;
    case Operation::kReadRequest:
      return replay_read(packet) ? Drop::kDuplicate : Drop::kStaleDuplicate;
    case Operation::kCompareSwap:
    case Operation::kFetchAdd:
      return replay_atomic(packet) ? Drop::kDuplicate : Drop::kStaleDuplicate;
    default:
      return Drop::kStaleDuplicate;
  }
}

// Reads the memory again, from where the requester wants it.
bool Responder::replay_read(const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  const RethValues& reth = packet.reth;
  const ResponderResource* const r = resources_.find(psn);
  if (r == nullptr || r->kind != ResponderResource::Kind::kRead || r->r_key != reth.r_key) return false;
  const std::uint64_t skipped = static_cast<std::uint64_t>(psn - r->first) * qp_.path_mtu;
  if (reth.virtual_address != r->address + skipped || reth.dma_length > r->octets - skipped) return false;
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    Response& waiting = responses_[i];
    if (waiting.kind != Response::Kind::kRead) continue;
    // Is still to be sent, anyway.
    if (psn - waiting.psn >= 0 && psn - (waiting.psn + waiting.psns) < 0) return true;
    if (early_ || waiting.psn - r->first < 0 || waiting.psn - r->past() >= 0) continue;
    // It is being answered, beyond this packet already: that goes back, too. A second answer beside it would be thrown
    // away as far as it is the same, and asked for again for as often as packets overtake each other.
    waiting.begun = false;
    waiting.psn = psn;
    waiting.psns = psns_of(reth.dma_length, qp_.path_mtu);
    waiting.address = reth.virtual_address;
    waiting.octets = reth.dma_length;
    return true;
  }
  if (replays_ >= most_replays()) return false;
  ++replays_;
  answer_read(*r, psn, reth.dma_length, kNoResource);
  put_newest_in_order();
  return true;
}

// Go-back-N: what goes again goes before all later answers, also before a READ's that is half sent: a requester that went
// back throws those away until it has this one, and asks for them again, too.
void Responder::put_newest_in_order() noexcept {
  if (early_) return;
  for (std::size_t i = responses_.size() - 1; i > 0 && responses_[i - 1].psn - responses_[i].psn > 0; --i)
    std::swap(responses_[i - 1], responses_[i]);
}

bool Responder::replay_atomic(const Packet& packet) noexcept {
  const Psn psn(packet.bth.psn);
  const ResponderResource* const r = resources_.find(psn);
  if (r == nullptr || r->kind != ResponderResource::Kind::kAtomic) return false;
  if (r->waits) return true;
  if (replays_ >= most_replays()) return false;
  ++replays_;
  responses_.push({.kind = Response::Kind::kAtomic, .psn = psn, .msn = msn_, .original = r->original});
  put_newest_in_order();
  return true;
}

Drop Responder::refuse(Psn psn, Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::kNoReceive:
      nic_.counters.out_of_buffer.increment();
      ++qp_.counters.out_of_buffer;
      answer(psn, Syndrome::rnr_nak(qp_.attributes.min_rnr_timer));
      rnr_sent_ = true;
      return Drop::kRnr;
    case Refusal::kOrder:
    case Refusal::kLengths:
    case Refusal::kNotPermitted:
      return refuse(psn, NakCode::kInvalidRequest, WcStatus::kRemInvReqErr);
    case Refusal::kTooLong:
      return refuse(psn, NakCode::kInvalidRequest, WcStatus::kLocLenErr);
    case Refusal::kRemoteAccess:
      return refuse(psn, NakCode::kRemoteAccessError, WcStatus::kRemAccessErr);
    case Refusal::kLocalAccess:
      return refuse(psn, NakCode::kRemoteOperationalError, WcStatus::kLocProtErr);
  }
  return Drop::kRefused;
}

Drop Responder::refuse(Psn psn, NakCode code, WcStatus receive) noexcept {
  nic_.counters.nak_sent.increment();
  ++qp_.counters.nak_sent;
  answer(psn, Syndrome::nak(code));
  message_.fail(receive);
  nic_.events.push_back({code == NakCode::kInvalidRequest      ? AsyncEventType::kQpRequestError
                         : code == NakCode::kRemoteAccessError ? AsyncEventType::kQpAccessError
                                                               : AsyncEventType::kQpFatal,
                         qp_.number.value});
  failed_ = true;
  return Drop::kRefused;
}

}  // namespace railyard::roce
