// What a hunt has found: as text and JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/hunt/hunt.h"

namespace railyard::hunt {

struct Report {
  std::string file;
  std::string lab;
  Hurt hurt = Hurt::kGoodput;
  HuntPlan plan;
  Found found;
  std::string digest;   // of the run of the smallest case
  std::string written;  // the fabric file; empty: none
};

std::string text(const Report& report, const Space& space);
nlohmann::ordered_json json(const Report& report, const Space& space);
// The same for the head of the fabric file.
std::string summary(const Report& report, const Space& space);

}  // namespace railyard::hunt
