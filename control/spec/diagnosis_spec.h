// What a fabric file says of the failure that it shows: diagnosis.
#pragma once

#include <string>
#include <vector>

#include "control/spec/condition_spec.h"

namespace railyard::spec {

// In sentences, for the report of a run that shows the failure: one on whose counters all conditions of the signature
// hold, of a lab with the settings that the sentences speak of. Other runs are told nothing.
struct DiagnosisSpec {
  std::vector<ConditionSpec> signature;  // "drops(too_big) at spine1 > 0"
  std::string symptom;                   // what users see
  std::string cause;                     // as counters show it
  std::string fix;                       // what heals it
  std::vector<std::string> set;          // the same as the command line has it, "path=value": --set
  // Settings that the sentences speak of, as --set has them; with another value there is no diagnosis.
  std::vector<std::string> settings = {};

  bool empty() const noexcept { return symptom.empty(); }
  bool operator==(const DiagnosisSpec&) const = default;
};

}  // namespace railyard::spec
