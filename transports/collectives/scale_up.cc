#include "transports/collectives/scale_up.h"

#include <algorithm>

#include "transports/collectives/collective_rank.h"
#include "transports/collectives/rank_host.h"

namespace railyard {

std::uint32_t ScaleUp::join(RankHost& nic) {
  nics_.push_back(&nic);
  return static_cast<std::uint32_t>(nics_.size() - 1);
}

std::uint32_t ScaleUp::port(std::uint32_t place, std::uint32_t gpu) {
  const auto [known, is_new] = port_of_.try_emplace({place, gpu}, static_cast<std::uint32_t>(ports_.size()));
  if (is_new) ports_.emplace_back();
  return known->second;
}

Duration ScaleUp::send(Instant now, std::uint32_t from, std::uint32_t to, const Message& message) {
  const Duration time = time_of(message.octets);
  const Instant leaves = std::max(now, ports_[from].sends_until);
  const Instant comes = std::max(leaves + config_.latency, ports_[to].takes_until);
  ports_[from].sends_until = leaves + time;
  ports_[to].takes_until = comes + time;
  arrivals_.push({comes + time, sent_++, message});
  return comes - now;
}

Instant ScaleUp::next_due() const noexcept {
  Instant next = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
  for (const RankHost* nic : nics_) next = std::min(next, nic->next_due());
  return next;
}

// At one instant: arrivals first, then NICs in the order in which they joined.
void ScaleUp::run_due(Instant now) {
  for (;;) {
    RankHost& first = **std::ranges::min_element(nics_, {}, [](const RankHost* nic) { return nic->next_due(); });
    const Instant at_nics = first.next_due();
    const Instant arrives = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
    if (std::min(at_nics, arrives) > now) return;
    if (at_nics < arrives) {
      first.run_next();
      continue;
    }
    const Message m = arrivals_.top().message;
    arrivals_.pop();
    m.to->on_scale_up(arrives, m);
    if (m.octets > 0) m.from->on_scale_up_sent(arrives, m.sent_step);
  }
}

}  // namespace railyard
