// A rule of the linter: one descriptor beside its code, registered by one line of rules.cc.
#pragma once

#include <string_view>
#include <vector>

#include "control/lint/facts.h"
#include "control/lint/finding.h"

namespace railyard::lint {

struct Rule {
  std::string_view name;  // "kmin-above-xoff"
  Severity severity = Severity::kWarning;
  std::string_view summary;  // one sentence for the documentation
  void (*find)(const Facts& facts, Findings& findings) = nullptr;
};

// All rules, in the order in which findings are shown.
const std::vector<Rule>& rules();

// What all rules find in `lab`, which `document` says.
std::vector<Finding> lint(build::BuiltLab& lab, const spec::Tree& document);

}  // namespace railyard::lint
