// Who waits for whom in a switch: what pause trees and deadlocks are made of.
#include <algorithm>
#include <utility>

#include "dataplane/base/state_archive.h"
#include "dataplane/switch/switch.h"

namespace railyard {

Instant Switch::class_paused_since(PortIndex port, Priority priority) const {
  return egress_[port.index()].held_since(priority, done());
}

std::vector<Switch::Waiting> Switch::waiting() const {
  if (is_elsewhere()) return told_waiting_;
  std::vector<Waiting> all;
  std::vector<std::uint64_t> frames_of(groups_.size());  // by group
  std::vector<std::uint16_t> origins;                    // those with any
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const PortIndex out{static_cast<std::uint16_t>(q / kPriorities)};
    const Priority out_class{static_cast<std::uint8_t>(q % kPriorities)};
    const RingQueue<QueuedFrame>& frames = egress_[out.index()].queue(out_class);
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (const std::uint16_t origin = frames[i].origin; frames_of[origin]++ == 0) origins.push_back(origin);
    std::ranges::sort(origins);
    for (const std::uint16_t origin : origins) {
      const std::uint64_t n = std::exchange(frames_of[origin], 0);
      if (origin >= queues_.size()) continue;
      all.push_back({PortIndex{static_cast<std::uint16_t>(origin / kPriorities)},
                     Priority{static_cast<std::uint8_t>(origin % kPriorities)}, out, out_class, n});
    }
    origins.clear();
  }
  return all;
}

void Switch::exchange_more(StateArchive& archive, Figures which) {
  if ((which & kPauseFigures) == 0) return;
  if (!archive.reads()) told_waiting_ = waiting();
  archive(told_waiting_);
}

}  // namespace railyard
