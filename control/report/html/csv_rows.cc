#include "control/report/html/csv_rows.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace railyard::report {

void for_each_row(const std::string& file, std::size_t columns,
                  const std::function<void(std::span<const std::string_view>)>& row) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", file));
  std::string line;
  std::getline(in, line);
  std::vector<std::string_view> cells;
  while (std::getline(in, line)) {
    cells.clear();
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t comma = std::min(line.find(',', from), line.size());
      cells.push_back(std::string_view(line).substr(from, comma - from));
      from = comma + 1;
    }
    if (cells.size() >= columns) row(cells);
  }
}

}  // namespace railyard::report
