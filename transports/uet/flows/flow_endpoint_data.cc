// Data that arrive for flows: what is counted of each packet, and whether each message comes once and is right.
#include <algorithm>
#include <span>
#include <variant>

#include "dataplane/base/payload_pattern.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::uet {

void FlowEndpoint::on_data(const Of& of, const RxFrame& frame, const InPacket& in, std::optional<Drop> drop) {
  Lane& lane = *of.lane;
  Flow& flow = flows_[lane.flow];
  RxFlowCounters& r = flow.received;
  if (in.trimmed) {
    if (!frame.copied) ++r.trimmed;
    return;
  }
  ++r.packets;
  if (r.first == Instant::never()) r.first = frame.at;
  r.last = frame.at;
  // Clocks that are skewed may say that it came before it was sent.
  r.latency.record(static_cast<std::uint64_t>(std::max(frame.at - frame.sent, Duration{}).ps));
  if (in.ce) ++r.marked;
  if (frame.copied) [[unlikely]]
    ++r.duplicated;
  const bool read = flow.config.operation == FlowOperation::kRead;
  if (drop || (read && !of.slot)) {
    ++r.discarded;
  } else if (read) {
    take_read(lane, flow, of, in);
  } else if (flow.config.mode == DeliveryMode::kRudi) {
    take_idempotent(frame.at, lane, flow, in);
  } else if (flow.config.mode != DeliveryMode::kUud) {  // a datagram may come twice: take_message() counts it
    r.take(in.payload.octets);
  }
}

// Of delivery modes without PSNs nobody knows what is missing: those that come behind a later one are counted.
void FlowEndpoint::note_order(Lane& lane, Flow& flow, std::uint64_t at) noexcept {
  if (at < lane.farthest)
    ++flow.received.reordered;
  else
    lane.farthest = at;
}

// A message that has come whole: each once, and what its number says.
void FlowEndpoint::take_message(Instant now, Lane& lane, const Completion& completion, std::uint32_t slot) {
  Flow& flow = flows_[lane.flow];
  const FlowConfig& c = flow.config;
  const std::uint64_t k = completion.header_data & ((std::uint64_t{1} << kMessageBits) - 1);
  bool right = completion.ok() && completion.has_header_data && k < lane.messages &&
               completion.octets == c.octets_of(lane.q, k) && slot < c.slots() &&
               (!c.tagged || completion.match_bits == c.tag(k));
  if (right && !lane.memory.empty())
    right = payload_matches(c.id, c.offset_of(lane.q, k),
                            {lane.memory.data() + std::uint64_t{slot} * c.message, completion.octets});
  else if (right)
    right = completion.intact && completion.stream == c.id && completion.offset == c.offset_of(lane.q, k);
  // ROD promises their order, too: of those that did not fail with their PDC.
  if (right && c.mode == DeliveryMode::kRod) right = lane.whole.is_after_all(k);
  const bool is_new = right && lane.whole.add(k);
  if (is_new && c.mode == DeliveryMode::kUud) {
    note_order(lane, flow, k);
    flow.received.take(completion.octets);
  }
  if (is_new) [[likely]]
    ++flow.verified;
  else if (right && c.mode == DeliveryMode::kUud)
    ++flow.received.discarded;  // a datagram that the network has doubled: nobody promises that it comes once
  else
    ++flow.received.corrupted;
  if (is_new && flow.listener != nullptr) [[unlikely]]
    tell_if_done(now, flow);
}

// Of promises each packet says what it is; real octets are looked at when the message is whole.
void FlowEndpoint::take_read(Lane& lane, Flow& flow, const Of& of, const InPacket& in) {
  const FlowConfig& c = flow.config;
  Lane::Slot& slot = lane.slots[*of.slot];
  // On another PDC all of it comes again.
  if (slot.tries != of.tries) slot = {.message = slot.message, .posted_at = slot.posted_at, .tries = of.tries};
  const auto& response = std::get<SesResponseValues>(in.packet.ses);
  flow.received.take(in.payload.octets);
  slot.octets += in.payload.octets;
  const std::uint64_t offset = c.offset_of(lane.q, slot.message) + response.message_offset;
  if (c.mode == DeliveryMode::kRudi) note_order(lane, flow, offset);
  if (!lane.memory.empty()) return;
  const bool right = in.payload.bytes == nullptr ? in.payload.stream == c.id && in.payload.offset == offset
                                                 : payload_matches(c.id, offset, in.payload.real());
  slot.intact = slot.intact && right;
}

void FlowEndpoint::check_read(Lane& lane, Flow& flow, const Lane::Slot& slot, std::uint32_t place) {
  const FlowConfig& c = flow.config;
  const std::uint32_t octets = c.octets_of(lane.q, slot.message);
  const bool right = lane.memory.empty()
                         ? slot.intact && slot.octets == octets
                         : payload_matches(c.id, c.offset_of(lane.q, slot.message),
                                           {lane.memory.data() + std::uint64_t{place} * c.message, octets});
  if (right && lane.whole.add(slot.message)) [[likely]]
    ++flow.verified;
  else
    ++flow.received.corrupted;
}

// RUDI: a WRITE may happen twice, and nobody says when it is whole.
void FlowEndpoint::take_idempotent(Instant now, Lane& lane, Flow& flow, const InPacket& in) {
  const FlowConfig& c = flow.config;
  RxFlowCounters& r = flow.received;
  const auto& request = std::get<SesRequestValues>(in.packet.ses);
  const std::uint64_t at = request.buffer_offset + (request.som ? 0 : request.message_offset);
  const std::uint64_t all = at / c.message;
  const std::uint64_t k = all / c.qps;
  const bool right = all % c.qps == lane.q && k < lane.messages &&
                     (in.payload.bytes == nullptr ? in.payload.stream == c.id && in.payload.offset == at
                                                  : payload_matches(c.id, at, in.payload.real()));
  if (!right) [[unlikely]] {
    ++r.corrupted;
    return;
  }
  if (lane.whole.has(k)) {
    ++r.discarded;
    return;
  }
  const std::uint32_t mtu = engine().config().payload_mtu;
  const std::uint32_t octets = c.octets_of(lane.q, k);
  auto partial = std::ranges::find(lane.partial, k, &Lane::Partial::message);
  if (partial == lane.partial.end()) {
    lane.partial.push_back({.message = k, .packets = std::vector<bool>((octets + mtu - 1) / mtu)});
    partial = lane.partial.end() - 1;
  }
  const std::size_t index = (at - c.offset_of(lane.q, k)) / mtu;
  if (index >= partial->packets.size() || partial->packets[index]) {
    ++r.discarded;
    return;
  }
  partial->packets[index] = true;
  note_order(lane, flow, at);
  partial->octets += in.payload.octets;
  r.take(in.payload.octets);
  if (partial->octets < octets) return;
  lane.partial.erase(partial);
  lane.whole.add(k);
  ++flow.verified;
  if (flow.listener != nullptr) [[unlikely]]
    tell_if_done(now, flow);
}

}  // namespace railyard::uet
