// Numbers of things, as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace railyard {

// "1,234,567".
inline std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace railyard
