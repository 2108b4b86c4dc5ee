// The reaction point of DCQCN (Zhu et al., SIGCOMM 2015), in the paper's form and in that of NICs
// (roce-and-lossless §8.3, §8.4). Letters are the paper's: RC current rate, RT target rate, T and BC counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "transports/roce/congestion/dcqcn_config.h"

namespace railyard::roce {

// The rate of one flow. What its timers do is made up for when it is asked, step by step, so that nothing depends on
// when that is.
class Dcqcn {
 public:
  using Settings = DcqcnConfig;
  static constexpr std::string_view kName = "dcqcn";
  static constexpr std::string_view kTitle = "DCQCN";
  static constexpr std::string_view kHelp =
      "DCQCN's reaction point; letters are the paper's, names such as rpg-ai-rate NVIDIA's firmware's";
  static std::vector<Parameter<Settings>> parameters() { return dcqcn_parameters(); }
  static std::optional<parameter::Conflict> conflict(const Settings& settings,
                                                     const std::function<bool(std::string_view)>& said) {
    return dcqcn_conflict(settings, said);
  }

  explicit Dcqcn(const DcqcnConfig& config) noexcept;

  // `now` never goes back.
  void on_cnp(Instant now) noexcept;
  void on_sent(Instant now, std::uint32_t octets) noexcept;
  Instant pace(Instant now, Instant allowed, std::uint32_t octets) noexcept {
    on_sent(now, octets);
    if (!limits()) return now;
    const double ps = static_cast<double>(octets) * 8e12 / rate(now);
    const Instant from = std::max(now, allowed);
    if (ps <= static_cast<double>((next_change() - from).ps)) return from + Duration{static_cast<std::int64_t>(ps + 0.5)};
    return pace_through_changes(from, octets);
  }
  // RC, bit/s.
  double rate(Instant now) noexcept {
    advance(now);
    return rc_;
  }
  // Without a CNP so far, or back at line rate for good: nothing is held back.
  bool limits() const noexcept { return active_; }

  double target() const noexcept { return rt_; }
  double alpha() const noexcept { return alpha_; }

 private:
  double most() const noexcept;
  // When its timers change the rate next, as far as CNPs have come.
  Instant next_change() const noexcept { return cnp_for_cut_ ? std::min(cut_at_, increase_at_) : increase_at_; }
  // Its timers, up to `now`: mostly nothing is due. Whoever asks does not look at the settings then, which are in cache
  // lines of their own: catch_up() is not part of him.
  void advance(Instant now) noexcept {
    if (active_ && std::min({alpha_at_, cut_at_, increase_at_}) <= now) catch_up(now);
  }
  [[gnu::noinline]] void catch_up(Instant now) noexcept;
  [[gnu::noinline]] void expire_bytes() noexcept;
  [[gnu::noinline]] Instant pace_through_changes(Instant from, std::uint32_t octets) const noexcept;
  void update_alpha() noexcept;
  void cut() noexcept;
  void increase() noexcept;
  void release() noexcept;
  void restart_increase(Instant now) noexcept;

  // What each packet looks at, of a cache line with what kind of control it is.
  double rc_;
  bool active_ = false;
  bool cnp_for_alpha_ = false;
  bool cnp_for_cut_ = false;
  std::int64_t octets_ = 0;      // sent since the byte counter last expired
  std::int64_t increase_bytes_;  // the setting
  Instant alpha_at_ = Instant::never();
  Instant cut_at_ = Instant::never();
  Instant increase_at_ = Instant::never();
  // What CNPs and timers do.
  double rt_;
  double alpha_;
  std::uint32_t t_ = 0;      // expirations of the timer since the last cut
  std::uint32_t bc_ = 0;     // and of the byte counter
  std::uint32_t stage_ = 0;  // NIC form: increases of either kind
  DcqcnConfig config_;
};

}  // namespace railyard::roce
