// HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019): a window, and the rate that follows from
// it, by what the switches of the path say about their links in each acknowledgement. Names are those of Algorithm 1.
//
// DEVIATION from the paper: the window is counted in full packets, rounded up, as a sender that stops once W octets are
// in flight sends them. READ responses, which nobody acknowledges, are paced by W / T, and held by nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/base/parameters.h"
#include "transports/roce/congestion/heard.h"
#include "transports/roce/psn.h"

namespace railyard::roce {

// Defaults are those of section 5.1 of the paper; its W_AI of 80 octets is N = 100 at 100 Gb/s and T = 13 us.
struct HpccConfig {
  BitRate line{100'000'000'000};  // B of the NIC: W_init is B x T
  Duration base_rtt{};            // T; 0: of the longest path of the lab, or without a lab kBaseRtt
  Ratio eta{19, 20};              // wanted utilization of a link
  int max_stage = 5;              // round trips of additive increase before W follows the utilization again
  int flows = 100;                // N: flows that may share a link without more than eta of it from W_AI alone
  Bytes additive{};               // W_AI; 0: W_init x (1 - eta) / N
  int ack_every = 1;              // AckReq is in every n-th packet at least

  static constexpr Duration kBaseRtt{13'000'000};
  bool operator==(const HpccConfig&) const = default;
};

class Hpcc {
 public:
  using Settings = HpccConfig;
  static constexpr std::string_view kName = "hpcc";
  static constexpr std::string_view kTitle = "HPCC";
  static constexpr std::string_view kHelp =
      "HPCC (SIGCOMM 2019): switches write their load into data packets; ACKs return it";
  static std::vector<Parameter<Settings>> parameters();
  static std::optional<parameter::Conflict> conflict(const Settings&, const std::function<bool(std::string_view)>&) {
    return std::nullopt;
  }

  explicit Hpcc(const HpccConfig& config) noexcept
      : t_ps_(static_cast<double>((config.base_rtt > Duration{} ? config.base_rtt : HpccConfig::kBaseRtt).ps)),
        w_init_(static_cast<double>(config.line.bps) * t_ps_ / 8e12),
        w_ai_(config.additive.n > 0 ? static_cast<double>(config.additive.n)
                                    : w_init_ * (1 - config.eta.value()) / config.flows),
        eta_(config.eta.value()),
        max_stage_(config.max_stage),
        w_(w_init_),
        w_c_(w_init_) {}

  // The window, in packets that may be in flight.
  std::uint32_t on_heard(Instant, const Heard&) noexcept {
    return static_cast<std::uint32_t>(std::clamp(std::ceil(w_ / packet_octets_), 1.0, double{Psn::kMostAhead}));
  }
  // R = W / T. A NIC's own line paces no slower than W_init does.
  Instant pace(Instant now, Instant allowed, std::uint32_t octets) noexcept {
    packet_octets_ = std::max(packet_octets_, static_cast<double>(octets));
    if (w_ >= w_init_) return now;
    return std::max(now, allowed) + Duration{static_cast<std::int64_t>(octets * t_ps_ / w_ + 0.5)};
  }

  // NewAck: `path` is ack.L, `seq` what is acknowledged, `snd_nxt` what is sent next.
  void on_telemetry(const PathTelemetry& path, Psn seq, Psn snd_nxt) noexcept {
    if (!is_same_path(path)) {
      // Nothing to compare with: the first acknowledgement, or the packets take another path now.
      if (!began_) last_update_seq_ = snd_nxt;
      began_ = true;
    } else if (const auto u = measure_inflight(path)) {
      const bool update_wc = seq - last_update_seq_ > 0;
      compute_wind(*u, update_wc);
      if (update_wc) last_update_seq_ = snd_nxt;
    } else {
      return;  // older than what is known
    }
    l_ = path;
  }

  double window() const noexcept { return w_; }             // W, octets with preambles and gaps
  double reference_window() const noexcept { return w_c_; }  // W^c
  double utilization() const noexcept { return u_; }        // U
  double additive() const noexcept { return w_ai_; }        // W_AI

 private:
  bool is_same_path(const PathTelemetry& path) const noexcept {
    return began_ && path.path == l_.path && path.hops == l_.hops;
  }

  // Nothing: a hop's instant is not behind the one that is known.
  std::optional<double> measure_inflight(const PathTelemetry& ack) noexcept {
    double u = 0;
    double tau_ps = 0;
    for (std::size_t i = 0; i < ack.hops; ++i) {
      const HopTelemetry& now = ack.hop[i];
      const HopTelemetry& before = l_.hop[i];
      const auto ns = static_cast<std::int32_t>(now.at_ns - before.at_ns);
      if (ns <= 0) return std::nullopt;
      const double b = static_cast<double>(now.rate) * HopTelemetry::kRateBps;  // B, bit/s
      const double tx_rate = static_cast<double>(now.sent - before.sent) * HopTelemetry::kSentOctets * 8e9 / ns;
      const double qlen = static_cast<double>(std::min(now.queue, before.queue)) * HopTelemetry::kQueueOctets * 8;
      const double hop = qlen * 1e12 / (b * t_ps_) + tx_rate / b;
      if (hop <= u) continue;
      u = hop;
      tau_ps = 1e3 * ns;
    }
    tau_ps = std::min(tau_ps, t_ps_);
    return u_ = (1 - tau_ps / t_ps_) * u_ + tau_ps / t_ps_ * u;
  }
  void compute_wind(double u, bool update_wc) noexcept {
    const bool follows = u >= eta_ || inc_stage_ >= max_stage_;
    w_ = std::clamp((follows ? w_c_ / (u / eta_) : w_c_) + w_ai_, w_ai_, w_init_);
    if (!update_wc) return;
    inc_stage_ = follows ? 0 : inc_stage_ + 1;
    w_c_ = w_;
  }

  double t_ps_;
  double w_init_;
  double w_ai_;
  double eta_;
  int max_stage_;
  int inc_stage_ = 0;
  double w_;
  double w_c_;
  double u_ = 1;
  double packet_octets_ = 1;  // of the longest packet so far
  Psn last_update_seq_{};
  bool began_ = false;
  PathTelemetry l_{};
};

inline std::vector<Parameter<HpccConfig>> Hpcc::parameters() {
  using S = HpccConfig;
  using namespace parameter;
  return {
      {"base-rtt", Time<S>{.member = &S::base_rtt, .zero = "path"},
       "T: round trip without queues; path: that of the longest path of the lab",
       {"path", "5us", "13us", "50us"}},
      {"eta", Fraction<S>{&S::eta}, "wanted utilization of a link", {"90%", "95%", "98%"}},
      {"max-stage", Count<S>{&S::max_stage, 0, 1000}, "round trips of additive increase in a row", {"0", "5"}},
      {"flows", Count<S>{&S::flows, 1, 1 << 20}, "N: flows that share a link, for w-ai: auto", {"8", "100", "1000"}},
      {"w-ai", Size<S>{&S::additive, Bytes{1}, Bytes{std::int64_t{1} << 30}, "auto"},
       "additive increase per round trip; auto: link rate x base-rtt x (1 - eta) / flows"},
      {"ack-every", Count<S>{&S::ack_every, 1, 65536},
       "at least every N-th packet requests an acknowledgement"},
  };
}

}  // namespace railyard::roce
