// Every parameter of DCQCN's reaction point, and the published sets (roce-and-lossless §8.3..§8.5).
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::roce {

struct DcqcnConfig {
  BitRate line{100'000'000'000};  // where a flow begins
  BitRate most{};                 // the most it gets; 0: line; vendor RPG_MAX_RATE
  // The paper cuts when a CNP comes; NICs note it and look once in `cut_period`.
  bool cut_at_once = true;
  Duration alpha_period{55'000'000};     // K; vendor DCE_TCP_RTT
  Duration cut_period{4'000'000};        // vendor RATE_REDUCE_MONITOR_PERIOD
  Duration increase_period{55'000'000};  // T; vendor RPG_TIME_RESET
  Bytes increase_bytes{10'000'000};      // B; vendor RPG_BYTE_RESET; 0: no byte counter
  std::uint32_t fast_recovery = 5;       // F; vendor RPG_THRESHOLD
  double g = 1.0 / 256;                  // weight of the new in alpha; vendor (1024 - DCE_TCP_G) / 1024
  double initial_alpha = 1.0;            // vendor INITIAL_ALPHA_VALUE / 1024
  std::uint32_t alpha_steps = 0;         // alpha is cut down to a multiple of 1 / this; 0: not; vendor 1024
  BitRate additive{40'000'000};          // R_AI; vendor RPG_AI_RATE
  BitRate hyper{400'000'000};            // R_HAI; vendor RPG_HAI_RATE
  BitRate least{40'000'000};             // R_min; vendor RPG_MIN_RATE
  // Vendor only:
  double least_cut_factor = 0.5;            // RPG_MIN_DEC_FAC: one cut leaves at least this part
  bool clamp_target = false;                // CLAMP_TGT_RATE
  bool clamp_target_after_increase = true;  // CLAMP_TGT_RATE_AFTER_TIME_INC
  BitRate on_first_cnp{};                   // RATE_TO_SET_ON_FIRST_CNP; 0: as it is

  bool operator==(const DcqcnConfig&) const = default;

  // SIGCOMM 2015, 40 Gb/s fabric.
  static constexpr DcqcnConfig paper(BitRate line) noexcept { return {.line = line}; }
  // Firmware defaults of NVIDIA NICs.
  static constexpr DcqcnConfig vendor(BitRate line) noexcept {
    return {.line = line,
            .cut_at_once = false,
            .alpha_period = {1'000'000},
            .cut_period = {4'000'000},
            .increase_period = {300'000'000},
            .increase_bytes = {0},
            .fast_recovery = 1,
            .g = 5.0 / 1024,
            .initial_alpha = 1023.0 / 1024,
            .alpha_steps = 1024,
            .additive = {5'000'000},
            .hyper = {50'000'000},
            .least = {1'000'000}};
  }
};

}  // namespace railyard::roce
