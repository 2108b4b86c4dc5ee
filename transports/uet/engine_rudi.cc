// RUDI: packets that may happen twice, each with its own answer and timer (uet §5.12).
//
// Those to one peer in one class share congestion control (RudiLine): the answer says how long the round trip took, and
// by `m` whether the request was marked. That is all that it says: what was not answered is lost by a NACK, or by time.
//
// DEVIATION: no source says what a READ counts for. Here it is what it brings back, which the target, without any
// state, sends as soon as it is asked: so the reader's window holds for it. A mark or a cut on the way back counts as
// one on the way there, and what is cut there is asked for again at once.
#include <algorithm>
#include <utility>

#include "transports/uet/engine.h"

namespace railyard::uet {

// ---- Initiator ----

// Its number, and how often its place was used before: unique among those that are outstanding.
std::uint32_t Engine::Rudi::pkt_id(std::uint32_t slot) const noexcept {
  return slot << kGenerationBits | packets[slot].generation;
}

std::uint32_t Engine::Rudi::slot(std::uint32_t pkt_id) noexcept { return pkt_id >> kGenerationBits; }

std::uint32_t Engine::rudi_line(Instant now, PeerId peer, std::uint8_t data_class) {
  std::vector<std::uint32_t>& of_peer = fep_.peer(peer).rudi;
  for (const std::uint32_t i : of_peer)
    if (rudi_.lines[i].data_class == data_class) return i;
  std::uint32_t i = 0;
  if (rudi_.free_lines.empty()) {
    i = static_cast<std::uint32_t>(rudi_.lines.size());
    rudi_.lines.emplace_back();
  } else {
    i = rudi_.free_lines.back();
    rudi_.free_lines.pop_back();
  }
  RudiLine& line = rudi_.lines[i];
  const DataClass& of_class = data_lines_[data_class].config;
  line.peer = peer;
  line.data_class = data_class;
  line.used = true;
  line.in_line = line.waits_for_number = false;
  line.paced_until = line.looked_at = Instant::never();
  line.congestion = CongestionControl(of_class.congestion);
  const auto* const nscc = std::get_if<NsccConfig>(&of_class.congestion);
  line.reorder = ReorderWindow(nscc == nullptr ? Duration{} : nscc->base_rtt, of_class.trimming);
  line.newest_heard = {};
  line.chance = RngStream(Seed{chance_.next()}, "rudi");
  line.paths = PathSelector(of_class.multipath, line.chance);
  line.idle_since = now;
  of_peer.push_back(i);
  return i;
}

// Forgotten as an idle PDC is closed: what was learnt of the way is old.
void Engine::release_rudi_line(std::uint32_t i) {
  RudiLine& line = rudi_.lines[i];
  while (!line.again.empty()) line.again.pop();
  line.used = false;
  std::erase(fep_.peer(line.peer).rudi, i);
  rudi_.free_lines.push_back(i);
}

void Engine::post_rudi(Instant now, std::uint32_t message) {
  const SendWr& wr = initiator_.message(message).wr;
  const std::uint32_t i = rudi_line(now, wr.peer, wr.data_class);
  rudi_.lines[i].messages.push(message);
  settle_rudi(now, i);
}

// Whether a packet could go as far as the window is concerned, and there is a number for it.
bool Engine::has_rudi(RudiLine& line) noexcept {
  while (!line.again.empty()) {
    const RudiPacket& p = rudi_.packets[line.again.front()];
    if (p.used && p.lost && &rudi_.lines[p.line] == &line) break;
    line.again.pop();  // answered since
  }
  std::uint32_t octets = 0;
  if (!line.again.empty()) {
    octets = rudi_.packets[line.again.front()].octets;
  } else if (wants_first_of_rudi(line) && has_rudi_number()) {
    octets = initiator_.peek_connectionless(line.messages.front()) + PdsRudi::kOctets;
  } else {
    return false;
  }
  return line.in_flight == 0 || line.congestion.allows(octets);
}

bool Engine::wants_first_of_rudi(const RudiLine& line) const noexcept {
  return !line.messages.empty() && line.outstanding < fep_.config.rudi_window;
}

bool Engine::has_rudi_number() const noexcept {
  return !rudi_.free_packets.empty() || rudi_.packets.size() < fep_.config.most_rudi;
}

// After anything that may have changed it.
void Engine::settle_rudi(Instant now, std::uint32_t i) {
  RudiLine& line = rudi_.lines[i];
  if (!line.idle()) line.idle_since = now;
  if (!line.in_line && line.paced_until == Instant::never() && has_rudi(line)) {
    const Instant from = line.congestion.next_at();
    if (from > now) {
      line.paced_until = from;
      rudi_wakes_.push({from, i, true});
    } else {
      line.in_line = true;
      data_lines_[line.data_class].rudi.push(i);
    }
  }
  if (!line.waits_for_number && line.again.empty() && wants_first_of_rudi(line) && !has_rudi_number()) {
    line.waits_for_number = true;
    rudi_.waiting.push(i);
  }
  // One wake at a time is enough: when it comes and something went since, it is set again.
  if (!line.idle() || line.looked_at != Instant::never()) return;
  // While it is in line (for a packet that has been answered since) it is looked at again, later: it leaves the line first.
  line.looked_at = (line.in_line ? now : line.idle_since) + fep_.config.idle_close;
  rudi_wakes_.push({line.looked_at, i, true});
}

// Its time to send has come, or it may have been idle for long.
void Engine::on_rudi_wake(Instant now, std::uint32_t i) {
  RudiLine& line = rudi_.lines[i];
  if (!line.used) return;
  if (line.paced_until <= now) line.paced_until = Instant::never();
  if (line.looked_at <= now) {
    line.looked_at = Instant::never();
    if (line.idle() && !line.in_line && line.idle_since + fep_.config.idle_close <= now) return release_rudi_line(i);
  }
  settle_rudi(now, i);
}

bool Engine::send_rudi(Instant now, DataLine& data, OutPacket& out) {
  while (!data.rudi.empty()) {
    const std::uint32_t i = data.rudi.front();
    data.rudi.pop();
    RudiLine& line = rudi_.lines[i];
    line.in_line = false;
    if (!has_rudi(line) || line.congestion.next_at() > now) {
      settle_rudi(now, i);
      continue;
    }
    std::uint32_t slot = 0;
    if (!line.again.empty()) {
      slot = line.again.front();
      line.again.pop();
      fep_.counters.retransmitted_packets.increment();
    } else {
      slot = first_of_rudi(i);
    }
    send_rudi_packet(now, slot, out);
    settle_rudi(now, i);
    return true;
  }
  return false;
}

// The next packet of the line's first message.
std::uint32_t Engine::first_of_rudi(std::uint32_t i) {
  RudiLine& line = rudi_.lines[i];
  std::uint32_t slot = 0;
  if (rudi_.free_packets.empty()) {
    slot = static_cast<std::uint32_t>(rudi_.packets.size());
    rudi_.packets.emplace_back();
  } else {
    slot = rudi_.free_packets.back();
    rudi_.free_packets.pop_back();
  }
  const std::uint32_t message = line.messages.front();
  const std::uint32_t octets = initiator_.peek_connectionless(message) + PdsRudi::kOctets;
  RudiPacket& p = rudi_.packets[slot];
  const auto generation = static_cast<std::uint16_t>((p.generation + 1) & ((1u << Rudi::kGenerationBits) - 1));
  p = {.message = message,
       .index = initiator_.begin_connectionless(message),
       .line = i,
       .octets = octets,
       .generation = generation,
       .used = true};
  ++line.outstanding;
  if (initiator_.message(message).sent_all) line.messages.pop();
  return slot;
}

void Engine::send_rudi_packet(Instant now, std::uint32_t slot, OutPacket& out) {
  RudiPacket& p = rudi_.packets[slot];
  RudiLine& line = rudi_.lines[p.line];
  const bool again = p.transmissions > 0;
  if (!again) p.sent_first_at = now;
  p.lost = false;
  p.sent_at = now;
  p.entropy = line.paths.next(now, line.chance);
  if (p.deadline <= now || p.timed_out) {
    // Another timeout passed while it waited for its turn. It counts if the peer has been silent since it was sent
    // first; it is sent once more for the last.
    const bool another = again && p.deadline > Instant{} && p.deadline <= now;
    if (another && line.newest_heard <= p.sent_first_at && p.timeouts < fep_.config.retries) ++p.timeouts;
    p.timed_out = false;
    p.deadline = now + rudi_rto(p);
  }
  p.looked_at = first_look_at(line, p);
  if (p.transmissions < RudiPacket::kMostCounted) ++p.transmissions;
  ++line.in_flight;
  line.congestion.on_sent(now, now, p.octets);
  rudi_wakes_.push({p.looked_at, slot, false});
  out.begin(line.peer, p.entropy, false, line.data_class);
  initiator_.fill({.item = p.message, .index = p.index}, out.packet, out.payload, out.small);
  name_message(p.message, out);
  out.again = again;
  out.packet.pds = PdsRudiValues{.retx = again, .pkt_id = rudi_.pkt_id(slot)};
}

// It is not in flight any more, and goes again.
void Engine::lose_rudi(Instant now, std::uint32_t slot) {
  RudiPacket& p = rudi_.packets[slot];
  RudiLine& line = rudi_.lines[p.line];
  p.lost = true;
  --line.in_flight;
  line.again.push(slot);
  if (line.in_flight == 0) line.congestion.on_nothing_in_flight();
  settle_rudi(now, p.line);
}

// It is answered, or given up.
void Engine::release_rudi(Instant now, std::uint32_t slot) {
  RudiPacket& p = rudi_.packets[slot];
  RudiLine& line = rudi_.lines[p.line];
  p.used = false;
  rudi_.free_packets.push_back(slot);
  --line.outstanding;
  if (!p.lost && --line.in_flight == 0) line.congestion.on_nothing_in_flight();
  wake_rudi_waiter(now);
  settle_rudi(now, p.line);
}

// With the packet its message has failed: it completes now, and nothing more of it is sent. Answers that are under way
// find no packet.
void Engine::give_up_rudi(Instant now, std::uint32_t slot) {
  const std::uint32_t message = rudi_.packets[slot].message;
  RudiLine& line = rudi_.lines[rudi_.packets[slot].line];
  if (!line.messages.empty() && line.messages.front() == message) line.messages.pop();
  initiator_.send_no_more(message);
  std::vector<std::uint32_t> of_message;
  for (std::uint32_t i = 0; i < rudi_.packets.size(); ++i)
    if (rudi_.packets[i].used && rudi_.packets[i].message == message) of_message.push_back(i);
  for (const std::uint32_t i : of_message) {
    initiator_.on_connectionless_failed(message, Status::kRetryExceeded);
    release_rudi(now, i);
  }
}

// A number is free: the first that waits for one takes it, if it still has something to send.
void Engine::wake_rudi_waiter(Instant now) {
  while (!rudi_.waiting.empty()) {
    const std::uint32_t i = rudi_.waiting.front();
    rudi_.waiting.pop();
    RudiLine& line = rudi_.lines[i];
    line.waits_for_number = false;
    if (!line.used) continue;
    settle_rudi(now, i);
    if (line.in_line || line.paced_until != Instant::never()) return;
  }
}

Duration Engine::rudi_rto(const RudiPacket& p) const noexcept {
  return fep_.config.rto_init * (std::int64_t{1} << p.timeouts);
}

// As of a PDC's packets (engine_losses.cc): one that was overtaken is waited for as long as any took lately and as long
// again, another one twice that. In a lossless class time shows nothing, nor where nobody has answered for a timeout.
Instant Engine::first_look_at(const RudiLine& line, const RudiPacket& p) const noexcept {
  if (p.timeouts > 0 && line.newest_heard <= p.sent_first_at) return p.deadline;
  if (!fep_.config.infer_loss || data_lines_[line.data_class].config.lossless) return p.deadline;
  return std::min(p.deadline, p.sent_at + std::min(line.reorder.patience(), fep_.config.rto_init));
}

void Engine::on_rudi_timer(Instant at, std::uint32_t slot) {
  RudiPacket& p = rudi_.packets[slot];
  if (!p.used || p.lost || p.looked_at != at) return;
  RudiLine& line = rudi_.lines[p.line];
  // As of a PDC's packets (is_cut_for_ever()): others are answered, and this one never.
  if (p.transmissions >= RudiPacket::kMostCounted && at - p.sent_first_at > fep_.config.silence())
    return give_up_rudi(at, slot);
  if (at < p.deadline && p.timeouts <= fep_.config.retries) {
    const Duration longest = std::min(line.reorder.patience(), fep_.config.rto_init);  // it may be without end
    const Instant due = p.sent_at + longest * (p.sent_at < line.newest_heard ? 1 : 2);
    if (due > at) {
      p.looked_at = std::min(due, p.deadline);
      rudi_wakes_.push({p.looked_at, slot, false});
      return;
    }
    fep_.counters.inferred_losses.increment();
    line.paths.on_feedback(at, p.entropy, PathFeedback::kTrimmed);
    line.congestion.on_loss(p.octets);
    line.reorder.lost();
    p.unclear = p.transmissions > 1;
    return lose_rudi(at, slot);
  }
  fep_.counters.retransmission_timeouts.increment();
  line.paths.on_feedback(at, p.entropy, PathFeedback::kTimeout);
  line.congestion.on_loss(p.octets);
  p.unclear = p.transmissions > 1;
  if (++p.timeouts > fep_.config.retries) return give_up_rudi(at, slot);
  p.timed_out = true;
  p.deadline = at + rudi_rto(p);
  lose_rudi(at, slot);
}

// The outstanding packet that an answer is of; nullptr: of none.
const RudiPacket* Engine::find_rudi(const InPacket& in, std::uint32_t pkt_id) const noexcept {
  const std::uint32_t slot = Rudi::slot(pkt_id);
  if (slot >= rudi_.packets.size()) return nullptr;
  const RudiPacket& p = rudi_.packets[slot];
  if (!p.used || rudi_.pkt_id(slot) != pkt_id) return nullptr;
  const PeerId peer = rudi_.lines[p.line].peer;
  return fep_.peers[peer.index()].address.destination == in.source ? &p : nullptr;
}

std::optional<Drop> Engine::on_rudi_response(Instant now, const InPacket& in, const PdsRudiValues& pds) {
  const RudiPacket* const p = find_rudi(in, pds.pkt_id);
  const auto* const response = std::get_if<SesResponseValues>(&in.packet.ses);
  if (p == nullptr || response == nullptr) return Drop::kUnknownPacketId;
  RudiLine& line = rudi_.lines[p->line];
  const bool marked = pds.m || in.ce;
  line.paths.on_feedback(now, in.entropy, marked ? PathFeedback::kEcn : PathFeedback::kGood);
  if (pds.retx ? p->transmissions > 1 && !p->unclear : p->transmissions == 1) {
    if (p->transmissions == 1) line.reorder.heard(now, now - p->sent_at);
    line.newest_heard = std::max(line.newest_heard, p->sent_at);
  } else if (!pds.retx && p->transmissions == 2) {
    line.reorder.came_after_all(now - p->sent_first_at);
  }
  if (!p->lost) {
    AckSignals signals{.newly = p->octets, .ecn = marked};
    // As of an ACK (uet §5.9): of a packet that was sent twice it may be of either, unless it says so.
    if (pds.retx ? p->transmissions > 1 && !p->unclear : p->transmissions == 1) signals.rtt = now - p->sent_at;
    line.congestion.on_ack(now, signals);
  }
  initiator_.on_connectionless_answered(p->message, p->index, *response, in.payload);
  release_rudi(now, Rudi::slot(pds.pkt_id));
  return std::nullopt;
}

// The request was trimmed, or there was no room for it.
std::optional<Drop> Engine::on_rudi_nack(Instant now, const InPacket& in, const PdsNackValues& nack) {
  const RudiPacket* const p = find_rudi(in, nack.nack_psn);
  if (p == nullptr) return Drop::kUnknownPacketId;
  const bool last_hop = nack.code == NackCode::kTrimmedLasthop;
  // For want of room it goes again when its timer says so.
  if (p->lost || (nack.code != NackCode::kTrimmed && !last_hop)) return std::nullopt;
  const PathFeedback feedback = !last_hop ? PathFeedback::kTrimmed : nack.m ? PathFeedback::kEcn : PathFeedback::kGood;
  on_rudi_trimmed(now, Rudi::slot(nack.nack_psn), in.entropy, feedback);
  return std::nullopt;
}

void Engine::on_rudi_trimmed(Instant now, std::uint32_t slot, std::uint16_t entropy, PathFeedback feedback) {
  RudiPacket& p = rudi_.packets[slot];
  RudiLine& line = rudi_.lines[p.line];
  p.timeouts = 0;  // the peer is there
  p.deadline = {};
  line.paths.on_feedback(now, entropy, feedback);
  line.congestion.on_trimmed(now, p.octets, true);
  // As of a PDC's packets (is_cut_for_ever()), but since it was sent first: each goes by itself.
  if (p.transmissions < RudiPacket::kMostCounted || now - p.sent_first_at <= fep_.config.silence())
    return lose_rudi(now, slot);
  give_up_rudi(now, slot);
}

// The answer of a READ was cut.
void Engine::on_trimmed_rudi_response(Instant now, const InPacket& in, const PdsRudiValues& pds) {
  const RudiPacket* const p = find_rudi(in, pds.pkt_id);
  if (p == nullptr || p->lost) return;
  on_rudi_trimmed(now, Rudi::slot(pds.pkt_id), in.entropy, in.last_hop ? PathFeedback::kGood : PathFeedback::kTrimmed);
}

// ---- Target ----

std::optional<Drop> Engine::on_rudi_request(const InPacket& in, const PdsRudiValues& pds) {
  const auto* const request = std::get_if<SesRequestValues>(&in.packet.ses);
  if (request == nullptr) return Drop::kUnexpected;
  const auto known = learn_peer(in);
  if (!known) return Drop::kNoPeer;
  Peer& peer = fep_.peer(*known);
  if (peer.rudi_replies >= fep_.config.most_rudi_replies) {
    nack_rudi(in, pds, NackCode::kNoResource);
    return Drop::kNoResource;
  }
  PayloadRef data{};
  const Response response = target_.on_idempotent(*request, in.payload, data);
  PdsRudiValues answer{
      .type = PdsType::kRudiResp, .next_hdr = response.ses.form, .m = in.ce, .retx = pds.retx, .pkt_id = pds.pkt_id};
  if (data.octets > 0) {
    ++peer.rudi_replies;
    data_lines_[in.data_class].replies.push(
        {*known, answer, response.ses, data, in.entropy, static_cast<MemoryRegions::Key>(request->memory_key())});
  } else {
    // Without its answer it comes again: it may happen twice.
    reply({.peer = *known, .pds = answer, .ses = response.ses, .entropy = in.entropy});
  }
  return std::nullopt;
}

}  // namespace railyard::uet
