// Which test of the benchmark draft a comparison is, and what its figures are worth.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/spec/compare_spec.h"

namespace railyard::compare {

// Of draft-calabria-bmwg-ai-fabric-training-bench.
struct Method {
  static constexpr const char* kDraft = "draft-calabria-bmwg-ai-fabric-training-bench";
  static constexpr const char* kRevision = "04";

  std::string test;  // "T6.4"; empty: of none
  spec::MethodProfile profile = spec::MethodProfile::kCi;
  std::vector<std::string> deviations;  // of this comparison; those that all of ours have are added
  std::string clock = "virtual";

  bool empty() const noexcept { return test.empty(); }
  // "smoke, not a draft result"
  std::string label() const;
  // Those of the platform first.
  std::vector<std::string> all_deviations() const;
  // A line each.
  std::vector<std::string> lines() const;
  nlohmann::ordered_json json() const;
};

}  // namespace railyard::compare
