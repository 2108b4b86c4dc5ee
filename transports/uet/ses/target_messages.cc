// Messages that come in parts, and how they are matched with buffers (uet §6.2, §6.3).
#include <algorithm>

#include "dataplane/base/assert.h"
#include "transports/base/payload_place.h"
#include "transports/uet/ses/target.h"

namespace railyard::uet {
namespace {

constexpr std::size_t kMostEarlyKept = 64 * 1024;  // octets that a place for messages keeps for the next

}  // namespace

std::expected<void, PostError> Target::post_receive(ContextId id, const RecvWr& wr) {
  if (id.index() >= contexts_.size()) return std::unexpected(PostError::kUnknownContext);
  Context& c = contexts_[id.index()];
  RecvWr left = wr;
  for (std::size_t i = 0; i < c.unexpected.size();) {
    const Inbound& m = inbound_[c.unexpected[i]];
    if (!matches(wr, m.tagged, m.match_bits, m.initiator, m.peer)) {
      ++i;
      continue;
    }
    const std::uint32_t index = c.unexpected[i];
    c.unexpected.erase(c.unexpected.begin() + static_cast<std::ptrdiff_t>(i));
    c.unexpected_octets -= m.total;
    if (adopt(index, left)) return {};
  }
  if (c.receives.size() + c.tagged.size() >= c.init.most_receives) return std::unexpected(PostError::kQueueFull);
  if (wr.tagged) {
    c.tagged.push_back(left);
  } else {
    c.receives.push(left);
  }
  return {};
}

std::optional<RecvWr> Target::cancel_receive(ContextId id, std::uint64_t wr_id) {
  Context& c = contexts_[id.index()];
  const auto at = std::ranges::find(c.tagged, wr_id, &RecvWr::wr_id);
  if (at != c.tagged.end()) {
    const RecvWr wr = *at;
    c.tagged.erase(at);
    return wr;
  }
  for (std::size_t i = 0; i < c.receives.size(); ++i) {
    if (c.receives[i].wr_id != wr_id) continue;
    const RecvWr wr = c.receives[i];
    c.receives.remove(i);
    return wr;
  }
  return std::nullopt;
}

std::optional<EarlyMessage> Target::find_early(ContextId id, const RecvWr& wr) const {
  for (const std::uint32_t i : contexts_[id.index()].unexpected) {
    const Inbound& m = inbound_[i];
    if (!matches(wr, m.tagged, m.match_bits, m.initiator, m.peer)) continue;
    return EarlyMessage{.number = i,
                        .peer = m.peer,
                        .octets = m.total,
                        .initiator = m.initiator,
                        .match_bits = m.match_bits,
                        .has_header_data = m.has_header_data,
                        .header_data = m.header_data};
  }
  return std::nullopt;
}

void Target::claim(std::uint32_t number) {
  forget_unexpected(number);
  inbound_[number].claimed = true;
}

void Target::receive_claimed(std::uint32_t number, const RecvWr& wr) {
  Inbound& m = inbound_[number];
  m.claimed = false;
  RecvWr whole = wr;
  if (!m.lost) {
    adopt(number, whole);
    return;
  }
  give_buffer(m, whole);
  m.matched = true;
  complete(m, Status::kPdcFailed);
  close(number, nullptr);
}

void Target::close_context(ContextId id) {
  Context& c = contexts_[id.index()];
  c.receives = {};
  c.tagged.clear();
  for (const std::uint32_t i : c.unexpected)
    if (inbound_[i].waits) close(i, nullptr);
  c.unexpected.clear();
  c.unexpected_octets = 0;
  // (Of those that are free nothing counts.)
  for (std::size_t i = 0; i < inbound_.size(); ++i) {
    Inbound& m = inbound_[i];
    if (m.context != id || m.waits) continue;
    m.refused = true;
    m.code = ReturnCode::kDropped;
  }
  std::erase_if(by_name_, [&](const auto& named) { return named.second == id.index(); });
  for (auto& [name, all] : by_absolute_name_) std::erase(all, static_cast<std::uint32_t>(id.index()));
  std::erase_if(by_absolute_name_, [](const auto& named) { return named.second.empty(); });
  found_.fill({});
}

// Of a buffer for several messages this one gets what it needs, and the next one what is left. Whether nothing is.
bool Target::give_buffer(Inbound& m, RecvWr& wr) noexcept {
  m.receive = wr;
  if (wr.least_left == 0) return true;
  const std::uint32_t octets = std::min(m.total, wr.local.octets);
  m.receive.local.octets = octets;
  wr.local.address += octets;
  wr.local.octets -= octets;
  m.last_of_buffer = wr.local.octets < wr.least_left;
  return m.last_of_buffer;
}

std::uint32_t Target::open(ContextId id, PeerId peer, const SesRequestValues& r) {
  std::uint32_t index = 0;
  if (free_inbound_.empty()) {
    index = static_cast<std::uint32_t>(inbound_.size());
    inbound_.emplace_back();
  } else {
    index = free_inbound_.back();
    free_inbound_.pop_back();
  }
  Inbound& m = inbound_[index];
  std::vector<std::byte> early = std::move(m.early);
  early.clear();
  m = {.context = id, .peer = peer};
  m.early = std::move(early);
  m.message_id = r.message_id;
  m.opcode = r.opcode;
  m.tagged = is_tagged(r.opcode);
  m.delivery_complete = r.dc;
  m.total = r.request_length;
  m.initiator = r.initiator;
  m.job_id = r.job_id;
  m.match_bits = r.match_bits;
  return index;
}

Target::Inbound* Target::find_open(Pdc& pdc, std::uint16_t message_id, std::uint32_t& index) noexcept {
  for (const std::uint32_t i : pdc.inbound)
    if (inbound_[i].message_id == message_id) {
      index = i;
      return &inbound_[i];
    }
  return nullptr;
}

// There are no more half messages of a PDC than packets of it may be missing: enough for who begins a message when all
// of the last one was sent.
bool Target::has_room(const Pdc& pdc) const noexcept { return pdc.inbound.size() <= fep_.config.mp_range; }

// What all packets of a message repeat unchanged (uet §6.2). One that does not is of no message that is open: what it
// says of its place was never checked against this one.
bool Target::continues(const Inbound& m, ContextId id, const SesRequestValues& r) noexcept {
  return m.given_up || (m.opcode == r.opcode && m.context == id && m.total == r.request_length &&
                        m.initiator == r.initiator && m.job_id == r.job_id && m.match_bits == r.match_bits);
}

std::size_t Target::early_octets() const noexcept {
  std::size_t sum = 0;
  for (const Inbound& m : inbound_.all()) sum += m.early.capacity();
  return sum;
}

// With the buffer that waits longest of those that take it.
void Target::match(Inbound& m) {
  Context& c = contexts_[m.context.index()];
  if (!m.tagged) {
    for (std::size_t i = 0; i < c.receives.size(); ++i) {
      if (!matches(c.receives[i], false, 0, m.initiator, m.peer)) continue;
      m.matched = true;
      if (give_buffer(m, c.receives[i])) c.receives.remove(i);
      return;
    }
    return;
  }
  const auto at = std::ranges::find_if(
      c.tagged, [&](const RecvWr& wr) { return matches(wr, true, m.match_bits, m.initiator, m.peer); });
  if (at == c.tagged.end()) return;
  m.receive = *at;
  c.tagged.erase(at);
  m.matched = true;
}

Verdict Target::send(Instant now, Pdc& pdc, Psn psn, ContextId id, const SesRequestValues& r,
                     const PayloadRef& payload) {
  Verdict verdict{.response = default_answer(r)};
  const bool only = r.som && r.eom;
  std::uint32_t index = 0;
  Inbound* m = only ? nullptr : find_open(pdc, r.message_id, index);
  if (m != nullptr && !continues(*m, id, r))
    return {.response = refusal(r, ReturnCode::kUnsupportedSize), .guaranteed = true};
  if (m == nullptr) {
    if (!only && !has_room(pdc)) return {.refused = NackCode::kNoSesMsgAvail};
    Context& c = contexts_[id.index()];
    index = open(id, pdc.peer, r);
    m = &inbound_[index];
    match(*m);
    if (!m->matched) {
      const bool room = c.unexpected.size() < c.init.most_unexpected &&
                        c.unexpected_octets + m->total <= c.init.most_unexpected_octets;
      // DEVIATION: ROD keeps its order by refusing the packet; the reference provider disables the index and counts up
      // its generation, which the initiator has to learn (uet §6.4).
      if (!room && pdc.is_rod()) {
        close(index, nullptr);
        return {.refused = NackCode::kNoSesMsgAvail};
      }
      m->refused = !room;
      m->code = ReturnCode::kNoMatch;
      if (room) {
        c.unexpected.push_back(index);
        c.unexpected_octets += m->total;
      }
    } else if (m->total > m->receive.local.octets && !c.init.truncates) {
      m->refused = true;
      m->code = ReturnCode::kTooLong;
      Inbound failed = *m;
      complete(failed, Status::kRefused);
    }
    m->pdc = pdc.id.value;
    pdc.inbound.push_back(index);
  }
  m->heard = now;
  if (r.som && r.hd) {
    m->has_header_data = true;
    m->header_data = r.header_data;
  }
  if (m->refused) {
    verdict = {.response = refusal(r, m->code), .guaranteed = true};
  } else {
    take(*m, r.som ? 0 : r.message_offset, payload);
  }
  m->got += payload.octets;
  if (m->got < m->total) return verdict;
  if (m->refused) {
    close(index, &pdc);
  } else if (m->matched) {
    if (m->total > m->receive.local.octets) {
      verdict.response.ses.opcode = SesResponseOpcode::kResponse;
      verdict.response.ses.modified_length = m->receive.local.octets;
      verdict.guaranteed = true;
    }
    complete(*m, Status::kSuccess);
    close(index, &pdc);
  } else {
    m->waits = true;
    std::erase(pdc.inbound, index);
    if (m->delivery_complete) {
      m->held = psn;
      verdict = {.response = {.ses = no_response(r.message_id, r.job_id)}, .guaranteed = true, .ready = false};
    }
  }
  return verdict;
}

// Where a promise says that octet 0 of the message is.
void Target::name(Inbound& m, std::uint32_t offset, const PayloadRef& payload) noexcept {
  if (payload.octets == 0) return;
  if (!m.named) {
    m.named = true;
    m.first = {.stream = payload.stream, .offset = payload.offset - offset};
  } else if (payload.bytes == nullptr &&
             (payload.stream != m.first.stream || payload.offset - offset != m.first.offset)) {
    m.intact = false;
  }
}

void Target::take(Inbound& m, std::uint32_t offset, const PayloadRef& payload) {
  RAILYARD_ASSERT(std::uint64_t{offset} + payload.octets <= m.total, "octets of a message lie within it");
  name(m, offset, payload);
  if (m.matched) return put(m, offset, payload);
  if (payload.bytes == nullptr) return;
  m.early_real = true;
  if (m.early.size() < m.total) m.early.resize(m.total);
  place(m.early.data() + offset, payload);
}

// Into its buffer, as far as that reaches.
void Target::put(const Inbound& m, std::uint32_t offset, const PayloadRef& payload) noexcept {
  const LocalBuffer& local = m.receive.local;
  if (offset >= local.octets || payload.octets == 0) return;
  const std::uint32_t octets = std::min(payload.octets, local.octets - offset);
  const auto at = fep_.memory.check(local.key, contexts_[m.context.index()].init.domain, local.address + offset, octets,
                                    Access::kLocalWrite);
  if (at) place(at->memory, part_of(payload, 0, octets));
}

bool Target::adopt(std::uint32_t index, RecvWr& wr) {
  Inbound& m = inbound_[index];
  const bool used_up = give_buffer(m, wr);
  m.matched = true;
  if (m.early_real) {
    put(m, 0, {.octets = static_cast<std::uint32_t>(m.early.size()), .bytes = m.early.data()});
  } else if (m.named && m.intact) {
    put(m, 0, {.stream = m.first.stream, .offset = m.first.offset, .octets = m.total});
  }
  if (!m.waits) return used_up;
  complete(m, Status::kSuccess);
  if (m.held) {
    Response response{.ses = default_response(m.message_id, m.job_id)};
    response.ses.opcode = SesResponseOpcode::kResponse;
    response.ses.modified_length = std::min(m.total, m.receive.local.octets);
    late_.push_back({m.pdc, *m.held, response});
  }
  close(index, nullptr);
  return used_up;
}

void Target::complete(Inbound& m, Status status) {
  const Context& c = contexts_[m.context.index()];
  const bool local_ok = m.write || m.receive.local.octets == 0 ||
                        fep_.memory.check(m.receive.local.key, c.init.domain, m.receive.local.address,
                                          m.receive.local.octets, Access::kLocalWrite);
  fep_.cqs[c.init.cq.index()].push({.wr_id = m.receive.wr_id,
                                    .status = status == Status::kSuccess && !local_ok ? Status::kLocalError : status,
                                    .work = m.write ? Work::kReceiveWrite : Work::kReceive,
                                    .return_code = m.code,
                                    .has_header_data = m.has_header_data,
                                    .truncated = !m.write && m.total > m.receive.local.octets,
                                    .intact = m.intact,
                                    .context = m.context,
                                    .peer = m.peer,
                                    .octets = m.total,
                                    .initiator = m.initiator,
                                    .job_id = m.job_id,
                                    .match_bits = m.match_bits,
                                    .header_data = m.header_data,
                                    .address = m.receive.local.address,
                                    .last_of_buffer = m.last_of_buffer,
                                    .stream = m.first.stream,
                                    .offset = m.first.offset});
}

void Target::close(std::uint32_t index, Pdc* pdc) {
  if (pdc != nullptr) std::erase(pdc->inbound, index);
  // Somebody will ask for it.
  if (inbound_[index].claimed) {
    inbound_[index].lost = true;
    return;
  }
  // (`= {}` would be a list of no octets, for which the block is kept.)
  if (std::vector<std::byte>& early = inbound_[index].early; early.capacity() > kMostEarlyKept)
    early = std::vector<std::byte>();
  free_inbound_.push_back(index);
}

void Target::forget_unexpected(std::uint32_t index) {
  const Inbound& m = inbound_[index];
  if (m.claimed) return;
  Context& c = contexts_[m.context.index()];
  std::erase(c.unexpected, index);
  c.unexpected_octets -= m.total;
}

// DEVIATION: the reference provider forgets such a message (uet §6.2). What came of it was acknowledged, so that if
// more of it comes after all its initiator would take it for delivered: that it was given up is known as long as the
// PDC.
Instant Target::give_up_halves(Instant now, Pdc& pdc) {
  Instant next = Instant::never();
  for (const std::uint32_t index : pdc.inbound) {
    Inbound& m = inbound_[index];
    if (m.refused) continue;
    const Instant due = m.heard + fep_.config.half_message_keeps();
    if (due > now) {
      next = std::min(next, due);
      continue;
    }
    if (m.matched) complete(m, Status::kRetryExceeded);
    if (!m.matched && !m.write) forget_unexpected(index);
    m.refused = true;
    m.lost = m.claimed;
    m.code = ReturnCode::kDropped;
    m.early = std::vector<std::byte>();
  }
  return next;
}

void Target::forget(Pdc& pdc) {
  for (const std::uint32_t index : pdc.inbound) {
    Inbound& m = inbound_[index];
    if (!m.refused && m.matched) complete(m, Status::kPdcFailed);
    if (!m.refused && !m.matched && !m.write) forget_unexpected(index);
    close(index, nullptr);
  }
  pdc.inbound.clear();
  for (; !pdc.read_jobs.empty(); pdc.read_jobs.pop()) release_read_job(pdc.read_jobs.front());
}

bool Target::waits_for_datagram(const SesRequestValues& r, const PayloadRef& payload) const noexcept {
  const auto context = find(r);
  return r.version == 0 && context && !r.ie && r.opcode == SesOpcode::kDatagramSend && r.som && r.eom &&
         payload.octets == r.request_length && payload.octets <= fep_.config.payload_mtu &&
         !contexts_[context->index()].receives.empty();
}

void Target::on_datagram(PeerId peer, const SesRequestValues& r, const PayloadRef& payload) {
  const std::uint32_t index = open(*find(r), peer, r);
  Inbound& m = inbound_[index];
  match(m);
  if (!m.matched) return close(index, nullptr);  // all wait for others
  m.has_header_data = r.hd;
  m.header_data = r.hd ? r.header_data : 0;
  take(m, 0, payload);
  complete(m, Status::kSuccess);
  close(index, nullptr);
}

}  // namespace railyard::uet
