#include "transports/collectives/scale_up.h"

#include <algorithm>

#include "transports/collectives/collective_rank.h"
#include "transports/collectives/rank_host.h"

namespace railyard {

void ScaleUp::meet(const ScaleUp& other, std::shared_ptr<DeviceWake> wake) {
  wakes_.resize(std::max<std::size_t>(wakes_.size(), other.host_ + 1));
  wakes_[other.host_] = std::move(wake);
}

std::uint32_t ScaleUp::join(RankHost& nic) {
  nics_.push_back(&nic);
  return static_cast<std::uint32_t>(nics_.size() - 1);
}

std::uint32_t ScaleUp::port(std::uint32_t place, std::uint32_t gpu, std::uint32_t ranks) {
  const auto [known, is_new] = port_of_.try_emplace({place, gpu}, static_cast<std::uint32_t>(ports_.size()));
  if (is_new) ports_.push_back({.ranks = ranks});
  return known->second;
}

std::optional<Duration> ScaleUp::send(Instant now, std::uint32_t from, ScaleUp& there, std::uint32_t to,
                                      const Message& message) {
  const Duration time = time_at(ports_[from], message);
  const Instant leaves = std::max(now, ports_[from].sends_until);
  ports_[from].sends_until = leaves + time;
  if (spread_) {
    hand_over(there, {.at = leaves + config_.latency,
                      .host = host_,
                      .number = sent_++,
                      .sender = this,
                      .port = to,
                      .complete = false,
                      .sent = now,
                      .leaving = time,
                      .message = message});
    return std::nullopt;
  }
  const Instant comes = std::max(leaves + config_.latency, ports_[to].takes_until);
  const Duration taking = time_at(ports_[to], message);
  ports_[to].takes_until = comes + taking;
  arrivals_.push({comes + std::max(time, taking), sent_++, message});
  return comes - now;
}

// ---- Several hosts -------------------------------------------------------------------------------------------------

void ScaleUp::hand_over(ScaleUp& there, const Notice& notice) {
  if (&there == this) return notices_.push(notice);
  {
    const std::lock_guard lock(there.mutex_);
    there.handed_over_.push_back(notice);
  }
  wakes_[there.host_]->at(notice.at);
}

void ScaleUp::collect() {
  const std::lock_guard lock(mutex_);
  for (const Notice& n : handed_over_) notices_.push(n);
  handed_over_.clear();
}

void ScaleUp::take(const Notice& n) {
  if (n.complete) return n.message.from->on_scale_up_sent(n.at, n.message.sent_step, n.first);
  Port& port = ports_[n.port];
  const Duration time = time_at(port, n.message);
  const Instant comes = std::max(n.at, port.takes_until);
  port.takes_until = comes + time;
  arrivals_.push({comes + std::max(time, n.leaving), begun_++, n.message, n.sender, comes - n.sent});
}

// ---- What is due ---------------------------------------------------------------------------------------------------

Instant ScaleUp::next_due() const noexcept {
  Instant next = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
  if (!notices_.empty()) next = std::min(next, notices_.top().at);
  for (const RankHost* nic : nics_) next = std::min(next, nic->next_due());
  return next;
}

// At one instant: notices first, then arrivals, then NICs in the order in which they joined.
void ScaleUp::run_due(Instant now) {
  for (;;) {
    RankHost& first = **std::ranges::min_element(nics_, {}, [](const RankHost* nic) { return nic->next_due(); });
    const Instant at_nics = first.next_due();
    const Instant arrives = arrivals_.empty() ? Instant::never() : arrivals_.top().at;
    const Instant noticed = notices_.empty() ? Instant::never() : notices_.top().at;
    if (std::min({at_nics, arrives, noticed}) > now) return;
    if (noticed <= std::min(at_nics, arrives)) {
      const Notice notice = notices_.top();
      notices_.pop();
      take(notice);
      continue;
    }
    if (at_nics < arrives) {
      first.run_next();
      continue;
    }
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    arrived(arrival);
  }
}

void ScaleUp::arrived(const Arrival& arrival) {
  const Message& m = arrival.message;
  m.to->on_scale_up(arrival.at, m);
  if (m.octets == 0) return;
  if (arrival.sender == nullptr) return m.from->on_scale_up_sent(arrival.at, m.sent_step);
  hand_over(*arrival.sender, {.at = arrival.at + config_.latency,
                              .host = host_,
                              .number = sent_++,
                              .sender = arrival.sender,
                              .port = 0,
                              .complete = true,
                              .first = arrival.first,
                              .message = m});
}

}  // namespace railyard
