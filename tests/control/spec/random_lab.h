// Labs by chance, for properties that hold of all.
#pragma once

#include <random>

#include "control/spec/spec.h"

namespace railyard::spec {

// A good lab in expanded form, in which every member of every part is sometimes not its default.
Lab random_lab(std::mt19937_64& random);

}  // namespace railyard::spec
