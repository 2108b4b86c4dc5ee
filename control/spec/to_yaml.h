// A lab back to a fabric file.
#pragma once

#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

enum class Defaults {
  kLeftOut,  // what the lab says, and what is too important to be left out
  kWritten,  // every key of profiles, traffic, collectives and `run` that has a value
};

// The expanded form: every profile, node, link and address, and no preset. parse() makes an equal lab of it.
std::string to_yaml(const Lab& lab, Defaults defaults = Defaults::kLeftOut);

}  // namespace railyard::spec
