#include "transports/collectives/scale_up.h"

#include <algorithm>

#include "transports/collectives/collective_rank.h"
#include "transports/collectives/rank_host.h"

namespace railyard {

std::uint32_t ScaleUp::join(RankHost& nic) {
  places_.push_back({.nic = &nic});
  return static_cast<std::uint32_t>(places_.size() - 1);
}

Duration ScaleUp::send(Instant now, std::uint32_t from, std::uint32_t to, const Message& message) {
  const Duration time = time_of(message.octets);
  const Instant leaves = std::max(now, places_[from].sends_until);
  const Instant comes = std::max(leaves + config_.latency, places_[to].takes_until);
  places_[from].sends_until = leaves + time;
  places_[to].takes_until = comes + time;
  arrivals_.push({comes + time, sent_++, message});
  return comes - now;
}

Instant ScaleUp::next_due() const noexcept {
  Instant next = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
  for (const Place& p : places_) next = std::min(next, p.nic->next_due());
  return next;
}

// At one instant: arrivals first, then NICs in the order in which they joined.
void ScaleUp::run_due(Instant now) {
  for (;;) {
    const auto first =
        std::ranges::min_element(places_, {}, [](const Place& p) { return p.nic->next_due(); });
    const Instant at_nics = first->nic->next_due();
    const Instant arrives = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
    if (std::min(at_nics, arrives) > now) return;
    if (at_nics < arrives) {
      first->nic->run_next();
      continue;
    }
    const Message m = arrivals_.top().message;
    arrivals_.pop();
    m.to->on_scale_up(arrives, m);
    if (m.octets > 0) m.from->on_scale_up_sent(arrives, m.sent_step);
  }
}

}  // namespace railyard
