// The load of ports as an average of samples: what dynamic load balancing in hardware grades, which looks at its ports
// every now and then and smooths what it sees (Broadcom's DLB: an exponentially weighted moving average of a port's
// loading and of its queue).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/switch/path/path_config.h"
#include "dataplane/switch/path/port_load.h"

namespace railyard {

// Samples are taken at the multiples of LoadSampling::every, each ahead of all else that happens at its instant. A
// sample x_k is what waits in the port's queues then and what has left it since the sample before, and of these
//
//   a_k = a_(k-1) + (x_k - a_(k-1)) / 2^shift          a_0: what waits when it is asked for the first time
//
// in cells, of which 1/65536 are counted, rounded down. A link that is busy and has no queue is worth one interval;
// what waits comes on top. There is no timer: samples are taken late, when the next load changes or is asked for, and
// until then all loads are what they were.
class SampledLoad {
 public:
  SampledLoad(LoadSampling sampling, std::size_t ports) : sampling_(sampling), ports_(ports) {}

  const LoadSampling& sampling() const noexcept { return sampling_; }
  // sample() is to be called before a load changes or is asked for at this instant or later.
  Instant due() const noexcept { return due_; }
  // Those that are due at `now`. By port: what waits, the same since the call before; `left`: cells that have left
  // since the switch was made.
  void sample(Instant now, std::span<const PortLoad> loads, std::span<const std::uint64_t> left);

  // How long what a_k says would take to drain, in 1/256 ns as PortLoad::drain().
  std::uint64_t drain(PortIndex port, const PortLoad& load) const noexcept {
    return (ports_[port.index()].average >> 8) * load.cell_time_ns8 >> (kFraction - 8);
  }

 private:
  static constexpr int kFraction = 16;
  struct Port {
    std::uint64_t average = 0;  // cells x 2^kFraction
    std::uint64_t left = 0;     // until the last sample
  };

  LoadSampling sampling_;
  Instant due_{};  // the first time at once
  bool begun_ = false;
  std::vector<Port> ports_;
};

}  // namespace railyard
