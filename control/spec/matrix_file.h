// What each rank of an all-to-all sends to each, as a file says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/units.h"

namespace railyard::spec {

// CSV: as many lines as ranks, in each as many numbers of bytes: from rank <line> to rank 0, 1, ... Each is a multiple of
// `element`, and every rank sends to or receives from another. Empty lines and such that begin with '#' mean nothing. Returns them row by row. Throws SpecError with the line of
// that file; also if it cannot be read.
std::vector<std::uint64_t> read_matrix_file(const std::string& file, std::size_t ranks, std::uint32_t element);

// What the rank that sends most sends, its own part included.
Bytes largest_row(const std::vector<std::uint64_t>& matrix);

}  // namespace railyard::spec
