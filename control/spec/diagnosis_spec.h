// What a fabric file says of the failure that it shows: diagnosis.
#pragma once

#include <string>
#include <vector>

namespace railyard::spec {

// In sentences, for the report of a run of the file as it is.
struct DiagnosisSpec {
  std::string symptom;           // what users see
  std::string cause;             // as counters show it
  std::string fix;               // what heals it
  std::vector<std::string> set;  // the same as the command line has it, "path=value": --set

  bool empty() const noexcept { return symptom.empty(); }
  bool operator==(const DiagnosisSpec&) const = default;
};

}  // namespace railyard::spec
