#include "transports/uet/ses/initiator.h"

#include <algorithm>

#include "transports/base/payload_place.h"
#include "transports/uet/ses/atomics.h"

namespace railyard::uet {
namespace {

SesOpcode opcode_of(Operation o) noexcept {
  switch (o) {
    case Operation::kSend:
      return SesOpcode::kSend;
    case Operation::kTaggedSend:
      return SesOpcode::kTaggedSend;
    case Operation::kWrite:
      return SesOpcode::kWrite;
    case Operation::kRead:
      return SesOpcode::kRead;
    case Operation::kAtomic:
      return SesOpcode::kAtomic;
    case Operation::kFetchingAtomic:
      return SesOpcode::kFetchingAtomic;
    case Operation::kDatagram:
      return SesOpcode::kDatagramSend;
  }
  return SesOpcode::kNoOp;
}

Work work_of(Operation o) noexcept {
  switch (o) {
    case Operation::kWrite:
      return Work::kWrite;
    case Operation::kRead:
      return Work::kRead;
    case Operation::kAtomic:
    case Operation::kFetchingAtomic:
      return Work::kAtomic;
    default:
      return Work::kSend;
  }
}

// Nothing is wrong if it happens twice.
bool may_repeat(const SendWr& wr) noexcept {
  return wr.operation == Operation::kRead || (wr.operation == Operation::kWrite && !wr.header_data);
}

bool goes_again(ReturnCode code) noexcept {
  return code == ReturnCode::kNoMatch || code == ReturnCode::kDisabledGen || code == ReturnCode::kBadGeneration;
}

bool fits_mode(const SendWr& wr) noexcept {
  switch (wr.mode) {
    case DeliveryMode::kRud:
    case DeliveryMode::kRod:
      return wr.operation != Operation::kDatagram;
    case DeliveryMode::kRudi:
      return (wr.operation == Operation::kWrite && !wr.header_data) || wr.operation == Operation::kRead;
    case DeliveryMode::kUud:
      return wr.operation == Operation::kDatagram;
  }
  return false;
}

}  // namespace

std::expected<std::uint32_t, PostError> Initiator::create(ContextId id, const ContextInit& context, const SendWr& wr) {
  if (wr.peer.index() >= fep_.peers.size()) return std::unexpected(PostError::kUnknownPeer);
  if (!fits_mode(wr)) return std::unexpected(PostError::kNotSupported);
  const std::uint32_t mtu = fep_.config.payload_mtu;
  if (wr.local.octets > kMostMessageOctets || (wr.mode == DeliveryMode::kUud && wr.local.octets > mtu))
    return std::unexpected(PostError::kTooLong);
  if (is_atomic(wr.operation)) {
    const std::uint32_t octets = octets_of(wr.datatype);
    const bool fetches = wr.operation == Operation::kFetchingAtomic;
    if (octets == 0 || (fetches ? wr.local.octets != octets : wr.local.octets != 0))
      return std::unexpected(PostError::kWrongLength);
  }
  std::uint32_t i = 0;
  if (free_.empty()) {
    i = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    i = free_.back();
    free_.pop_back();
  }
  messages_[i] = {.wr = wr,
                  .context = id,
                  .job_id = context.job_id,
                  .initiator = context.initiator,
                  .domain = context.domain,
                  .cq = context.cq,
                  .number = posted_++,
                  .octets = wr.local.octets,
                  .packets = is_atomic(wr.operation) ? 1 : std::max(1u, (wr.local.octets + (mtu - 1)) / mtu)};
  // (Near 2^32 the sum above wraps.)
  if (!is_atomic(wr.operation) && wr.local.octets > mtu) messages_[i].packets = (wr.local.octets - 1) / mtu + 1;
  return i;
}

std::uint32_t Initiator::octets_of_packet(const Message& m, std::uint32_t index) const noexcept {
  const std::uint32_t mtu = fep_.config.payload_mtu;
  return std::min(m.octets - index * mtu, mtu);
}

std::int64_t Initiator::octets_to_send(std::uint32_t message, std::uint32_t pds_octets) const noexcept {
  const Message& m = messages_[message];
  const std::int64_t headers = std::int64_t{m.packets - m.next} * (pds_octets + std::uint32_t{SesStd::kOctets});
  if (is_read(m)) return headers;
  if (is_atomic(m.wr.operation)) return headers + atomic_octets(m);
  return headers + m.octets - std::int64_t{m.next} * fep_.config.payload_mtu;
}

// Of the extension of an atomic's request, and of its operand.
std::uint32_t Initiator::atomic_octets(const Message& m) const noexcept {
  if (is_compare_and_swap(m.wr.atomic)) return CompareAndSwapExt::kOctets;
  return static_cast<std::uint32_t>(AtomicExt::kOctets) + octets_of(m.wr.datatype);
}

bool Initiator::peek(Pdc& pdc, Cargo& cargo, std::uint32_t& octets) noexcept {
  if (pdc.messages.empty()) return false;
  const std::uint32_t i = pdc.messages.front();
  Message& m = messages_[i];
  if (m.message_id == 0) m.message_id = new_id(pdc);
  cargo = {.kind = Cargo::Kind::kRequest, .item = i, .index = m.aborted ? kErrorPacket : m.next};
  octets = SesStd::kOctets;
  if (m.aborted) return true;
  if (is_read(m)) return pdc.reads_in_flight < fep_.config.most_reads_in_flight;
  if (is_atomic(m.wr.operation)) {
    octets += atomic_octets(m);
  } else {
    octets += octets_of_packet(m, m.next);
  }
  return true;
}

// Unique among the PDC's open messages. Those that are open came one after the other, and are fewer than there are ids.
std::uint16_t Initiator::new_id(Pdc& pdc) noexcept {
  for (;;) {
    if (++pdc.message_id == 0) continue;
    const bool taken =
        std::ranges::any_of(pdc.begun, [&](std::uint32_t i) { return messages_[i].message_id == pdc.message_id; });
    if (!taken) return pdc.message_id;
  }
}

void Initiator::sent_first(Pdc& pdc, const Cargo& cargo) {
  Message& m = messages_[cargo.item];
  ++m.outstanding;
  if (cargo.index == kErrorPacket) {
    m.sent_all = true;
    pdc.messages.pop();
    return;
  }
  if (m.next++ == 0) pdc.begun.push_back(cargo.item);
  if (is_read(m)) {
    ++pdc.reads_in_flight;
    pdc.reader = m.context;
  }
  if (m.next < m.packets) return;
  m.sent_all = true;
  pdc.messages.pop();
}

bool Initiator::is_last(const Cargo& cargo) const noexcept {
  return cargo.index == kErrorPacket || cargo.index + 1 == messages_[cargo.item].packets;
}

void Initiator::fill(const Cargo& cargo, Packet& packet, PayloadRef& payload,
                     std::array<std::byte, kMostAckData>& small) {
  Message& m = messages_[cargo.item];
  const SendWr& wr = m.wr;
  const bool error = cargo.index == kErrorPacket;
  SesRequestValues& r = packet.ses.emplace<SesRequestValues>();
  r.opcode = error ? SesOpcode::kMsgError : opcode_of(wr.operation);
  r.dc = wr.delivery_complete;
  r.rel = wr.relative;
  r.hd = wr.header_data.has_value() && !error;
  r.eom = is_last(cargo);
  r.som = cargo.index == 0;
  r.message_id = wr.mode == DeliveryMode::kUud ? std::uint16_t{0} : m.message_id;
  r.ri_generation = m.generation;
  r.job_id = m.job_id;
  r.pid_on_fep = wr.pid_on_fep;
  r.resource_index = wr.resource_index;
  r.buffer_offset = wr.buffer_offset;
  r.initiator = m.initiator;
  r.match_bits = wr.operation == Operation::kTaggedSend ? wr.match_bits : wr.memory_key;
  r.request_length = m.octets;
  payload = {};
  packet.payload_octets = 0;
  if (error) {
    r.message_offset = m.next * fep_.config.payload_mtu;
  } else if (is_atomic(wr.operation)) {
    const std::uint32_t octets = octets_of(wr.datatype);
    r.atomic = {.opcode = wr.atomic, .datatype = wr.datatype};
    if (is_compare_and_swap(wr.atomic)) {
      r.request_length = 32;  // both operands, as in the reference's example
      r.atomic.compare_value = {.low = wr.compare};
      r.atomic.swap_value = {.low = wr.operand};
    } else {
      r.request_length = octets;
      for (std::uint32_t i = 0; i < octets; ++i)
        small[i] = static_cast<std::byte>(wr.operand >> (8 * (octets - 1 - i)) & 0xFF);
      payload = {.octets = octets, .bytes = small.data()};
      packet.payload_octets = octets;
    }
  } else {
    const std::uint32_t octets = octets_of_packet(m, cargo.index);
    const std::uint32_t offset = cargo.index * fep_.config.payload_mtu;
    if (r.som) r.header_data = wr.header_data.value_or(0);
    if (!r.som) {
      r.payload_length = static_cast<std::uint16_t>(octets);
      r.message_offset = offset;
    }
    if (!is_read(m)) {
      const auto at = fep_.memory.check(wr.local.key, m.domain, wr.local.address + offset, octets, {});
      payload = at ? payload_at(*at, octets) : PayloadRef{.octets = octets};
      if (!at) {
        r.ie = m.aborted = true;
        m.status = Status::kLocalError;
      }
      packet.payload_octets = octets;
    }
  }
}

bool Initiator::put(const Message& m, std::uint32_t offset, const PayloadRef& payload) noexcept {
  if (payload.octets == 0) return true;
  const auto at =
      fep_.memory.check(m.wr.local.key, m.domain, m.wr.local.address + offset, payload.octets, Access::kLocalWrite);
  if (at) place(at->memory, payload);
  return at.has_value();
}

// What comes in an ACK: a small READ, or the value before an atomic.
void Initiator::take_data(Message& m, const SesResponseValues& response, const PayloadRef& payload) {
  if (m.answered_data || payload.octets != m.octets || response.payload_length != payload.octets) return;
  PayloadRef data = payload;
  std::array<std::byte, sizeof(std::uint64_t)> value{};
  if (is_atomic(m.wr.operation)) {
    if (payload.octets > value.size()) return;
    // From the wire's octet order to this machine's.
    place(value.data(), payload);
    std::ranges::reverse(value.begin(), value.begin() + payload.octets);
    data.bytes = value.data();
  }
  m.answered_data = true;
  m.arrived = m.octets;
  if (!put(m, 0, data)) m.status = Status::kLocalError;
}

void Initiator::on_answered(Instant now, Pdc& pdc, const Cargo& cargo, const SesResponseValues* response,
                            const PayloadRef& payload) {
  Message& m = messages_[cargo.item];
  --m.outstanding;
  if (cargo.index != kErrorPacket && response != nullptr) {
    const bool fails = response->return_code != ReturnCode::kOk;
    if (fails && m.code == ReturnCode::kOk && m.status == Status::kSuccess) {
      m.code = response->return_code;
      m.status = Status::kRefused;
      m.aborted = true;
      if (m.code == ReturnCode::kBadGeneration) m.generation = response->ri_generation;
    }
    if (!fails && response->form == NextHdr::kResponseData) {
      if (is_read(m) && !m.answered_data && m.slices < m.next) {
        --pdc.reads_in_flight;
        ++m.slices;
      }
      take_data(m, *response, payload);
    }
    if (response->opcode == SesResponseOpcode::kResponse) {
      m.says_modified = true;
      m.modified = response->modified_length;
    }
  }
  finish_if_done(now, pdc, cargo.item);
}

Verdict Initiator::on_read_data(Instant now, Pdc& pdc, const SesResponseValues& response, const PayloadRef& payload) {
  Verdict verdict{.response = {.ses = default_response(response.message_id, response.job_id)}};
  const auto at = std::ranges::find_if(
      pdc.begun, [&](std::uint32_t i) { return messages_[i].message_id == response.read_request_message_id; });
  if (at == pdc.begun.end()) return verdict;  // of one that has failed
  const std::uint32_t i = *at;
  Message& m = messages_[i];
  if (!is_read(m) || m.slices >= m.next || m.answered_data) return verdict;
  --pdc.reads_in_flight;
  ++m.slices;
  // Each is what one request has asked for: a Payload MTU, and of the last what is left.
  const std::uint32_t mtu = fep_.config.payload_mtu, offset = response.message_offset;
  const bool fits = response.payload_length == payload.octets && offset % mtu == 0 && offset < m.octets &&
                    payload.octets == std::min(mtu, m.octets - offset);
  if (response.return_code != ReturnCode::kOk || !fits) {
    if (m.status == Status::kSuccess) {
      m.status = Status::kRefused;
      m.code = response.return_code == ReturnCode::kOk ? ReturnCode::kUncor : response.return_code;
    }
    m.aborted = true;
  } else {
    if (!put(m, response.message_offset, payload) && m.status == Status::kSuccess) m.status = Status::kLocalError;
    m.arrived += payload.octets;
  }
  finish_if_done(now, pdc, i);
  return verdict;
}

void Initiator::finish_if_done(Instant now, Pdc& pdc, std::uint32_t i) {
  Message& m = messages_[i];
  // Of what is not wholly sent the target is told, unless nothing was.
  if (m.aborted && !m.sent_all && (m.next == 0 || is_read(m))) {
    m.sent_all = true;
    pdc.messages.pop();
  }
  if (m.outstanding > 0 || !m.sent_all) return;
  if (is_read(m) && !m.aborted && m.arrived < m.octets) {
    if (m.slices < m.next) return;
    // All that was asked for is answered, and not with what was asked for.
    m.aborted = true;
    m.status = Status::kRefused;
    m.code = ReturnCode::kUncor;
  }
  if (is_read(m)) pdc.reads_in_flight -= m.next - std::min(m.next, m.slices);
  if (!m.aborted && wants_data(m) && m.arrived < m.octets) m.status = Status::kPdcFailed;
  std::erase(pdc.begun, i);
  --pdc.open_messages;
  if (m.status == Status::kRefused && goes_again(m.code) && m.retries < fep_.config.no_match_retries) {
    const Duration least = fep_.config.no_match_least, span = fep_.config.no_match_most - least;
    const Duration wait = least + Duration{static_cast<std::int64_t>(
                                      chance_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, span.ps))))};
    // Of another generation it may go at once (uet §6.4).
    const bool waits = m.code != ReturnCode::kBadGeneration;
    retries_.push({waits ? now + wait * (std::int64_t{1} << m.retries) : now, i, false});
    const auto retries = static_cast<std::uint8_t>(m.retries + 1);
    restart(m);
    m.retries = retries;
    return;
  }
  complete(m);
  free_.push_back(i);
}

