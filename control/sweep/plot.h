// A sweep's table as a picture.
#pragma once

#include <string>
#include <string_view>

#include "control/sweep/table.h"

namespace railyard::sweep {

inline constexpr std::size_t kMostPanels = 8;
inline constexpr std::size_t kMostCurves = 8;

// A whole SVG file, with the `command` that it is of: a panel for each metric (at most kMostPanels), the first dimension along x, to scale if its values
// are quantities; a curve for each combination of the others (at most kMostCurves), or marks beside each other if the
// values are words; medians, with the range over the seeds. Says what it left out. Throws std::invalid_argument if there is nothing along x: fewer than two values of the first dimension.
std::string plot_svg(const Table& table, std::string_view command = "railyard sweep");

}  // namespace railyard::sweep
