#include "dataplane/port/replay_endpoint.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace railyard {

ReplayEndpoint::ReplayEndpoint(std::shared_ptr<const ReplayPlan> plan, std::shared_ptr<ReplayControl> control)
    : plan_(std::move(plan)), control_(std::move(control)), left_(plan_->frames.size()) {}

void ReplayEndpoint::begin(Instant at, std::unique_ptr<Endpoint> own) {
  own_ = std::move(own);
  for (Place& p : places_) p.round = at;
  control_place_.round = at;
  control_->begun = true;
}

Instant ReplayEndpoint::due(const std::vector<std::uint32_t>& of, const Place& p) const noexcept {
  if (p.next == of.size() || control_->stop.load(std::memory_order_relaxed)) return Instant::never();
  return p.round + plan_->frames[of[p.next]].at;
}

// The next frame of `of` has gone.
void ReplayEndpoint::advance(const std::vector<std::uint32_t>& of, Place& p) noexcept {
  if (++p.next == of.size() && plan_->loop) {
    p.next = 0;
    p.round = p.round + plan_->round;
  }
  if (!plan_->loop && --left_ == 0) control_->finished.store(true, std::memory_order_release);
}

bool ReplayEndpoint::take_control(Instant now, std::span<std::byte, kControlOctets> out) {
  if (due(plan_->controls, control_place_) > now) return own_ != nullptr && own_->take_control(now, out);
  std::ranges::copy(plan_->frames[plan_->controls[control_place_.next]].octets, out.begin());
  advance(plan_->controls, control_place_);
  control_->sent.increment();
  return true;
}

Readiness ReplayEndpoint::ready(Instant now) {
  Readiness r;
  if (own_ != nullptr) r = own_->ready(now);
  for (std::uint8_t c = 0; c < kPriorities; ++c) {
    const Instant at = due(Priority{c});
    if (at <= now)
      r.classes = static_cast<PriorityMask>(r.classes | bit(Priority{c}));
    else
      r.until = std::min(r.until, at);
  }
  const Instant control = due(plan_->controls, control_place_);
  if (control <= now)
    r.control = true;
  else
    r.until = std::min(r.until, control);
  return r;
}

std::size_t ReplayEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  if (own_ == nullptr) return replay(now, priority, frames);
  own_first_ = !own_first_;
  if (own_first_) {
    const std::size_t n = own_->send(now, priority, frames);
    return n + replay(now, priority, frames.subspan(n));
  }
  const std::size_t n = replay(now, priority, frames);
  return n == frames.size() ? n : n + own_->send(now, priority, frames.subspan(n));
}

std::size_t ReplayEndpoint::replay(Instant now, Priority priority, std::span<TxFrame> frames) {
  const auto& of_class = plan_->by_class[priority.index()];
  Place& p = places_[priority.index()];
  std::size_t n = 0;
  for (; n < frames.size() && due(priority) <= now; ++n) {
    const std::uint32_t index = of_class[p.next];
    const ReplayPlan::Frame& f = plan_->frames[index];
    TxFrame& out = frames[n];
    std::memcpy(out.header, f.octets.data(), f.header_octets);
    out.header_octets = f.header_octets;
    out.trailer_octets = 0;
    out.flow = TxFrame::kNoFlow;
    out.tag.vid = FrameTag::kAsWritten;
    out.payload = {0, index, static_cast<std::uint32_t>(f.octets.size() - f.header_octets),
                   f.octets.data() + f.header_octets};
    advance(of_class, p);
  }
  control_->sent.add(n);
  return n;
}

bool ReplayEndpoint::receive(std::span<const RxFrame> frames) { return own_ != nullptr && own_->receive(frames); }

}  // namespace railyard