// As if nothing of it had been sent.
void Initiator::restart(Message& m) noexcept {
  m.aborted = m.sent_all = m.answered_data = m.says_modified = false;
  m.code = ReturnCode::kOk;
  m.status = Status::kSuccess;
  m.next = m.outstanding = m.arrived = m.slices = m.modified = 0;
  m.message_id = 0;
  ++m.tries;
}

void Initiator::complete(const Message& m) {
  if (!m.wr.signaled && m.status == Status::kSuccess) return;
  fep_.cqs[m.cq.index()].push({.wr_id = m.wr.wr_id,
                               .status = m.status,
                               .work = work_of(m.wr.operation),
                               .return_code = m.code,
                               .truncated = m.says_modified && m.modified < m.octets,
                               .context = m.context,
                               .peer = m.wr.peer,
                               .octets = m.octets,
                               .match_bits = m.wr.match_bits});
}

std::uint32_t Initiator::peek_connectionless(std::uint32_t i) const noexcept {
  const Message& m = messages_[i];
  const auto header = static_cast<std::uint32_t>(is_read(m) ? SesResponseData::kOctets : SesStd::kOctets);
  return header + octets_of_packet(m, m.next);
}

std::uint32_t Initiator::begin_connectionless(std::uint32_t i) noexcept {
  Message& m = messages_[i];
  if (m.next == 0) m.message_id = ++connectionless_id_ == 0 ? ++connectionless_id_ : connectionless_id_;
  ++m.outstanding;
  const std::uint32_t index = m.next++;
  m.sent_all = m.next == m.packets;
  return index;
}

