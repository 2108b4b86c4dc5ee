// Designs for the same nodes at about the same cost: rail-optimized, fat tree, dragonfly+, rail-only.
#pragma once

#include <string>
#include <vector>

#include "control/plan/plan.h"

namespace railyard::plan {

struct Candidate {
  std::string name;           // "rail-optimized"
  std::string description{};  // "8 leaves, 4 spines; 1:1"
  std::string topology{};     // "topology: ..." of a fabric file
  bool host_for_each_nic = false;
  int hosts = 0;      // of the file
  int job_hosts = 0;  // of these, the first ones that are there in fact
  Bill bill{};
  double cost = 0;        // by CostUnit
  std::string why_not{};  // it cannot be built or priced, and why; there is no job on it then
};

// In what designs are compared: money if the prices file has all prices of the plan, else switches.
enum class CostUnit { kMoney, kSwitches };

struct Candidates {
  CostUnit unit = CostUnit::kSwitches;
  double budget = 0;  // cost of the plan's design for the nodes of now
  std::vector<Candidate> all{};
};

// Of each kind the variant (oversubscription, groups, links) with the most capacity between nodes that costs at most 2
// % more than the plan's design; where there is none, the cheapest one. For the nodes of now, without growth.
Candidates candidates(const Plan& plan);

}  // namespace railyard::plan
