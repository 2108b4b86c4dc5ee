// A collective operation, as all of its ranks know it.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

struct CollectiveConfig {
  std::uint32_t index = 0;    // among those of the run
  std::uint32_t element = 4;  // octets: 4 or 8; sums are modulo 2^(8 x element)
  std::uint32_t repeats = 1;  // at least 1
  Instant start{};
  Duration gap{};          // at each rank between the end of one and the start of the next
  BitRate reduce_rate{};   // of adding at a rank, one message after the other; 0: at once
  Duration launch_cost{};  // at each rank between the start of a repeat and its first message
  // Between a message's arrival and what depends on it, besides CollectiveStep::time; messages do not wait for each other.
  Duration step_cost{};
  double scale_up_share = 1;  // of the scale-up network's rate that the ranks' messages reach; above 0, at most 1
  std::uint64_t seed = 0;  // of the inputs, and of
  std::uint32_t jitter_ppm = 0;  // how much longer computing takes a rank in a repeat, at most, in parts per million
  Instant stop = Instant::never();  // none is started at or after this
  std::uint64_t recorded_steps = 0;  // the most steps of all ranks and repeats whose times are kept; 0: none
};

// As a rank knows it that starts so much later than is said.
inline CollectiveConfig starting_later(CollectiveConfig config, Duration by) noexcept {
  if (config.start != Instant::never()) config.start = config.start + by;
  return config;
}

// What was wrong with a rank's result.
struct WrongData {
  std::uint64_t octets = 0;  // over all repeats
  // Of the first of them:
  std::uint32_t repeat = 0;
  std::uint64_t offset = 0;  // in the rank's data
  // With elided payload: whose input it has (Contributors), and should have.
  std::uint64_t has = 0;
  std::uint64_t expected = 0;
};

}  // namespace railyard
