// Tables of text for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace railyard {

// One line each, columns two spaces apart and as wide as their widest cell (in octets), without spaces at the end. Cells
// of the first `left` columns are aligned on the left, all others on the right. A line may have fewer cells than others.
std::string text_table(const std::vector<std::vector<std::string>>& lines, std::size_t left, std::string_view indent = "");

}  // namespace railyard
