// Estimates for people and programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/estimate/estimate.h"

namespace railyard::estimate {

// Of one lab.
struct Named {
  std::string file;
  std::string lab;
  Estimate of;
};

// A line per collective and job, what jobs make of their time, and the `links` busiest links.
std::string text(const Named& estimate, std::size_t links);
// Step by step side by side: each collective that all of them have, by its name; against the first.
std::string comparison_text(const std::vector<Named>& estimates);
nlohmann::ordered_json json(const std::vector<Named>& estimates);

// The verdict on a job: below half of the speed that an ideal network allows, it is bound by the network.
bool is_network_bound(const CollectiveEstimate& collective) noexcept;

}  // namespace railyard::estimate
