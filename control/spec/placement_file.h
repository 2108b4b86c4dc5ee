// Where the ranks of a collective are, as a file says it.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// CSV: the first line names the columns, in any order: rank (from 0, each once, none left out), host (built in) and, if
// wanted, rail: which of the host's NICs, 1 without it; of hosts with GPUs gpu instead, from 1. Nothing is there twice. Empty lines and such that begin with '#'
// mean nothing. Throws SpecError with the line of that file; also if it cannot be read.
std::vector<PlacedRank> read_placement_file(const Lab& lab, const std::string& file);

}  // namespace railyard::spec
