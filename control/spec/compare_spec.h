// What a fabric file says of how transports are compared on it: compare.
#pragma once

#include <string>
#include <vector>

#include "control/spec/fault_spec.h"

namespace railyard::spec {

// How much of what the benchmark draft asks for a comparison does.
enum class MethodProfile { kCi, kLab, kFull };

// Each as the command line has it (railyard compare-transports).
struct CompareSpec {
  std::vector<std::string> columns;  // column.h
  std::vector<std::string> over;     // "topology.spines=2,4": the comparison is made with each of them
  std::string seeds;                 // "1-5"; empty: the run's
  std::string search;                // search.h: for each column a value is searched for; empty: none is
  std::string until;                 // condition.h: what it must hold with; empty: nothing lost, all accepted
  Ratio resolution{1, 100};          // how closely, of the greater end
  std::vector<std::string> metrics;  // figures of the report's summary, or JSON pointers; none: the usual ones
  // The test of draft-calabria-bmwg-ai-fabric-training-bench that this is: "T6.4"; empty: of none. Then the profile,
  // and in what it deviates from the draft, beside what all of ours do.
  std::string method;
  MethodProfile profile = MethodProfile::kCi;
  std::vector<std::string> deviations;

  bool operator==(const CompareSpec&) const = default;
};

}  // namespace railyard::spec
