// Rows of the CSV files that telemetry writes.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace railyard::report {

// Each row of `file` behind the first with at least `columns` columns. Throws std::runtime_error: it cannot be read.
void for_each_row(const std::string& file, std::size_t columns,
                  const std::function<void(std::span<const std::string_view>)>& row);

// nullopt: it does not begin with a number.
inline std::optional<std::uint64_t> number_in(std::string_view cell) {
  std::uint64_t n = 0;
  if (std::from_chars(cell.data(), cell.data() + cell.size(), n).ec != std::errc{}) return std::nullopt;
  return n;
}

}  // namespace railyard::report
