// Defaults of a fabric file that are no constants: they follow from the lab.
#pragma once

#include <string>
#include <vector>

#include "control/build/built_lab.h"

namespace railyard::build {

// A key that the file does not say, and what it comes to: "hosts.default.uet.nscc.base-rtt" is "2.71us". As a setting
// of the command line the value changes nothing.
struct DerivedSetting {
  std::string path;
  std::vector<std::string> values;  // of NICs with the same profile, which may differ; one otherwise
};

// Of what the lab uses: NSCC where UET is controlled by it, gap-jitter where a generator has a rate.
std::vector<DerivedSetting> derived_settings(const BuiltLab& lab);

}  // namespace railyard::build
