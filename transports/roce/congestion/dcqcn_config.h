// Every parameter of DCQCN's reaction point, and the published sets (roce-and-lossless §8.3..§8.5).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/base/parameters.h"

namespace railyard::roce {

struct DcqcnConfig {
  enum class Profile { kPaper, kVendor };  // what all the rest begins as

  // As constructed: the vendor's.
  BitRate line{100'000'000'000};  // where a flow begins: the NIC's
  Profile profile = Profile::kVendor;
  BitRate most{};  // the most it gets; 0: line; vendor RPG_MAX_RATE
  // The paper cuts when a CNP comes; NICs note it and look once in `cut_period`.
  bool cut_at_once = false;
  Duration alpha_period{1'000'000};       // K; vendor DCE_TCP_RTT
  Duration cut_period{4'000'000};         // vendor RATE_REDUCE_MONITOR_PERIOD
  Duration increase_period{300'000'000};  // T; vendor RPG_TIME_RESET
  // B; vendor RPG_BYTE_RESET; 0: no byte counter. (The firmware's default is 32767, and was 150, the KB of IEEE 802.1Q's
  // rpgByteReset. At 32767 KB the timer comes first at any rate, so: off.)
  Bytes increase_bytes{0};
  int fast_recovery = 1;            // F; vendor RPG_THRESHOLD
  Ratio g{5, 1024};                 // weight of the new in alpha; vendor (1024 - DCE_TCP_G) / 1024
  Ratio initial_alpha{1023, 1024};  // vendor INITIAL_ALPHA_VALUE / 1024
  int alpha_steps = 1024;           // alpha is cut down to a multiple of 1 / this; 0: not
  BitRate additive{5'000'000};      // R_AI; vendor RPG_AI_RATE
  BitRate hyper{50'000'000};        // R_HAI; vendor RPG_HAI_RATE
  BitRate least{1'000'000};         // R_min; vendor RPG_MIN_RATE
  // Vendor only:
  Ratio least_cut_factor{1, 2};             // RPG_MIN_DEC_FAC: one cut leaves at least this part
  bool clamp_target = false;                // CLAMP_TGT_RATE
  bool clamp_target_after_increase = true;  // CLAMP_TGT_RATE_AFTER_TIME_INC
  BitRate on_first_cnp{};                   // RATE_TO_SET_ON_FIRST_CNP; 0: as it is

  bool operator==(const DcqcnConfig&) const = default;

  // SIGCOMM 2015, 40 Gb/s fabric.
  static constexpr DcqcnConfig paper(BitRate line) noexcept {
    return {.line = line,
            .profile = Profile::kPaper,
            .cut_at_once = true,
            .alpha_period = {55'000'000},
            .increase_period = {55'000'000},
            .increase_bytes = {10'000'000},
            .fast_recovery = 5,
            .g = {1, 256},
            .initial_alpha = {1},
            .alpha_steps = 0,
            .additive = {40'000'000},
            .hyper = {400'000'000},
            .least = {40'000'000}};
  }
  // Firmware defaults of NVIDIA NICs.
  static constexpr DcqcnConfig vendor(BitRate line) noexcept { return {.line = line}; }
  static constexpr DcqcnConfig of(Profile profile) noexcept {
    return profile == Profile::kPaper ? paper(DcqcnConfig{}.line) : vendor(DcqcnConfig{}.line);
  }
};

// The keys of the fabric file, by the names of NVIDIA's firmware; letters are the paper's.
inline std::vector<Parameter<DcqcnConfig>> dcqcn_parameters() {
  using S = DcqcnConfig;
  using namespace parameter;
  return {
      {"profile",
       Preset<S>{{"paper", "vendor"},
                 [](std::size_t word) { return S::of(static_cast<S::Profile>(word)); },
                 [](const S& s) { return static_cast<std::size_t>(s.profile); }},
       "default of all other keys: vendor (NVIDIA firmware) or paper (Zhu et al., SIGCOMM 2015, for 40 Gb/s)",
       {"paper", "vendor"}},
      {"cut", Switch<S>{&S::cut_at_once, "on-cnp", "periodic"},
       "on-cnp: cut the rate when a CNP arrives; periodic: at the end of a rate-reduce-monitor-period with one"},
      {"dce-tcp-rtt", Time<S>{&S::alpha_period}, "K: alpha update period"},
      {"rate-reduce-monitor-period", Time<S>{&S::cut_period}, "cut: periodic: interval of rate cuts"},
      {"rpg-time-reset", Time<S>{&S::increase_period}, "T: timer of rate increases"},
      {"rpg-byte-reset", Size<S>{&S::increase_bytes, Bytes{64}, Bytes{std::int64_t{1} << 40}, "off"},
       "B: also increase the rate after this many bytes"},
      {"rpg-threshold", Count<S>{&S::fast_recovery, 0, 1000}, "F: steps of fast recovery"},
      {"g", Fraction<S>{&S::g}, "weight of a new sample in alpha: (1024 - DCE_TCP_G) / 1024"},
      {"initial-alpha", Fraction<S>{&S::initial_alpha}, "INITIAL_ALPHA_VALUE / 1024"},
      {"alpha-steps", Count<S>{&S::alpha_steps, 2, 1 << 20, "exact"},
       "round alpha down to a multiple of 1 / this, as fixed-point arithmetic does"},
      {"rpg-ai-rate", Rate<S>{&S::additive}, "R_AI: step of additive increase"},
      {"rpg-hai-rate", Rate<S>{&S::hyper}, "R_HAI: step of hyper increase"},
      {"rpg-min-rate", Rate<S>{&S::least}, "minimum rate"},
      {"rpg-max-rate", Rate<S>{&S::most, "link"}, "maximum rate"},
      {"rpg-min-dec-fac", Fraction<S>{&S::least_cut_factor},
       "cut: periodic: smallest remaining share of the rate after a cut"},
      {"clamp-tgt-rate", Switch<S>{&S::clamp_target},
       "cut: periodic: each cut sets the target rate to the previous rate"},
      {"clamp-tgt-rate-after-time-inc", Switch<S>{&S::clamp_target_after_increase},
       "cut: periodic: the first cut after an increase sets the target rate to the previous rate"},
      {"rate-to-set-on-first-cnp", Rate<S>{&S::on_first_cnp, "off"},
       "cut: periodic: rate after the first CNP of a flow"},
  };
}

// `said`: whether the file says this key.
inline std::optional<parameter::Conflict> dcqcn_conflict(const DcqcnConfig& d,
                                                         const std::function<bool(std::string_view)>& said) {
  if (d.cut_at_once)
    for (const std::string_view key : {"rate-reduce-monitor-period", "rpg-min-dec-fac", "clamp-tgt-rate",
                                       "clamp-tgt-rate-after-time-inc", "rate-to-set-on-first-cnp"})
      if (said(key)) return {{key, "does not apply here; expected cut: periodic, or profile: vendor"}};
  if (d.most.bps > 0 && d.least > d.most) return {{"rpg-min-rate", "is above", "rpg-max-rate"}};
  return std::nullopt;
}

}  // namespace railyard::roce
