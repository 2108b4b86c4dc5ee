// The links of a fabric by what they join, each direction by itself: how much they carried, and how evenly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::report {

struct PortReport;

// All links from nodes of one role to nodes of another.
struct LinkTier {
  std::string name;  // "leaf to spine"
  std::uint64_t links = 0;
  std::uint64_t bytes = 0;
  double mean_utilisation = 0, p95_utilisation = 0, max_utilisation = 0;
  double max_over_mean = 0;  // of bytes against the rate of each link: 1 is even
  double jain = 0;           // of the same: 1 is even
  std::string busiest;       // "leaf1:9"
};

// `ports`: of the lab, in its order. Hosts first, then in the order of the lab.
std::vector<LinkTier> link_tiers(const build::BuiltLab& lab, const std::vector<PortReport>& ports);

}  // namespace railyard::report
