#include "dataplane/fault/link_faults.h"

#include <algorithm>
#include <variant>

#include "dataplane/base/planted_bug.h"

namespace railyard {
bool LinkFaults::all_ended(Instant now) const noexcept {
  return std::ranges::all_of(faults_, [now](const auto& f) { return f->ends_at() <= now; });
}

Instant LinkFaults::last_end() const noexcept {
  Instant last{};
  for (const auto& f : faults_) last = std::max(last, f->ends_at());
  return last;
}

FrameFate LinkFaults::decide(Lane lane, Packet* packet, Instant effect, Instant arrival, PacketPool& pool) {
  Frames& frames = lanes_[static_cast<std::size_t>(lane)];
  FrameFate fate{.due = effect};
  for (const std::shared_ptr<FrameFault>& f : faults_) {
    if (!f->acts(lane, *packet, arrival)) continue;
    FrameInHand frame{*packet, fate, f->state(lane), pool};
    if (std::visit([&](const auto& action) { return action.act(frame); }, f->config().action)) f->touch(lane);
    if (fate.lost) break;
  }
  if (fate.lost) {
    lost_.increment();
    pool.release(packet);
    if (fate.copy == nullptr) return fate;
    // What was doubled before one of the two was lost arrives once.
    lost_.increment();
    pool.release(fate.copy);
    duplicated_.increment();
    return fate;
  }
  if (fate.copy != nullptr && !planted(PlantedBug::kDuplicateNotCounted)) duplicated_.increment();
  if (fate.copy != nullptr && planted(PlantedBug::kDoubleFree)) pool.release(fate.copy);
  fate.due = std::max(fate.due, frames.in_order);
  if (fate.keeps_order) frames.in_order = fate.due;
  fate.due = fate.due + fate.alone;
  return fate;
}

}  // namespace railyard
