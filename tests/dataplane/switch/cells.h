// Amounts of buffer as the tests of the MMU write them.
#pragma once

#include <cstdint>

#include "dataplane/base/units.h"

namespace railyard {

constexpr Bytes kCell{100};
/// `n` cells of buffer.
constexpr Bytes cells(std::int64_t n) { return kCell * n; }

}  // namespace railyard
