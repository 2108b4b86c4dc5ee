#include "dataplane/packet/int_stack.h"

#include <cstring>
#include <stdexcept>

#include <rte_mbuf.h>

#include "dataplane/base/state_archive.h"
#include "dataplane/packet/int_nodes.h"

namespace railyard {

namespace {

// The hash that a driver may leave with a frame that it has received; nothing reads it after that.
static_assert(sizeof(rte_mbuf::hash) >= sizeof(IntStack*));

// An IntHop as it is told.
struct ToldHop {
  std::int64_t ingress;
  std::int64_t queued;
  std::int64_t egress;
  std::uint32_t node;
  std::uint32_t queue_octets;
  std::uint32_t frame_octets;
  std::uint16_t in;
  std::uint16_t out;
  std::uint8_t priority;
  std::uint8_t dropped;
  std::uint8_t marked;
  std::uint8_t unused[5];
};
static_assert(sizeof(ToldHop) == 48);

void check(bool right) {
  if (!right) throw std::runtime_error("what another process told of a sampled packet cannot be");
}

ToldHop told(const IntHop& h, const IntNodes& nodes) {
  return {.ingress = h.ingress.ps,
          .queued = h.queued.ps,
          .egress = h.egress.ps,
          .node = nodes.number_of(*h.node),
          .queue_octets = h.queue_octets,
          .frame_octets = h.frame_octets,
          .in = h.in.value,
          .out = h.out.value,
          .priority = h.priority.value,
          .dropped = static_cast<std::uint8_t>(h.dropped),
          .marked = h.marked,
          .unused = {}};
}

IntHop taken(const ToldHop& t, const IntNodes& nodes) {
  check(t.node < nodes.nodes.size());
  const IntNodes::Node& node = nodes.nodes[t.node];
  check(t.in < node.ports && t.out < node.ports && t.priority < kPriorities && t.dropped <= kDropReasons);
  return {.node = node.name,
          .ingress = Instant{t.ingress},
          .queued = Instant{t.queued},
          .egress = Instant{t.egress},
          .queue_octets = t.queue_octets,
          .frame_octets = t.frame_octets,
          .in = PortIndex{t.in},
          .out = PortIndex{t.out},
          .priority = Priority{t.priority},
          .dropped = static_cast<DropReason>(t.dropped),
          .marked = t.marked != 0};
}

}  // namespace

void IntStack::exchange(StateArchive& archive, const IntNodes& nodes) {
  auto end = static_cast<std::uint8_t>(end_);
  std::uint8_t open = open_ ? 1 : 0;
  std::uint8_t size = size_;
  archive(stream_, offset_, end, size, not_kept_, open);
  // Each has begun somewhere.
  check(size > 0 && size <= kMostHops && end <= static_cast<std::uint8_t>(End::kDropped));
  for (std::size_t i = 0; i < size; ++i) {
    ToldHop hop{};
    if (!archive.reads()) hop = told(hops_[i], nodes);
    archive(hop);
    if (archive.reads()) hops_[i] = taken(hop, nodes);
  }
  end_ = static_cast<End>(end);
  open_ = open != 0;
  size_ = size;
}

IntStack* int_stack_of_sampled(const Packet& packet) noexcept {
  IntStack* stack;
  std::memcpy(&stack, &mbuf_of(const_cast<Packet*>(&packet))->hash, sizeof stack);
  return stack;
}

void sample(Packet& packet, IntStack& stack) noexcept {
  IntStack* const at = &stack;
  std::memcpy(&mbuf_of(&packet)->hash, &at, sizeof at);
  packet.sampled = 1;
}

}  // namespace railyard
