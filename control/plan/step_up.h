// NICs of twice the rate beside those of the plan, and what makes the step worth it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/plan/bill.h"
#include "control/plan/nics.h"
#include "control/plan/sizing.h"

namespace railyard::plan {

struct Trigger {
  std::string what;
  std::string formula;
  std::string result;
  std::string threshold;  // in words: "step up above 10 %"
  bool reached = false;
};

// The same nodes and NICs at one rate.
struct RateSide {
  BitRate rate{};  // of a NIC
  NicCheck nic{};
  double exposed = 0;  // communication that computing does not hide, as a share of it
  SwitchChoice chosen{};
  bool is_assumed = false;        // no shipped chip has ports of this rate: as many ports are assumed
  std::optional<Shape> shape{};   // nothing: see why_not
  std::vector<CableRow> cables{};
  Bill bill{};  // of the nodes of now
  std::string why_not{};
};

struct StepUp {
  RateSide now;
  RateSide twice;
  BitRate needed{};  // for each GPU, so that 10 % of computing is exposed at most
  std::vector<Trigger> triggers;

  bool all_reached() const noexcept;
};

// From the NIC rate of the plan to twice that. Switches with ports of twice the rate have as many ports as now, or as many
// as the largest shipped chip has. Thresholds are our choice (docs/plan.md).
StepUp step_up(const Request& request, const Prices& prices, const Shape& shape, const SwitchChoice& chosen,
               const std::vector<CableRow>& cables, const Bill& now);

// The two sides as lines of a table, the first with the rates.
std::vector<std::vector<std::string>> step_up_table(const StepUp& step, const Prices& prices);

}  // namespace railyard::plan
