#include "dataplane/device/link_retry.h"

#include <algorithm>
#include <variant>

namespace railyard {

void LinkRetry::prune(Instant now) {
  std::erase_if(faults_, [now](const auto& f) { return f->ends_at() <= now; });
}

bool LinkRetry::hit(Lane lane, Instant now, const Packet& packet) {
  bool wrong = false;
  for (const std::shared_ptr<FrameFault>& f : faults_) {
    if (!f->acts(lane, packet, now)) continue;
    const FrameAction& action = f->config().action;
    bool hits = false;
    if (const auto* a = std::get_if<frame_action::BitError>(&action))
      hits = a->errors.hit(packet.frame_octets, f->state(lane).rng);
    else if (const auto* t = std::get_if<frame_action::Truncate>(&action))
      hits = t->left_of(packet) < packet.frame_octets;
    if (!hits) continue;
    f->touch(lane);
    wrong = true;
  }
  if (wrong) replays_.increment();
  return wrong;
}

void LinkRetry::arrived(Duration late) noexcept {
  const auto ps = static_cast<std::uint64_t>(late.ps);
  least_late_.set(frames_.read() == 0 ? ps : std::min(least_late_.read(), ps));
  most_late_.raise_to(ps);
  late_.add(ps);
  frames_.increment();
}

bool LinkRetry::arrives(Instant now, Priority priority, const Packet& packet) {
  if (hit(Lane::kData, now, packet)) {
    if (!waits_) first_ = now;
    waits_ = true;
    priority_ = priority;
    return false;
  }
  if (waits_) arrived(now - first_);
  waits_ = false;
  return true;
}

bool LinkRetry::control_arrives(Instant now) {
  const bool again = now == control_again_;
  if (!again) control_first_ = now;
  if (hit(Lane::kMacControl, now, control_)) return false;
  if (again) arrived(now - control_first_);
  return true;
}

LinkRetryCounters LinkRetry::counters() const noexcept {
  const auto picoseconds = [](const Counter& c) { return Duration{static_cast<std::int64_t>(c.read())}; };
  return {.on = true,
          .frames = frames_.read(),
          .replays = replays_.read(),
          .late = picoseconds(late_),
          .least_late = picoseconds(least_late_),
          .most_late = picoseconds(most_late_)};
}

}  // namespace railyard
