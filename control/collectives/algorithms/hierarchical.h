// Where algorithms in two phases can be used.
#pragma once

#include <optional>

#include "control/collectives/algorithm.h"

namespace railyard::collectives {

// Ranks at several groups, and several at one.
std::optional<Refusal> refuse_without_groups(const Algorithm& self, const Layout& layout);
// And as many at each.
std::optional<Refusal> refuse_unequal_groups(const Algorithm& self, const Layout& layout);

}  // namespace railyard::collectives
