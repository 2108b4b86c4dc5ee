// Whether there is memory for a frame, and what becomes of it: into its queue (marked, trimmed), or dropped.
#include <algorithm>
#include <array>
#include <optional>

#include "dataplane/packet/rewrite.h"
#include "dataplane/packet/trim.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/ecn.h"

namespace railyard {

void Switch::admit(Instant now, const Arrival& a) {
  const std::size_t q = index(PortIndex{a.port}, Priority{a.priority});
  Queue& queue = queues_[q];
  Mmu::Group& group = groups_[a.origin];
  const std::uint32_t depth = queue.memory.cells;
  if ((queue.stops | std::uint8_t{group.blocked}) != 0 && stopped(now, a, queue, depth)) [[unlikely]]
    return;
  Mmu::Pfc pfc;
  if (const Admission admission = mmu_.admit(group, queue.memory, a.cells, pfc); admission != Admission::kAdmitted)
      [[unlikely]] {
    constexpr std::array kReasons{DropReason::kCount, DropReason::kIngressFull, DropReason::kHeadroomFull,
                                  DropReason::kEgressFull};
    return refused(now, a, kReasons[static_cast<std::size_t>(admission)]);
  }
  if (!queue.mark_at_dequeue && queue.law.may_mark(depth)) mark(now, queue, depth, *a.packet);
  if (pfc == Mmu::Pfc::kXoff) [[unlikely]] {
    if (history_[q].first_xoff == Instant::never()) note_first_xoff(now, q);
    pfc_wanted(now, a.origin, true);
  }
  enqueue(now, a);
}

// An ingress group was filled by a frame for queue `q`. That counts for the queue, unless another of the class is more
// than twice as deep: then the group filled behind that one.
void Switch::note_first_xoff(Instant now, std::size_t q) {
  std::size_t deepest = q;
  for (std::size_t i = q % kPriorities; i < queues_.size(); i += kPriorities)
    if (queues_[i].memory.cells > queues_[deepest].memory.cells) deepest = i;
  if (queues_[q].memory.cells < queues_[deepest].memory.cells / 2) q = deepest;
  if (history_[q].first_xoff == Instant::never()) history_[q].first_xoff = now;
}

inline void Switch::enqueue(Instant now, const Arrival& a) {
  if (paths_.by_load()) [[unlikely]] {
    paths_.load(now, PortIndex{a.port}, a.cells);
    look_at_quality(now, PortIndex{a.port});
  }
  EgressPort& port = egress_[a.port];
  // What an idle port has queued already waits for the end of a pause, and so does a frame behind it.
  const bool first = (port.nonempty() & bit(Priority{a.priority})) == 0;
  port.enqueue(Priority{a.priority},
               {a.packet, a.octets, a.cells, a.origin, notes_of(*a.packet)});
  if (!port.busy() && (first || port.has_pending_control())) starts_.add(now, PortIndex{a.port});
  if (watches_) [[unlikely]]
    look_at_queue(now, a);
}

// Whether the frame ends here, before there is talk of memory.
bool Switch::stopped(Instant now, const Arrival& a, Queue& queue, std::uint32_t depth) {
  if ((queue.stops & Queue::kStorm) != 0 || groups_[a.origin].blocked)
    return drop(now, a, DropReason::kPfcWatchdog), true;
  const wire::Ecn ecn = wire::ecn_of(a.packet->traffic_class_octet);
  const auto drops = [&](std::uint64_t p) { return p != 0 && queue.rng.next32() < p; };
  // SAI trims what the buffer refuses (PACKET_ADMISSION_FAIL_ACTION): what is dropped early is not trimmed.
  const bool dropped = ((queue.stops & Queue::kDropNotEct) != 0 && ecn == wire::Ecn::kNotEct &&
                        drops(queue.law.probability(depth))) ||
                       ((queue.stops & Queue::kWred) != 0 &&
                        drops(drop_laws_[index(PortIndex{a.port}, Priority{a.priority})].probability(ecn, depth)));
  if (dropped) drop(now, a, DropReason::kWred);
  return dropped;
}

// There is no memory for the frame. One of a lossy class may go on as its headers, in another class.
void Switch::refused(Instant now, const Arrival& a, DropReason reason) {
  const std::optional<TrimConfig>& to = config_.ports[a.port].classes[a.priority].trim;
  if (!to || a.packet->trimmed != 0 || !is_ip(a.packet->kind)) return drop(now, a, reason);
  if (reason == DropReason::kEgressFull) {
    if (!to->coin || !take_last_instead(now, a, *to)) cut_to_headers(now, a, *to, a.origin);
  } else if (reason == DropReason::kIngressFull) {
    // DEVIATION SAI (PACKET_ADMISSION_FAIL_ACTION is of queues): here, too. What is left is charged to the ingress
    // group of its new class, as the one that it came in by has no room.
    cut_to_headers(now, a, *to, a.origin / kPriorities * kPriorities + to->to.index());
  } else {
    drop(now, a, reason);
  }
}

// One time in two, the last frame of the queue is cut, and the arriving one has its place. False: that is not to be, or
// would not make room.
bool Switch::take_last_instead(Instant now, const Arrival& a, const TrimConfig& to) {
  const Priority priority{a.priority};
  Queue& queue = queues_[index(PortIndex{a.port}, priority)];
  if (queue.rng.next32() >> 31 != 0) return false;
  EgressPort& port = egress_[a.port];
  const RingQueue<QueuedFrame>& frames = port.queue(priority);
  if (frames.empty() || (frames.size() == 1 && port.retries(priority))) return false;
  const QueuedFrame& last = frames[frames.size() - 1];
  if (last.cells < a.cells || last.packet->trimmed != 0 || !is_ip(last.packet->kind)) return false;
  const QueuedFrame taken = port.take_last(priority);
  release(now, taken, PortIndex{a.port}, priority);
  Mmu::Pfc pfc;
  const bool admitted = mmu_.admit(groups_[a.origin], queue.memory, a.cells, pfc) == Admission::kAdmitted;
  if (admitted) {
    if (!queue.mark_at_dequeue) mark(now, queue, queue.memory.cells - a.cells, *a.packet);
    if (pfc == Mmu::Pfc::kXoff) pfc_wanted(now, a.origin, true);
    enqueue(now, a);
  }
  Arrival cut = a;
  cut.packet = taken.packet;
  cut.octets = taken.octets;
  cut.cells = taken.cells;
  cut.origin = taken.origin;
  cut_to_headers(now, cut, to, taken.origin);
  return admitted;
}

// `a` was refused, or taken out of its queue, and is charged to nothing. Its headers are charged to `group`.
void Switch::cut_to_headers(Instant now, const Arrival& a, const TrimConfig& to, std::size_t group) {
  Packet& packet = *a.packet;
  trim(packet, to.keep, to.dscp);
  if (packet.has(Packet::kTagged)) remark_pcp(packet, *facts_[a.port].trust, to.to);
  Arrival cut = a;
  cut.octets = packet.frame_octets;
  cut.cells = mmu_.cells(cut.octets);
  cut.priority = to.to.value;
  cut.origin = static_cast<std::uint16_t>(group);
  Queue& queue = queues_[index(PortIndex{cut.port}, to.to)];
  const std::uint32_t depth = queue.memory.cells;
  Mmu::Pfc pfc;
  if ((queue.stops & Queue::kStorm) != 0 ||
      mmu_.admit(groups_[group], queue.memory, cut.cells, pfc) != Admission::kAdmitted)
    return drop(now, a, DropReason::kTrimQueueFull);
  history_[index(PortIndex{a.port}, Priority{a.priority})].trimmed.increment();
  if (!queue.mark_at_dequeue) mark(now, queue, depth, packet);
  if (pfc == Mmu::Pfc::kXoff) pfc_wanted(now, group, true);  // a lossless class that goes on in a lossy one
  enqueue(now, cut);
}

void Switch::mark(Instant now, Queue& queue, std::uint32_t depth, Packet& packet) noexcept {
  wire::Ecn in = wire::ecn_of(packet.traffic_class_octet);
  if (planted(PlantedBug::kMarkNotEct) && in == wire::Ecn::kNotEct) in = wire::Ecn::kEct0;
  if (in == wire::Ecn::kNotEct) return;
  const std::uint64_t p = queue.law.probability(depth);
  if (p == 0) return;
  if (in == wire::Ecn::kCe) {
    // Another switch has marked it: there is nothing to add, but its receiver is told of this queue, too.
    QueueHistory& history = history_[static_cast<std::size_t>(&queue - queues_.data())];
    history.came_marked.increment();
    history.first_ce = std::min(history.first_ce, now);
    return;
  }
  if (::railyard::mark(in, p, p >= MarkingLaw::kCertain ? 0 : queue.rng.next32()) != wire::Ecn::kCe) return;
  set_traffic_class(packet, packet.traffic_class_octet | 3);
  packet.flags |= Packet::kMarkedHere;
  queue.marked.increment();
  if (queue.marked.read() == 1) [[unlikely]] {
    Instant& first = history_[static_cast<std::size_t>(&queue - queues_.data())].first_ce;
    first = std::min(first, now);
  }
}

void Switch::drop(Instant now, const Arrival& a, DropReason reason) {
  // A full egress queue is the egress port's affair, everything else that of the port where the frame came in.
  const bool at_egress = reason == DropReason::kEgressFull || reason == DropReason::kTrimQueueFull ||
                         reason == DropReason::kWred || reason == DropReason::kLinkDown ||
                         reason == DropReason::kCrash ||
                         (reason == DropReason::kPfcWatchdog &&
                          (queues_[index(PortIndex{a.port}, Priority{a.priority})].stops & Queue::kStorm) != 0);
  const std::size_t where = at_egress ? index(PortIndex{a.port}, Priority{a.priority}) : a.origin;
  drops_by_class_[where].count(reason);
  if (LossLog::counts(reason)) note_loss(now);
  if (a.packet->is_rdma()) rdma_drops_by_class_[where].count(reason);
  if (observed()) [[unlikely]]
    if (IntStack* stack = int_stack(*a.packet); stack != nullptr) stack->drop(reason);
  if (tapped()) {
    const PortIndex port{static_cast<std::uint16_t>(where / kPriorities)};
    if (port.index() < ports())
      observe(now, port, *a.packet,
              {.event = TapNote::Event::kDropped,
               .reason = reason,
               .priority = Priority{static_cast<std::uint8_t>(where % kPriorities)},
               .depth_octets =
                   at_egress ? static_cast<std::int64_t>(egress_[port.index()].depth(Priority{a.priority})) : -1});
  }
  pool().release(a.packet);
}

}  // namespace railyard