void Initiator::on_connectionless_answered(std::uint32_t i, std::uint32_t index, const SesResponseValues& response,
                                           const PayloadRef& payload) {
  Message& m = messages_[i];
  const std::uint32_t octets = octets_of_packet(m, index);
  if (m.status == Status::kSuccess && response.return_code != ReturnCode::kOk) {
    m.status = Status::kRefused;
    m.code = response.return_code;
  } else if (is_read(m) && m.status == Status::kSuccess) {
    if (payload.octets != octets) {
      m.status = Status::kRefused;
      m.code = ReturnCode::kUncor;
    } else if (!put(m, index * fep_.config.payload_mtu, payload)) {
      m.status = Status::kLocalError;
    }
  }
  --m.outstanding;
  if (m.outstanding == 0 && m.sent_all) finish_connectionless(i);
}

void Initiator::on_connectionless_failed(std::uint32_t i, Status status) {
  Message& m = messages_[i];
  if (m.status == Status::kSuccess) m.status = status;
  --m.outstanding;
  if (m.outstanding == 0 && m.sent_all) finish_connectionless(i);
}

void Initiator::finish_connectionless(std::uint32_t i) {
  complete(messages_[i]);
  free_.push_back(i);
}

void Initiator::forget(Pdc& pdc, Status status, std::vector<std::uint32_t>* again) {
  std::vector<std::uint32_t> all = pdc.begun;
  for (; !pdc.messages.empty(); pdc.messages.pop())
    if (messages_[pdc.messages.front()].next == 0) all.push_back(pdc.messages.front());
  std::ranges::sort(all, {}, [&](std::uint32_t i) { return messages_[i].number; });
  for (const std::uint32_t i : all) {
    Message& m = messages_[i];
    const bool begun = m.next > 0;
    const bool repeats = !begun || (may_repeat(m.wr) && m.moves < fep_.config.pdc_retries);
    if (again != nullptr && m.status == Status::kSuccess && repeats) {
      if (begun) ++m.moves;
      restart(m);
      again->push_back(i);
      continue;
    }
    if (m.status == Status::kSuccess) m.status = status;
    complete(m);
    free_.push_back(i);
  }
  pdc.begun.clear();
  pdc.open_messages = 0;
  pdc.reads_in_flight = 0;
}

}  // namespace railyard::uet
