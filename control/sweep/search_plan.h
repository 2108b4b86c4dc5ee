// A search as sweeps and comparisons make it: which values are tried, and with which figures one will do.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "control/report/summary.h"
#include "control/spec/condition.h"
#include "control/spec/fault_spec.h"
#include "control/spec/search.h"

namespace railyard::sweep {

struct SearchPlan {
  // Zero loss says nothing where PFC stalls the sender: also all that was offered must have been accepted.
  // NICs have clocks of their own, and gaps that jitter: a flow of 200 packets may be half a per cent late.
  static constexpr const char* kUsualCondition = "drops=0 and lost=0 and retransmitted=0 and accepted>=0.995";

  spec::Search search;
  std::string until;  // as it was written
  spec::Condition condition;
  std::uint64_t last = 1;  // steps are 0..last, at equal distances from search.from to search.to

  // The value of a step, as a --set has it: "traffic.pairs.rate=37.5Gbps"; and in the unit of its figure.
  std::string set(std::uint64_t step) const;
  double figure(std::uint64_t step) const;
  report::FigureKind kind() const;
  // Whether a run with this report meets the condition. Throws std::invalid_argument for figures that it has not.
  bool holds(const nlohmann::ordered_json& report) const;

  nlohmann::ordered_json json() const;
  // "traffic.pairs.rate: the highest of 1Gbps..100Gbps with drops=0".
  std::string text() const;
};

// As the command line or a fabric file says it; `until` may be empty. `resolution`: the most that two steps are apart,
// as a part of the greater end; above 0, below 1. Throws std::invalid_argument.
SearchPlan plan_search(const std::string& search, const std::string& until, spec::Ratio resolution);

}  // namespace railyard::sweep
