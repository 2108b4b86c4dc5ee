// Requests, by operation. Messages that are matched are in target_messages.cc.
#include "transports/uet/ses/target.h"

#include <algorithm>
#include <array>

#include "dataplane/base/payload_pattern.h"
#include "transports/base/payload_place.h"
#include "transports/uet/ses/atomics.h"
#include "transports/uet/wire/ses.h"

namespace railyard::uet {
namespace {

Verdict refuse(const SesRequestValues& r, ReturnCode code) {
  return {.response = refusal(r, code), .guaranteed = true};
}
std::uint32_t offset_of(const SesRequestValues& r) noexcept { return r.som ? 0 : r.message_offset; }

constexpr std::uint64_t name_of(std::uint32_t job, std::uint16_t pid, std::uint16_t index) noexcept {
  return std::uint64_t{job} << 32 | std::uint64_t{pid} << 16 | index;
}

constexpr std::uint32_t absolute_name_of(std::uint16_t pid, std::uint16_t index) noexcept {
  return std::uint32_t{pid} << 16 | index;
}

// What a refused access is called (uet §4.10).
ReturnCode code_of(AccessError error) noexcept {
  switch (error) {
    case AccessError::kUnknownKey:
    case AccessError::kOtherDomain:
      return ReturnCode::kBadMkey;
    case AccessError::kNotPermitted:
      return ReturnCode::kPermViolation;
    case AccessError::kOutOfRange:
      return ReturnCode::kBadAddr;
  }
  return ReturnCode::kBadMkey;
}

}  // namespace

ContextId Target::create_context(const ContextInit& init) {
  contexts_.push_back({.init = init});
  const auto index = static_cast<std::uint32_t>(contexts_.size() - 1);
  by_name_.try_emplace(name_of(init.job_id, init.pid_on_fep, init.resource_index), index);
  by_absolute_name_[absolute_name_of(init.pid_on_fep, init.resource_index)].push_back(index);
  found_.fill({});
  return ContextId{static_cast<std::uint32_t>(contexts_.size() - 1)};
}

std::expected<ContextId, ReturnCode> Target::find(const SesRequestValues& r) const noexcept {
  constexpr std::uint64_t kAbsolute = std::uint64_t{1} << 63;
  const std::uint64_t wanted = name_of(r.job_id, r.pid_on_fep, r.resource_index) | (r.rel ? 0 : kAbsolute);
  Found& last = found_[r.resource_index % kFound];
  if (last.name == wanted) return last.context;
  const auto found = contexts_.empty() ? std::unexpected(ReturnCode::kUndeliverable)
                     : r.rel           ? find_relative(r)
                                       : find_absolute(r);
  if (found) last = {wanted, *found};
  return found;
}

// BAD_JOB_ID before BAD_PID before BAD_INDEX: the job scopes the rest.
std::expected<ContextId, ReturnCode> Target::find_relative(const SesRequestValues& r) const noexcept {
  const auto named = by_name_.find(name_of(r.job_id, r.pid_on_fep, r.resource_index));
  if (named != by_name_.end()) return ContextId{named->second};
  auto code = ReturnCode::kBadJobId;
  for (const Context& c : contexts_.all()) {
    if (c.init.job_id != r.job_id) continue;
    if (c.init.pid_on_fep == r.pid_on_fep) {
      code = ReturnCode::kBadIndex;
    } else if (code != ReturnCode::kBadIndex) {
      code = ReturnCode::kBadPid;
    }
  }
  return std::unexpected(code);
}

// BAD_PID before BAD_INDEX before BAD_JOB_ID: it is there, and the job may not ask. Of those that several jobs have
// under one name, the job's own; then the first that any job may ask.
std::expected<ContextId, ReturnCode> Target::find_absolute(const SesRequestValues& r) const noexcept {
  const auto named = by_absolute_name_.find(absolute_name_of(r.pid_on_fep, r.resource_index));
  if (named == by_absolute_name_.end()) {
    const bool has_pid =
        std::ranges::any_of(contexts_.all(), [&](const Context& c) { return c.init.pid_on_fep == r.pid_on_fep; });
    return std::unexpected(has_pid ? ReturnCode::kBadIndex : ReturnCode::kBadPid);
  }
  const std::vector<std::uint32_t>& all = named->second;
  auto found = std::ranges::find_if(all, [&](std::uint32_t c) { return contexts_[c].init.job_id == r.job_id; });
  if (found == all.end()) found = std::ranges::find_if(all, [&](std::uint32_t c) { return contexts_[c].init.any_job; });
  if (found == all.end()) return std::unexpected(ReturnCode::kBadJobId);
  return ContextId{*found};
}

std::expected<Target::NamedMemory, ReturnCode> Target::named_memory(const SesRequestValues& r) const noexcept {
  const std::uint64_t name = r.memory_key() & ~kIdempotentSafe;
  auto key = static_cast<MemoryRegions::Key>(name);
  if (fep_.config.chosen_keys) {
    const auto chosen = fep_.chosen_keys.find(name);
    if (chosen == fep_.chosen_keys.end()) return std::unexpected(ReturnCode::kBadMkey);
    key = chosen->second;
  } else if (name >> 32 != 0) {
    return std::unexpected(ReturnCode::kBadMkey);
  }
  const MemoryRegion* const region = fep_.memory.region(key);
  if (region == nullptr) return std::unexpected(ReturnCode::kBadMkey);
  const std::uint64_t offset = fep_.config.virtual_addresses ? r.buffer_offset - region->address : r.buffer_offset;
  if (offset > region->octets) return std::unexpected(ReturnCode::kBadAddr);
  return NamedMemory{key, region->address + offset, region->octets - offset};
}

// `octets` from `offset` of the region that the request names.
Target::Place Target::region_place(const Context& c, const SesRequestValues& r, std::uint64_t offset,
                                   std::uint64_t octets, AccessSet access) const noexcept {
  const auto named = named_memory(r);
  if (!named) return std::unexpected(named.error());
  if (offset > named->left) return std::unexpected(ReturnCode::kBadAddr);
  const auto place = fep_.memory.check(named->key, c.init.domain, named->address + offset, octets, access);
  if (!place) return std::unexpected(code_of(place.error()));
  return *place;
}

// Octets of a READ that one request asks for.
std::uint32_t Target::slice(const SesRequestValues& r) const noexcept {
  return r.som ? std::min(fep_.config.payload_mtu, r.request_length) : r.payload_length;
}

Verdict Target::on_request(Instant now, Pdc& pdc, Psn psn, const SesRequestValues& r, const PayloadRef& payload) {
  if (r.version != 0) return refuse(r, ReturnCode::kUncor);
  if (r.opcode == SesOpcode::kNoOp) return {.response = default_answer(r)};
  const auto context = find(r);
  if (!context) return refuse(r, context.error());
  if (r.opcode == SesOpcode::kMsgError) return message_error(pdc, r);
  if (r.ie) return refuse(r, ReturnCode::kInitiatorError);
  const auto expected = expected_payload(r, fep_.config.payload_mtu);
  if (expected && *expected != payload.octets) return refuse(r, ReturnCode::kUnsupportedSize);
  if (std::uint64_t{offset_of(r)} + payload.octets > r.request_length) return refuse(r, ReturnCode::kUnsupportedSize);
  switch (r.opcode) {
    case SesOpcode::kWrite:
      return write(now, pdc, *context, r, payload);
    case SesOpcode::kRead:
      return read(pdc, *context, r);
    case SesOpcode::kAtomic:
    case SesOpcode::kFetchingAtomic:
      return atomic(*context, r, payload);
    case SesOpcode::kSend:
    case SesOpcode::kTaggedSend:
      return send(now, pdc, psn, *context, r, payload);
    default:
      return refuse(r, ReturnCode::kUnsupportedOp);
  }
}

Verdict Target::write(Instant now, Pdc& pdc, ContextId id, const SesRequestValues& r, const PayloadRef& payload) {
  const std::uint32_t offset = offset_of(r);
  Verdict verdict{.response = default_answer(r)};
  std::byte* to = nullptr;
  if (payload.octets > 0) {
    const Place at = region_place(contexts_[id.index()], r, offset, payload.octets, Access::kRemoteWrite);
    if (at) {
      to = at->memory;
    } else {
      verdict = refuse(r, at.error());
    }
  }
  const bool only = r.som && r.eom;
  if (only && (!r.hd || verdict.guaranteed)) {
    place(to, payload);
    return verdict;
  }
  std::uint32_t index = 0;
  Inbound* m = only ? nullptr : find_open(pdc, r.message_id, index);
  if (m != nullptr && !continues(*m, id, r)) return refuse(r, ReturnCode::kUnsupportedSize);
  if (m == nullptr) {
    if (!only && !has_room(pdc)) return {.refused = NackCode::kNoSesMsgAvail};
    index = open(id, pdc.peer, r);
    m = &inbound_[index];
    m->write = true;
    m->pdc = pdc.id.value;
    pdc.inbound.push_back(index);
  }
  m->heard = now;
  if (m->code != ReturnCode::kOk) verdict = refuse(r, m->code);
  m->refused = m->refused || verdict.guaranteed;
  if (!verdict.guaranteed) {
    place(to, payload);
    name(*m, offset, payload);
  }
  m->got += payload.octets;
  if (r.som && r.hd) {
    m->has_header_data = true;
    m->header_data = r.header_data;
  }
  if (m->got < m->total) return verdict;
  if (!m->refused && m->has_header_data) complete(*m, Status::kSuccess);
  close(index, &pdc);
  return verdict;
}

Verdict Target::read(Pdc& pdc, ContextId id, const SesRequestValues& r) {
  const std::uint32_t octets = slice(r);
  const std::uint32_t offset = offset_of(r);
  if (octets > fep_.config.payload_mtu || std::uint64_t{offset} + octets > r.request_length)
    return refuse(r, ReturnCode::kUnsupportedSize);
  if (octets == 0) return {.response = default_answer(r)};
  const Context& c = contexts_[id.index()];
  const Place at = region_place(c, r, offset, octets, Access::kRemoteRead);
  if (!at) return refuse(r, at.error());
  const NamedMemory named = *named_memory(r);
  if (r.request_length <= kMostAckData) {
    Verdict v{.response = default_answer(r), .guaranteed = true};
    SesResponseValues& ses = v.response.ses;
    ses.form = NextHdr::kResponseData;
    ses.opcode = SesResponseOpcode::kResponseWData;
    ses.read_request_message_id = r.message_id;
    ses.payload_length = static_cast<std::uint16_t>(octets);
    ses.modified_length = octets;
    v.response.promise = payload_at(*at, octets);
    v.response.promise.bytes = nullptr;
    v.response.read_from = named.key;
    v.response.real = at->memory != nullptr;
    if (v.response.real) std::copy_n(at->memory, octets, v.response.data.begin());
    return v;
  }
  if (pdc.open_read_jobs + pdc.read_jobs.size() >= fep_.config.most_read_jobs)
    return {.refused = NackCode::kNoResource};
  std::uint32_t job = 0;
  if (free_jobs_.empty()) {
    job = static_cast<std::uint32_t>(jobs_.size());
    jobs_.emplace_back();
  } else {
    job = free_jobs_.back();
    free_jobs_.pop_back();
  }
  jobs_[job] = {.job_id = r.job_id,
                .message_id = r.message_id,
                .domain = c.init.domain,
                .key = named.key,
                .address = named.address + offset,
                .octets = octets,
                .message_offset = offset,
                .total = r.request_length};
  pdc.read_jobs.push(job);
  return {.response = default_answer(r)};
}

// Operands are on the wire with the most significant octet first; those of a compare-and-swap in the extension.
Verdict Target::atomic(ContextId id, const SesRequestValues& r, const PayloadRef& payload) {
  const std::uint32_t octets = octets_of(r.atomic.datatype);
  if (octets == 0) return refuse(r, ReturnCode::kAmoUnsupportedDt);
  std::uint64_t operand = 0, compare = 0;
  if (is_compare_and_swap(r.atomic.opcode)) {
    operand = r.atomic.swap_value.low;
    compare = r.atomic.compare_value.low;
  } else {
    if (payload.octets != octets && payload.octets != sizeof(operand))
      return refuse(r, ReturnCode::kAmoUnsupportedSize);
    std::array<std::byte, sizeof(operand)> bytes{};
    place(bytes.data(), payload);
    for (std::uint32_t i = 0; i < payload.octets; ++i)
      operand = operand << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  const Place at = region_place(contexts_[id.index()], r, 0, octets, Access::kRemoteAtomic);
  if (!at) return refuse(r, at.error());
  // A promise can be read, but not changed.
  if (at->memory == nullptr) return refuse(r, ReturnCode::kAmoUnsupportedOp);
  if (r.buffer_offset % octets != 0) return refuse(r, ReturnCode::kAmoUnaligned);
  const auto before = apply_atomic(r.atomic.opcode, r.atomic.datatype, at->memory, operand, compare);
  if (!before) return refuse(r, before.error());
  Verdict v{.response = default_answer(r)};
  if (r.opcode == SesOpcode::kAtomic) return v;
  v.guaranteed = true;
  SesResponseValues& ses = v.response.ses;
  ses.form = NextHdr::kResponseData;
  ses.opcode = SesResponseOpcode::kResponseWData;
  ses.read_request_message_id = r.message_id;
  ses.payload_length = static_cast<std::uint16_t>(octets);
  ses.modified_length = r.request_length;
  v.response.real = true;
  for (std::uint32_t i = 0; i < octets; ++i)
    v.response.data[i] = static_cast<std::byte>(*before >> (8 * (octets - 1 - i)) & 0xFF);
  return v;
}

// The initiator sends no more of a message: what it has sent is `message_offset` octets.
Verdict Target::message_error(Pdc& pdc, const SesRequestValues& r) {
  const Verdict verdict{.response = default_answer(r)};
  const std::uint32_t sent = offset_of(r);
  std::uint32_t index = 0;
  Inbound* m = find_open(pdc, r.message_id, index);
  if (m == nullptr) {
    if (sent == 0) return verdict;
    if (!has_room(pdc)) return {.refused = NackCode::kNoSesMsgAvail};
    // All of it is still under way.
    index = open(*find(r), pdc.peer, r);
    m = &inbound_[index];
    m->pdc = pdc.id.value;
    m->write = true;
    m->refused = true;
    pdc.inbound.push_back(index);
  }
  if (m->matched && !m->refused) complete(*m, Status::kFlushed);
  if (!m->matched && !m->write && !m->refused) forget_unexpected(index);
  m->refused = m->given_up = true;
  m->total = sent;
  if (m->got >= m->total) close(index, &pdc);
  return verdict;
}

Response Target::on_idempotent(const SesRequestValues& r, const PayloadRef& payload, PayloadRef& data) {
  if (r.version != 0) return refusal(r, ReturnCode::kUncor);
  const auto context = find(r);
  if (!context) return refusal(r, context.error());
  if (r.ie) return refusal(r, ReturnCode::kInitiatorError);
  const bool read = r.opcode == SesOpcode::kRead;
  if (!read && r.opcode != SesOpcode::kWrite) return refusal(r, ReturnCode::kUnsupportedOp);
  if ((r.memory_key() & kIdempotentSafe) == 0) return refusal(r, ReturnCode::kOpViolation);
  const auto expected = expected_payload(r, fep_.config.payload_mtu);
  const std::uint32_t octets = read ? slice(r) : payload.octets;
  if ((expected && *expected != payload.octets) || octets > fep_.config.payload_mtu ||
      std::uint64_t{offset_of(r)} + octets > r.request_length)
    return refusal(r, ReturnCode::kUnsupportedSize);
  Response response = default_answer(r);
  if (octets > 0) {
    const Place at = region_place(contexts_[context->index()], r, offset_of(r), octets,
                                  read ? Access::kRemoteRead : Access::kRemoteWrite);
    if (!at) return refusal(r, at.error());
    if (!read) place(at->memory, payload);
    if (read) data = payload_at(*at, octets);
  }
  if (read) {
    response.ses.form = NextHdr::kResponseData;
    response.ses.opcode = SesResponseOpcode::kResponseWData;
    response.ses.read_request_message_id = r.message_id;
    response.ses.payload_length = static_cast<std::uint16_t>(octets);
    response.ses.modified_length = r.request_length;
    response.ses.message_offset = offset_of(r);
  }
  return response;
}

}  // namespace railyard::uet
