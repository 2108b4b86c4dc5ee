// Figures of runs that commands are asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace railyard::tools {

// Before anything runs. Throws std::invalid_argument: one of `metrics` (sweep/table.h) is no figure that a report can
// have (report::figure_of()). A JSON pointer may be anything. `option`: where they were named, "--metric".
void check_figures(const std::vector<std::string>& metrics, const char* option);

// What `railyard run` must be asked for so that its report has them.
std::vector<std::string> options_for(const std::vector<std::string>& metrics);

// Runs under the wall clock go one after the other (`jobs` becomes 1), and nothing is searched for with them. Throws
// std::invalid_argument: something is, or more at a time were asked for.
void runs_under_wall_clock(bool searches, std::size_t& jobs);

// Figures that say how far the wall clock was behind; and what to say of all of its figures.
extern const std::vector<std::string> kWallClockMetrics;
extern const char* const kWallClockNote;

}  // namespace railyard::tools
