// A plan: everything that follows from a request. Start reading here.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "control/plan/arithmetic.h"
#include "control/plan/bill.h"
#include "control/plan/buffers.h"
#include "control/plan/cabling.h"
#include "control/plan/growth.h"
#include "control/plan/memory_need.h"
#include "control/plan/nics.h"
#include "control/plan/sizing.h"
#include "control/plan/step_up.h"

namespace railyard::plan {

struct Plan {
  Request request;
  Prices prices;
  NicCheck nic;
  SwitchChoice chosen;
  Shape shape{};
  std::vector<CableRow> cables{};
  Buffers buffers{};
  std::vector<MemoryNeed> memory{};  // 8B, 70B, 405B, and the model of the request if it is another
  std::vector<TierPorts> ports{};
  Bill now{};
  Bill later{};
  StepUp step{};  // to NICs of twice the rate
};

// Throws spec::SpecError: there is no such fabric.
Plan make_plan(const Request& request, const Prices& prices);

// With its arithmetic, a line each.
std::vector<Section> sections(const Plan& plan);
// All figures, for programs: docs/plan.md has the names.
nlohmann::ordered_json json(const Plan& plan);

}  // namespace railyard::plan
