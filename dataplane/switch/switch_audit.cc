// What a switch holds, counted anew from its queues, against what it has in its books; and what it believes of others.
#include <fmt/format.h>

#include "dataplane/switch/switch.h"

namespace railyard {

std::vector<std::string> Switch::audit() const {
  std::vector<const Mmu::Queue*> memories;
  for (const Queue& q : queues_) memories.push_back(&q.memory);
  std::vector<std::string> wrong = mmu_.audit(groups_, memories);

  std::vector<std::uint64_t> by_group(groups_.size());
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const EgressPort& e = egress_[q / kPriorities];
    const Priority priority{static_cast<std::uint8_t>(q % kPriorities)};
    std::uint64_t cells = 0;
    std::uint64_t octets = 0;
    const auto count = [&](const QueuedFrame& f) {
      cells += f.cells;
      octets += f.octets;
      by_group[f.origin] += f.cells;
    };
    const RingQueue<QueuedFrame>& frames = e.queue(priority);
    for (std::size_t i = 0; i < frames.size(); ++i) count(frames[i]);
    // Its cells stay until its last octet has left.
    if (e.busy() && e.sending().packet != nullptr && e.sending_priority() == priority) count(e.sending());
    if (cells != queues_[q].memory.cells || octets != e.depth(priority))
      wrong.push_back(fmt::format("port {} class {}: {} cells and {} octets in the books of the queue, {} and {} in it",
                                  q / kPriorities + 1, q % kPriorities, queues_[q].memory.cells, e.depth(priority),
                                  cells, octets));
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Mmu::Group& group = groups_[g];
    if (by_group[g] != group.held)
      wrong.push_back(fmt::format("port {} class {}: {} cells in the books of the ingress group, {} in the queues",
                                  g / kPriorities + 1, g % kPriorities, group.held.read(), by_group[g]));
    if (g >= queues_.size() || group.blocked) continue;
    const Priority priority{static_cast<std::uint8_t>(g % kPriorities)};
    const bool tells = (config_.ports[g / kPriorities].pfc.tx & bit(priority)) != 0;
    if (egress_[g / kPriorities].wants_pause(priority) != (group.xoff && tells))
      wrong.push_back(fmt::format("port {} class {}: the sender is {}, and the ingress group is {} its threshold",
                                  g / kPriorities + 1, g % kPriorities, group.xoff ? "not paused" : "paused",
                                  group.xoff ? "above" : "below"));
  }
  for (std::uint16_t p = 0; p < ports(); ++p)
    if (!paths_.load_of(PortIndex{p}).up && paths_.remote().believes(PortIndex{p}))
      wrong.push_back(fmt::format("port {}: what was reported there is believed, and the link is down", p + 1));
  return wrong;
}

}  // namespace railyard
