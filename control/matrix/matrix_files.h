// A communication matrix as a table for programs and as a picture.
#pragma once

#include <string>

#include "control/matrix/communication_matrix.h"

namespace railyard::matrix {

// A line per sender, a column per receiver, bytes; the first line and column have the names (RFC 4180).
std::string csv(const CommunicationMatrix& matrix);

// SVG 1.1: a square per pair, the darker the more; a row per sender. Rows beyond 256 are drawn several in one, and the
// picture says so. `title` stands above it.
std::string svg(const CommunicationMatrix& matrix, const std::string& title);

}  // namespace railyard::matrix
