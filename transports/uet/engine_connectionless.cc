// RUDI and UUD: packets that belong to no PDC (uet §5.12, §5.13).
#include <algorithm>
#include <utility>

#include "transports/uet/engine.h"

namespace railyard::uet {

// ---- Initiator ----

// Its number, and how often its place was used before: unique among those that are outstanding.
std::uint32_t Engine::Connectionless::pkt_id(std::uint32_t slot) const noexcept {
  return slot << 16 | packets[slot].generation;
}

bool Engine::has_connectionless(const DataLine& line) const noexcept {
  return !line.replies.empty() || !line.again.empty() || !line.datagrams.empty() ||
         (!line.messages.empty() && line.outstanding < fep_.config.rudi_window);
}

bool Engine::send_connectionless(Instant now, DataLine& line, OutPacket& out) {
  Connectionless& c = connectionless_;
  if (!line.replies.empty()) {
    const DataReply reply = line.replies.front();
    line.replies.pop();
    out.begin(reply.peer, reply.entropy, false, number_of(line));
    out.packet = {.pds = reply.pds, .ses = reply.ses, .payload_octets = reply.payload.octets};
    out.payload = reply.payload;
    out.read_from = reply.read_from;
    return true;
  }
  if (!line.datagrams.empty()) {
    const Cargo cargo{.item = line.datagrams.front()};
    line.datagrams.pop();
    out.begin(initiator_.message(cargo.item).wr.peer, c.paths.next(now, chance_), false, number_of(line));
    initiator_.fill(cargo, out.packet, out.payload, out.small);
    name_message(cargo.item, out);
    out.packet.pds = PdsUudValues{};
    initiator_.finish_connectionless(cargo.item);
    return true;
  }
  while (!line.again.empty()) {
    const std::uint32_t slot = line.again.front();
    line.again.pop();
    if (!c.packets[slot].used || !c.packets[slot].lost) continue;
    fep_.counters.retransmitted_packets.increment();
    send_rudi(now, slot, out);
    return true;
  }
  if (line.messages.empty() || line.outstanding >= fep_.config.rudi_window) return false;
  const std::uint32_t message = line.messages.front();
  std::uint32_t slot = 0;
  if (c.free.empty()) {
    slot = static_cast<std::uint32_t>(c.packets.size());
    c.packets.emplace_back();
  } else {
    slot = c.free.back();
    c.free.pop_back();
  }
  RudiPacket& p = c.packets[slot];
  p = {.message = message,
       .index = initiator_.begin_connectionless(message),
       .generation = p.generation,
       .data_class = number_of(line),
       .used = true};
  ++p.generation;
  ++line.outstanding;
  if (initiator_.message(message).sent_all) line.messages.pop();
  send_rudi(now, slot, out);
  return true;
}

void Engine::send_rudi(Instant now, std::uint32_t slot, OutPacket& out) {
  RudiPacket& p = connectionless_.packets[slot];
  const bool again = p.transmissions > 0;
  p.lost = false;
  p.entropy = connectionless_.paths.next(now, chance_);
  p.deadline = now + fep_.config.rto_init * (std::int64_t{1} << std::min<int>(p.transmissions, fep_.config.retries));
  ++p.transmissions;
  rudi_wakes_.push({p.deadline, slot, false});
  out.begin(initiator_.message(p.message).wr.peer, p.entropy, false, p.data_class);
  initiator_.fill({.item = p.message, .index = p.index}, out.packet, out.payload, out.small);
  name_message(p.message, out);
  out.again = again;
  out.packet.pds = PdsRudiValues{.retx = again, .pkt_id = connectionless_.pkt_id(slot)};
}

void Engine::release_rudi(std::uint32_t slot) {
  RudiPacket& p = connectionless_.packets[slot];
  p.used = false;
  connectionless_.free.push_back(slot);
  --data_lines_[p.data_class].outstanding;
}

void Engine::on_rudi_timer(Instant at, std::uint32_t slot) {
  RudiPacket& p = connectionless_.packets[slot];
  if (!p.used || p.lost || p.deadline != at) return;
  fep_.counters.retransmission_timeouts.increment();
  connectionless_.paths.on_feedback(at, p.entropy, PathFeedback::kTimeout);
  if (p.transmissions > fep_.config.retries) {
    initiator_.on_connectionless_failed(p.message, Status::kRetryExceeded);
    return release_rudi(slot);
  }
  p.lost = true;
  data_lines_[p.data_class].again.push(slot);
}

// The outstanding packet that an answer is of; nullptr: of none.
const Engine::RudiPacket* Engine::find_rudi(const InPacket& in, std::uint32_t pkt_id) const noexcept {
  const std::uint32_t slot = pkt_id >> 16;
  if (slot >= connectionless_.packets.size()) return nullptr;
  const RudiPacket& p = connectionless_.packets[slot];
  if (!p.used || connectionless_.pkt_id(slot) != pkt_id) return nullptr;
  const PeerId peer = initiator_.message(p.message).wr.peer;
  return fep_.peers[peer.index()].address.destination == in.source ? &p : nullptr;
}

Engine::RudiPacket* Engine::find_rudi(const InPacket& in, std::uint32_t pkt_id) noexcept {
  return const_cast<RudiPacket*>(std::as_const(*this).find_rudi(in, pkt_id));
}

std::optional<Drop> Engine::on_rudi_response(Instant now, const InPacket& in, const PdsRudiValues& pds) {
  RudiPacket* const p = find_rudi(in, pds.pkt_id);
  const auto* const response = std::get_if<SesResponseValues>(&in.packet.ses);
  if (p == nullptr || response == nullptr) return Drop::kUnknownPacketId;
  connectionless_.paths.on_feedback(now, in.entropy, pds.m ? PathFeedback::kEcn : PathFeedback::kGood);
  initiator_.on_connectionless_answered(p->message, p->index, *response, in.payload);
  release_rudi(pds.pkt_id >> 16);
  return std::nullopt;
}

// It was trimmed, or there was no room for it: it goes again.
std::optional<Drop> Engine::on_rudi_nack(Instant now, const InPacket& in, const PdsNackValues& nack) {
  RudiPacket* const p = find_rudi(in, nack.nack_psn);
  if (p == nullptr) return Drop::kUnknownPacketId;
  connectionless_.paths.on_feedback(now, in.entropy, PathFeedback::kTrimmed);
  const bool at_once = nack.code == NackCode::kTrimmed || nack.code == NackCode::kTrimmedLasthop;
  if (!at_once || p->lost) return std::nullopt;
  p->lost = true;
  data_lines_[p->data_class].again.push(nack.nack_psn >> 16);
  return std::nullopt;
}

// ---- Target ----

std::optional<Drop> Engine::on_rudi_request(const InPacket& in, const PdsRudiValues& pds) {
  const auto* const request = std::get_if<SesRequestValues>(&in.packet.ses);
  if (request == nullptr) return Drop::kUnexpected;
  PayloadRef data{};
  const Response response = target_.on_idempotent(*request, in.payload, data);
  PdsRudiValues answer{
      .type = PdsType::kRudiResp, .next_hdr = response.ses.form, .m = in.ce, .retx = pds.retx, .pkt_id = pds.pkt_id};
  const PeerId peer = learn_peer(in);
  if (data.octets > 0) {
    data_lines_[in.data_class].replies.push({peer, answer, response.ses, data, in.entropy,
                                             static_cast<MemoryRegions::Key>(request->memory_key())});
  } else {
    replies_.push_back({.peer = peer, .pds = answer, .ses = response.ses, .entropy = in.entropy});
  }
  return std::nullopt;
}

std::optional<Drop> Engine::on_datagram(const InPacket& in) {
  const auto* const request = std::get_if<SesRequestValues>(&in.packet.ses);
  if (request == nullptr || !target_.on_datagram(learn_peer(in), *request, in.payload)) return Drop::kNoMatch;
  return std::nullopt;
}

}  // namespace railyard::uet
