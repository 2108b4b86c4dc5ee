// What the linter finds in a lab of a few lines.
#pragma once

#include <string>
#include <vector>

#include "control/lint/finding.h"

namespace railyard::lint {

// `yaml` goes behind "name: x"; the lab is valid.
std::vector<Finding> findings_in(const std::string& yaml, const std::vector<std::string>& overrides = {});

// Their rules, in order.
std::vector<std::string> rules_of(const std::vector<Finding>& findings);

// Two hosts of 100 Gb/s at one leaf, and h1 that writes to h2 over RoCE in class 3, which is lossless. `traffic` goes
// behind the keys of that traffic, `rest` behind all of it.
std::string pair_lab(const std::string& traffic = "", const std::string& rest = "");

}  // namespace railyard::lint
