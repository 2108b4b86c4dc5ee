// Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020):
// a window that grows while the round trip takes less than a target, and shrinks by how far it takes more. Names are
// those of its Algorithm 1.
//
// DEVIATION from the paper: one delay, the round trip from AckReq to acknowledgement, one packet at a time: the increase
// is for what was acknowledged since the last, at most a window. No second window for the delay in hosts; the number of hops is a setting, not read off the TTL. READ responses, which nobody acknowledges, are
// held by nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"
#include "transports/base/parameters.h"
#include "transports/roce/congestion/heard.h"

namespace railyard::roce {

struct SwiftConfig {
  Duration base_target{25'000'000};  // of a round trip without queues, and what queue is wanted
  Duration hop_scale{};              // more of it for each of `hops`
  int hops = 0;
  // Flow-based scaling: a flow with fewer packets than fs_max_cwnd may find a longer queue, by up to fs_range with
  // fs_min_cwnd or less. fs_range 0: none.
  Duration fs_range{50'000'000};
  Ratio fs_min_cwnd{1, 10};
  int fs_max_cwnd = 100;
  Ratio ai{1};            // packets a round trip
  Ratio beta{4, 5};       // of how far the delay is over the target
  Ratio max_mdf{1, 2};    // the most of the window that one decrease takes
  Ratio min_cwnd{1, 1000};
  int max_cwnd = 1000;
  int initial_cwnd = 100;
  int retx_reset_threshold = 4;  // timeouts in a row, after which the window is min_cwnd

  bool operator==(const SwiftConfig&) const = default;
};

class Swift {
 public:
  using Settings = SwiftConfig;
  static constexpr std::string_view kName = "swift";
  static constexpr std::string_view kTitle = "Swift";
  static constexpr std::string_view kHelp = "Swift; names from Algorithm 1 of its paper, windows in packets";
  static std::vector<Parameter<Settings>> parameters();
  static std::optional<parameter::Conflict> conflict(const Settings& s, const std::function<bool(std::string_view)>&) {
    if (s.initial_cwnd > s.max_cwnd) return {{"initial-cwnd", "is above", "max-cwnd"}};
    if (s.fs_min_cwnd.value() >= s.fs_max_cwnd) return {{"fs-min-cwnd", "is not below", "fs-max-cwnd"}};
    return std::nullopt;
  }

  static LargestWindow largest_window(const Settings& s) { return {"max-cwnd", s.max_cwnd}; }

  explicit Swift(const SwiftConfig& config) noexcept : Swift(config, config.initial_cwnd) {}
  // Begins with a window of `cwnd` packets.
  Swift(const SwiftConfig& config, double cwnd) noexcept : cwnd_(cwnd), config_(config) {
    if (config.fs_range == Duration{}) return;
    const double most = config.fs_max_cwnd;
    fs_alpha_ =
        static_cast<double>(config.fs_range.ps) / (1 / std::sqrt(config.fs_min_cwnd.value()) - 1 / std::sqrt(most));
    fs_beta_ = -fs_alpha_ / std::sqrt(most);
  }

  // The window, in packets that may be in flight.
  std::uint32_t on_heard(Instant now, const Heard& heard) noexcept {
    // (A READ's responses may be more than the window.)
    acked_ = std::min(acked_ + heard.packets, static_cast<std::uint32_t>(std::max(1.0, cwnd_)));
    if (heard.timed_out) {
      on_retransmit_timeout(now);
    } else if (heard.lost) {
      on_fast_recovery(now);
    } else if (heard.delay > Duration{}) {
      on_ack(now, heard.delay, acked_);
      acked_ = 0;
    }
    return static_cast<std::uint32_t>(std::max(1.0, cwnd_));
  }
  Instant pace(Instant now, Instant allowed, std::uint32_t) noexcept {
    const Duration delay = pacing_delay();
    return delay == Duration{} ? now : std::max(now, allowed) + delay;
  }

  // `num_acked` packets are acknowledged, of which one took `delay` from its sending.
  void on_ack(Instant now, Duration delay, std::uint32_t num_acked) noexcept {
    rtt_ = delay;
    retransmit_cnt_ = 0;
    const Duration target = target_delay();
    const double before = cwnd_;
    if (delay < target) {
      cwnd_ += cwnd_ >= 1 ? config_.ai.value() / cwnd_ * num_acked : config_.ai.value() * num_acked;
    } else if (can_decrease(now)) {
      const double over = static_cast<double>((delay - target).ps) / static_cast<double>(delay.ps);
      cwnd_ *= std::max(1 - config_.beta.value() * over, 1 - config_.max_mdf.value());
    }
    clamp(now, before);
  }
  // Something is lost, and what came behind it shows it.
  void on_fast_recovery(Instant now) noexcept {
    retransmit_cnt_ = 0;
    const double before = cwnd_;
    if (can_decrease(now)) cwnd_ *= 1 - config_.max_mdf.value();
    clamp(now, before);
  }
  void on_retransmit_timeout(Instant now) noexcept {
    const double before = cwnd_;
    if (++retransmit_cnt_ >= config_.retx_reset_threshold) {
      cwnd_ = config_.min_cwnd.value();
    } else if (can_decrease(now)) {
      cwnd_ *= 1 - config_.max_mdf.value();
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
    cwnd_ = std::clamp(cwnd_, config_.min_cwnd.value(), static_cast<double>(config_.max_cwnd));
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
  int retransmit_cnt_ = 0;
  std::uint32_t acked_ = 0;  // since a delay was heard of
  SwiftConfig config_;
};

inline std::vector<Parameter<SwiftConfig>> Swift::parameters() {
  using S = SwiftConfig;
  using namespace parameter;
  constexpr int kMostPackets = (1 << 23) - 1;  // half of all PSNs
  return {
      {"base-target",
       Time<S>{&S::base_target},
       "target delay: round trip without queues, plus the intended queueing",
       {"5us", "10us", "25us", "50us"}},
      {"hop-scale", Time<S>{&S::hop_scale, Duration{}}, "added to the target for each hop"},
      {"hops", Count<S>{&S::hops, 0, 255}, "number of hops for hop-scale"},
      {"fs-range",
       Time<S>{.member = &S::fs_range, .zero = "off"},
       "flow-based scaling: maximum addition to the target, for small windows",
       {"off", "50us"}},
      {"fs-min-cwnd", Fraction<S>{&S::fs_min_cwnd, false}, "window up to which a flow has all of fs-range"},
      {"fs-max-cwnd", Count<S>{&S::fs_max_cwnd, 1, 1 << 20}, "window from which a flow has none of fs-range"},
      {"ai", Fraction<S>{&S::ai, false}, "additive increase, packets per round trip"},
      {"beta", Fraction<S>{&S::beta}, "multiplicative decrease, relative to the excess delay"},
      {"max-mdf", Fraction<S>{&S::max_mdf}, "maximum share of the window that one decrease removes"},
      {"min-cwnd", Fraction<S>{&S::min_cwnd}, "minimum window"},
      {"max-cwnd", Count<S>{&S::max_cwnd, 1, kMostPackets}, "maximum window"},
      {"initial-cwnd", Count<S>{&S::initial_cwnd, 1, kMostPackets}, "initial window"},
      {"retx-reset-threshold", Count<S>{&S::retx_reset_threshold, 1, 1000},
       "consecutive timeouts after which the window is set to min-cwnd"},
  };
}

}  // namespace railyard::roce
