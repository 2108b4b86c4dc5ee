// What is said of links in words: the rate of a line, and what there is in the gap between two rows.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "control/picture/diagram.h"
#include "control/spec/spec.h"

namespace railyard::picture {

// Of this text.
inline constexpr double kNoteSize = 10.5;
inline constexpr double kNoteHeight = 14;

// "400 Gb/s", "2 × 400 Gb/s".
std::string rate_label(const Line& line);

// How many links of which rate there are between a row and the next, the most first.
std::vector<std::pair<BitRate, std::size_t>> rates_in_gap(const Diagram& diagram, std::size_t row);

// What is written between a row and the next: rates, and the cable if all have the same.
std::vector<std::string> gap_notes(const Diagram& diagram, const spec::Lab& lab, std::size_t row);

}  // namespace railyard::picture
