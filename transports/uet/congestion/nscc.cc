#include "transports/uet/congestion/nscc.h"

#include <algorithm>

namespace railyard::uet {
namespace {

double ps(Duration d) noexcept { return static_cast<double>(d.ps); }

double window(const NsccConfig& c, Duration base_rtt) noexcept {
  return std::max({c.max_wnd_bdps * static_cast<double>((c.rate * base_rtt).n), c.min_wnd, c.packet});
}

}  // namespace

Nscc::Nscc(const NsccConfig& config) noexcept
    : max_wnd_(window(config, config.base_rtt)),
      rtt_(config.base_rtt),
      base_rtt_(config.base_rtt),
      config_(config) {
  cwnd_ = config.first_wnd_bdps * static_cast<double>((config.rate * config.base_rtt).n);
  clamp();
}

void Nscc::clamp() noexcept { cwnd_ = std::clamp(cwnd_, floor(), max_wnd_); }

void Nscc::on_sent(Instant now, std::uint32_t octets) noexcept {
  if (!started_) last_adjust_ = now;  // so that nothing depends on when a flow begins
  started_ = true;
  last_sent_ = now;
  in_flight_ += octets;
}

// The queueing delay of the packet.
double Nscc::take_delay(const AckSignals& ack) noexcept {
  if (!ack.rtt) return avg_delay_;
  rtt_ = *ack.rtt;
  if (*ack.rtt < base_rtt_ && !config_.keeps_base_rtt) {
    base_rtt_ = std::max(*ack.rtt, Duration{1});
    max_wnd_ = window(config_, base_rtt_);
  }
  const double delay = ps(*ack.rtt - base_rtt_);
  average(!ack.ecn && delay > ps(config_.target) ? 0.25 * ps(base_rtt_) : delay);
  return delay;
}

void Nscc::on_ack(Instant now, const AckSignals& ack) noexcept {
  const auto newly = static_cast<double>(ack.newly);
  leave_flight(newly);
  achieved_ += newly;
  received_ += newly;
  ignored_ += newly;
  const double delay = take_delay(ack);
  const bool penalty = ack.rcv_cwnd_pend > 0 && !ack.restore_cwnd;
  if (in_parts()) {
    if (!penalty && !(ack.ecn && config_.part_holds_marked)) grow_part(now, newly);
    return;
  }
  if (penalty) {
    cwnd_ = std::min(cwnd_, in_flight_);
    cwnd_ -= ack.rcv_cwnd_pend * newly / 128;
    return clamp();
  }
  if (quick_adapt(now, false, ack.ecn, delay)) return;
  const bool long_queue = delay >= ps(config_.target);
  if (!ack.ecn && long_queue) inc_ += config_.fi * newly;
  if (!ack.ecn && !long_queue) increase(newly, delay);
  if (ack.ecn && long_queue) decrease(now);
  clamp();
  adjust(now);
  clamp();
}

void Nscc::grow_part(Instant now, double newly) noexcept {
  cwnd_ = std::min(cwnd_ + config_.part_gain * newly, max_wnd_);
  if (in_parts()) return;
  // A whole packet again: nothing of what was counted before holds.
  fast_ = trigger_qa_ = false;
  inc_ = received_ = fi_count_ = to_ignore_ = 0;
  last_adjust_ = now;
  qa_end_.reset();
}

// Of one that has just left the flight: it was the only packet of a window of one.
bool Nscc::was_alone(std::uint32_t octets) const noexcept {
  return may_be_in_parts() && cwnd_ <= config_.packet && in_flight_ < octets;
}

// What was in flight at the last time, this packet included, is not listened to.
void Nscc::halve() noexcept {
  if (ignored_ <= to_ignore_) return;
  cwnd_ = std::max(cwnd_ / 2, config_.min_wnd);
  to_ignore_ = in_flight_;
  ignored_ = 0;
}

void Nscc::increase(double newly, double delay) noexcept {
  if (delay < ps(config_.no_queue)) {
    fi_count_ += newly;
    if (fi_count_ > cwnd_ || fast_) {
      cwnd_ += config_.fi_scale * newly;
      fast_ = true;
    }
  } else {
    fi_count_ = 0;
    fast_ = false;
  }
  if (!fast_) inc_ += config_.alpha * newly * (ps(config_.target) - delay);
}

// Once a round trip at most.
void Nscc::decrease(Instant now) noexcept {
  fast_ = false;
  fi_count_ = 0;
  const double target = ps(config_.target);
  if (avg_delay_ <= target || (last_cut_ && now - *last_cut_ <= base_rtt_)) return;
  cwnd_ *= std::max(1 - config_.gamma * (avg_delay_ - target) / avg_delay_, config_.max_md_jump);
  last_cut_ = now;
}

void Nscc::adjust(Instant now) noexcept {
  const Duration since = now - last_adjust_;
  if (received_ <= config_.adjust_bytes && since <= config_.adjust_period) return;
  cwnd_ += inc_ / cwnd_;
  if (since >= config_.adjust_period) {
    cwnd_ += config_.eta;
    last_adjust_ = now;
  }
  inc_ = 0;
  received_ = 0;
}

// Once in a round trip and target: when less than an eighth was delivered and something was lost, the window drops to
// what was delivered, and what is in flight already is not listened to.
bool Nscc::quick_adapt(Instant now, bool loss, bool ecn, double delay) noexcept {
  bool handled = false;
  if (ignored_ < to_ignore_ && ecn) {
    handled = true;
  } else if (!qa_end_ || now > *qa_end_) {
    const bool starved = achieved_ < max_wnd_ / static_cast<double>(1u << config_.qa_gate);
    if (qa_end_ && (trigger_qa_ || loss || delay > ps(config_.qa_threshold)) && starved) {
      cwnd_ = std::max(achieved_, floor());
      to_ignore_ = in_flight_;
      ignored_ = 0;
      trigger_qa_ = false;
      handled = true;
    }
    achieved_ = 0;
    qa_end_ = now + base_rtt_ + config_.target;
  }
  if (handled) {
    inc_ = 0;
    received_ = 0;
  }
  return handled;
}

void Nscc::on_trimmed(Instant now, std::uint32_t octets, bool reduces) noexcept {
  leave_flight(octets);
  ignored_ += octets;
  average(ps(config_.base_rtt));  // the queue was full
  if (in_parts() || was_alone(octets)) {
    if (reduces) halve();
    return;
  }
  trigger_qa_ = true;
  if (quick_adapt(now, true, true, 0) || !reduces) return;
  cwnd_ -= octets;
  clamp();
}

void Nscc::on_loss(std::uint32_t octets) noexcept {
  leave_flight(octets);
  if (in_parts() || was_alone(octets)) {
    ignored_ += octets;
    return halve();
  }
  cwnd_ = std::max(cwnd_ - octets, floor());
}

void Nscc::on_returned(std::uint32_t octets) noexcept { leave_flight(octets); }

}  // namespace railyard::uet
