#include "control/spec/roce_spec.h"

namespace railyard::spec {

// roce-and-lossless §8.3 and §8.4.
DcqcnSpec DcqcnSpec::of(Profile profile) {
  DcqcnSpec d;
  d.profile = profile;
  if (profile == Profile::kPaper) return d;
  d.cut_at_once = false;
  d.dce_tcp_rtt = {1'000'000};
  d.rate_reduce_monitor_period = {4'000'000};
  d.rpg_time_reset = {300'000'000};
  d.rpg_byte_reset = {};
  d.rpg_threshold = 1;
  d.g = {5, 1024};
  d.initial_alpha = {1023, 1024};
  d.alpha_steps = 1024;
  d.rpg_ai_rate = {5'000'000};
  d.rpg_hai_rate = {50'000'000};
  d.rpg_min_rate = {1'000'000};
  return d;
}

}  // namespace railyard::spec
