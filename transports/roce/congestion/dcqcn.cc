#include "transports/roce/congestion/dcqcn.h"

#include <algorithm>

namespace railyard::roce {
namespace {

// Below this alpha cuts nothing that a rate in bit/s could show.
constexpr double kNoAlpha = 1e-12;

double bps(BitRate rate) noexcept { return static_cast<double>(rate.bps); }

}  // namespace

Dcqcn::Dcqcn(const DcqcnConfig& config) noexcept
    : rc_(bps(config.line)),
      increase_bytes_(config.increase_bytes.n),
      rt_(rc_),
      alpha_(config.initial_alpha.value()),
      config_(config) {}

double Dcqcn::most() const noexcept { return bps(config_.most.bps > 0 ? config_.most : config_.line); }

void Dcqcn::restart_increase(Instant now) noexcept {
  t_ = bc_ = stage_ = 0;
  octets_ = 0;
  increase_at_ = now + config_.increase_period;
}

void Dcqcn::on_cnp(Instant now) noexcept {
  advance(now);
  const bool first = !active_;
  active_ = true;
  if (config_.cut_at_once) {
    cut();
    alpha_ = (1 - config_.g.value()) * alpha_ + config_.g.value();
    alpha_at_ = now + config_.alpha_period;
    restart_increase(now);
    return;
  }
  cnp_for_alpha_ = !first;
  cnp_for_cut_ = true;
  if (!first) return;
  alpha_ = config_.initial_alpha.value();
  if (config_.on_first_cnp.bps > 0) rc_ = rt_ = std::min(bps(config_.on_first_cnp), bps(config_.line));
  alpha_at_ = now + config_.alpha_period;
  cut_at_ = now + config_.cut_period;
}

void Dcqcn::cut() noexcept {
  const double before = rc_;
  rc_ = std::max(bps(config_.least), rc_ * (1 - alpha_ / 2));
  if (config_.cut_at_once) {
    rt_ = before;
    return;
  }
  if (config_.clamp_target || (config_.clamp_target_after_increase && stage_ != 0)) rt_ = before;
  rc_ = std::max(rc_, before * config_.least_cut_factor.value());
}

void Dcqcn::update_alpha() noexcept {
  alpha_ = (1 - config_.g.value()) * alpha_ + (cnp_for_alpha_ ? config_.g.value() : 0);
  cnp_for_alpha_ = false;
  if (const double steps = config_.alpha_steps; steps > 0)
    alpha_ = static_cast<double>(static_cast<std::int64_t>(alpha_ * steps)) / steps;
  if (alpha_ < kNoAlpha) alpha_ = 0;
}

void Dcqcn::increase() noexcept {
  const auto f = static_cast<std::uint32_t>(config_.fast_recovery);
  if (config_.cut_at_once) {
    const std::uint32_t most = std::max(t_, bc_);
    const std::uint32_t least = std::min(t_, bc_);
    if (least > f) {
      rt_ += bps(config_.hyper) * (least - f);
    } else if (most > f) {
      rt_ += bps(config_.additive);
    }
  } else {
    if (stage_ == f) rt_ += bps(config_.additive);
    if (stage_ > f) rt_ += bps(config_.hyper);
    ++stage_;
  }
  rt_ = std::min(rt_, most());
  rc_ = (rc_ + rt_) / 2;
  // The mean never quite gets there.
  if (rt_ == most() && rt_ - rc_ < 1) rc_ = rt_;
}

// A flow that has been back at line rate is as if it had never been slowed down, so that its next CNP is the first.
void Dcqcn::release() noexcept {
  active_ = false;
  cnp_for_alpha_ = cnp_for_cut_ = false;
  alpha_ = config_.initial_alpha.value();
  alpha_at_ = cut_at_ = increase_at_ = Instant::never();
}

// In the order of time; at one instant alpha, cut, increase.
void Dcqcn::catch_up(Instant now) noexcept {
  while (active_) {
    const Instant due = std::min({alpha_at_, cut_at_, increase_at_});
    if (due > now) return;
    if (due == alpha_at_) {
      alpha_at_ = alpha_at_ + config_.alpha_period;
      update_alpha();
    } else if (due == cut_at_) {
      cut_at_ = cut_at_ + config_.cut_period;
      if (!cnp_for_cut_) continue;
      cnp_for_cut_ = false;
      cut();
      restart_increase(due);
    } else {
      increase_at_ = increase_at_ + config_.increase_period;
      ++t_;
      increase();
      if (rc_ == most() && alpha_ == 0) release();
    }
  }
}

void Dcqcn::on_sent(Instant now, std::uint32_t octets) noexcept {
  advance(now);
  if (!active_ || increase_bytes_ == 0) return;
  octets_ += octets;
  if (octets_ >= increase_bytes_) expire_bytes();
}

// The rate changes while a packet waits: each rate counts for as long as it holds, as at a limiter that fills with time.
// A packet that waited for the rate of the moment it was queued at would keep a flow that was cut to 1 Mb/s silent for
// 33 ms, though 300 us later it may send at half the line again.
Instant Dcqcn::pace_through_changes(Instant from, std::uint32_t octets) const noexcept {
  Dcqcn ahead = *this;
  double bits = 8.0 * octets;
  while (true) {
    const double ps = bits * 1e12 / ahead.rc_;
    const Instant change = ahead.next_change();
    const auto until_change = static_cast<double>((change - from).ps);
    if (!ahead.active_ || ps <= until_change) return from + Duration{static_cast<std::int64_t>(ps + 0.5)};
    if (change > from) bits -= ahead.rc_ * until_change * 1e-12;
    from = std::max(from, change);
    ahead.catch_up(from);
  }
}

void Dcqcn::expire_bytes() noexcept {
  while (octets_ >= increase_bytes_) {
    octets_ -= increase_bytes_;
    ++bc_;
    increase();
  }
}

}  // namespace railyard::roce
