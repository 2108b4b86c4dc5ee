// How switches shared their packets among equal paths, and what that did to the order of arrival.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/device/counters.h"

namespace railyard::report {

// One group of next hops of one switch: what it sent each of its ports, by choice among them.
struct PathGroupReport {
  struct Member {
    std::string port;  // "leaf1:9"
    std::string peer;  // what it is connected to
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
  };
  std::string node;
  std::vector<Member> members;

  std::uint64_t bytes() const noexcept;
  // The most loaded member against the mean, by bytes: 1 is even, the number of members is all on one. 0: no traffic.
  double max_over_mean() const noexcept;
  // Jain's fairness index (DEC TR-301, 1984), by bytes: 1 is even, 1 / members is all on one. 0: no traffic.
  double jain_index() const noexcept;
};

// Of one device, as it has counted.
std::vector<PathGroupReport> path_groups(const build::BuiltLab& lab, DeviceId device, const DeviceCounters& counters);

}  // namespace railyard::report
