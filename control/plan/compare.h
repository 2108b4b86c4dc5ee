// Designs side by side: the same job on each, its worst single failure, its price.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/plan/candidates.h"
#include "dataplane/base/time.h"

namespace railyard::plan {

// One part that fails and stays so: of all that are like it the one that the job uses most.
struct FailureCost {
  std::string part;               // "spine1"
  std::string kind;               // "spine"
  int nodes_cut = 0;              // nodes that lose NICs by it
  double capacity_lost = 0;       // share of their NICs
  bool divides = false;           // nodes do not reach each other by the fabric
  std::optional<double> stretch;  // job time with it / without; nothing: ranks do not reach each other, the job stops
};

struct Compared {
  Candidate design;
  std::optional<Duration> job;  // nothing: it cannot run here
  std::string why_no_job{};
  std::vector<FailureCost> failures{};  // the worst first: those that stop the job, by nodes; then by stretch
};

struct Comparison {
  std::string job;   // what it is
  std::string unit;  // what its time is of
  CostUnit cost_unit = CostUnit::kSwitches;
  double budget = 0;
  std::vector<Compared> rows;
};

// Job times are estimates (control/estimate/), with and without a failure: no packets, no virtual runs.
Comparison compare(const Plan& plan);

std::string text(const Comparison& comparison, const Prices& prices);
nlohmann::ordered_json json(const Comparison& comparison);

}  // namespace railyard::plan
