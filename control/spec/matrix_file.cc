#include "control/spec/matrix_file.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "control/spec/text_lines.h"

namespace railyard::spec {
namespace {

// Of a cell; a row of 65,536 is still far from an overflow.
constexpr std::int64_t kMostOctets = std::int64_t{1} << 36;

std::size_t ranks_of(const std::vector<std::uint64_t>& matrix) {
  return static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(matrix.size()))));
}

}  // namespace

std::vector<std::uint64_t> read_matrix_file(const std::string& file, std::size_t ranks, std::uint32_t element) {
  const std::string text = read_file(file);
  Lines lines(file, text);
  std::vector<std::uint64_t> matrix;
  std::vector<bool> used(ranks);
  std::vector<int> line_of;  // by rank
  std::size_t row = 0;
  for (; const auto line = lines.next(); ++row) {
    if (row == ranks) lines.fail(fmt::format("more lines than ranks; expected {} lines", ranks));
    line_of.push_back(lines.number());
    const auto cells = split_at(*line, ',', false);
    if (cells.size() != ranks)
      lines.fail(fmt::format("{} numbers; expected {}: one for each rank", cells.size(), ranks));
    for (std::size_t column = 0; column < ranks; ++column) {
      const auto octets = whole_number(cells[column]);
      if (!octets || *octets > kMostOctets)
        lines.fail(fmt::format("'{}' for rank {}; expected a number of bytes up to {}", cells[column], column, kMostOctets));
      if (*octets % element != 0)
        lines.fail(fmt::format("{} bytes for rank {} are not a multiple of an element's {}", *octets, column, element));
      matrix.push_back(static_cast<std::uint64_t>(*octets));
      if (*octets > 0 && row != column) used[row] = used[column] = true;
    }
  }
  if (row != ranks) lines.fail(fmt::format("{} lines; expected {}: one for each rank", row, ranks));
  if (const auto idle = std::ranges::find(used, false); idle != used.end()) {
    const auto rank = static_cast<std::size_t>(idle - used.begin());
    lines.fail_at(line_of[rank], fmt::format("rank {} neither sends nor receives; expected data for each rank, or fewer ranks", rank));
  }
  return matrix;
}

Bytes largest_row(const std::vector<std::uint64_t>& matrix) {
  const std::size_t n = ranks_of(matrix);
  std::uint64_t largest = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(r * n);
    largest = std::max(largest, std::accumulate(row, row + static_cast<std::ptrdiff_t>(n), std::uint64_t{0}));
  }
  return Bytes{static_cast<std::int64_t>(largest)};
}

}  // namespace railyard::spec
