#include "control/base/text_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace railyard {

std::string text_table(const std::vector<std::vector<std::string>>& lines, std::size_t left, std::string_view indent) {
  std::vector<std::size_t> width;
  for (const auto& line : lines) {
    width.resize(std::max(width.size(), line.size()), 0);
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text(indent);
    for (std::size_t c = 0; c < line.size(); ++c)
      text += c < left ? fmt::format("{:<{}}  ", line[c], width[c]) : fmt::format("{:>{}}  ", line[c], width[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace railyard
