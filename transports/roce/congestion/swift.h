// Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020):
// a window that grows while the round trip takes less than a target, and shrinks by how far it takes more. Names are
// those of its Algorithm 1.
//
// DEVIATION from the paper: one delay, the round trip from AckReq to acknowledgement, and no second window for the
// delay in hosts; the number of hops is a setting, not read off the TTL. READ responses, which nobody acknowledges, are
// held by nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard::roce {

struct SwiftConfig {
  Duration base_target{25'000'000};  // of a round trip without queues, and what queue is wanted
  Duration hop_scale{};              // more of it for each of `hops`
  std::uint32_t hops = 0;
  // Flow-based scaling: a flow with fewer packets than fs_max_cwnd may find a longer queue, by up to fs_range with
  // fs_min_cwnd or less. fs_range 0: none.
  Duration fs_range{50'000'000};
  double fs_min_cwnd = 0.1;
  double fs_max_cwnd = 100;
  double ai = 1.0;       // packets a round trip
  double beta = 0.8;     // of how far the delay is over the target
  double max_mdf = 0.5;  // the most of the window that one decrease takes
  double min_cwnd = 0.001;
  double max_cwnd = 1000;
  double initial_cwnd = 100;
  std::uint32_t retx_reset_threshold = 4;  // timeouts in a row, after which the window is min_cwnd

  bool operator==(const SwiftConfig&) const = default;
};

class Swift {
 public:
  explicit Swift(const SwiftConfig& config) noexcept : cwnd_(config.initial_cwnd), config_(config) {
    if (config.fs_range == Duration{}) return;
    fs_alpha_ = static_cast<double>(config.fs_range.ps) /
                (1 / std::sqrt(config.fs_min_cwnd) - 1 / std::sqrt(config.fs_max_cwnd));
    fs_beta_ = -fs_alpha_ / std::sqrt(config.fs_max_cwnd);
  }

  // `num_acked` packets are acknowledged, of which one took `delay` from its sending.
  void on_ack(Instant now, Duration delay, std::uint32_t num_acked) noexcept {
    rtt_ = delay;
    retransmit_cnt_ = 0;
    const Duration target = target_delay();
    const double before = cwnd_;
    if (delay < target) {
      cwnd_ += cwnd_ >= 1 ? config_.ai / cwnd_ * num_acked : config_.ai * num_acked;
    } else if (can_decrease(now)) {
      const double over = static_cast<double>((delay - target).ps) / static_cast<double>(delay.ps);
      cwnd_ *= std::max(1 - config_.beta * over, 1 - config_.max_mdf);
    }
    clamp(now, before);
  }
  // Something is lost, and what came behind it shows it.
  void on_fast_recovery(Instant now) noexcept {
    retransmit_cnt_ = 0;
    const double before = cwnd_;
    if (can_decrease(now)) cwnd_ *= 1 - config_.max_mdf;
    clamp(now, before);
  }
  void on_retransmit_timeout(Instant now) noexcept {
    const double before = cwnd_;
    if (++retransmit_cnt_ >= config_.retx_reset_threshold) {
      cwnd_ = config_.min_cwnd;
    } else if (can_decrease(now)) {
      cwnd_ *= 1 - config_.max_mdf;
    }
    clamp(now, before);
  }

  // In packets; less than one: one at a time, pacing_delay() after each other.
  double cwnd() const noexcept { return cwnd_; }
  Duration pacing_delay() const noexcept {
    if (cwnd_ >= 1) return {};
    return Duration{static_cast<std::int64_t>(static_cast<double>(rtt_.ps) / cwnd_ + 0.5)};
  }
  Duration target_delay() const noexcept {
    const double scaling =
        std::clamp(fs_alpha_ / std::sqrt(cwnd_) + fs_beta_, 0.0, static_cast<double>(config_.fs_range.ps));
    return config_.base_target + config_.hop_scale * config_.hops + Duration{static_cast<std::int64_t>(scaling + 0.5)};
  }

 private:
  // Once a round trip at most.
  bool can_decrease(Instant now) const noexcept { return !decreased_ || now - t_last_decrease_ >= rtt_; }
  void clamp(Instant now, double before) noexcept {
    cwnd_ = std::clamp(cwnd_, config_.min_cwnd, config_.max_cwnd);
    if (cwnd_ >= before) return;
    decreased_ = true;
    t_last_decrease_ = now;
  }

  double fs_alpha_ = 0;
  double fs_beta_ = 0;
  double cwnd_;
  Duration rtt_{};
  Instant t_last_decrease_{};
  bool decreased_ = false;
  std::uint32_t retransmit_cnt_ = 0;
  SwiftConfig config_;
};

}  // namespace railyard::roce
