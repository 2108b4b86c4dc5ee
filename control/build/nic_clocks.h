// The clocks of a lab's NICs, as the run's seed has drawn them.
#pragma once

#include <cstdint>
#include <map>

#include "control/spec/spec.h"
#include "dataplane/base/gap_jitter.h"
#include "dataplane/nic/nic_clock.h"

namespace railyard::build {

class NicClocks {
 public:
  explicit NicClocks(const spec::Lab& lab);

  // Drawn by the NIC's name: other NICs, or their number, change nothing.
  NicClock of(const spec::PortName& nic) const;
  // How much later than asked what begins at the NIC begins: up to the time that so many octets take on its link.
  Duration phase(const spec::PortName& nic, std::uint32_t octets) const;
  // By which its RoCE and UET flows keep to their rates.
  PacingConfig pacing(const spec::PortName& nic) const;
  // What the frames of one of its flows jitter by: with a clock that is exact by nothing, unless the traffic says so.
  std::uint64_t gap_jitter(const spec::PortName& nic, const spec::TrafficSpec& traffic) const;

 private:
  const spec::Lab& lab_;
  std::map<spec::PortName, BitRate> rates_;  // of links
};

}  // namespace railyard::build
