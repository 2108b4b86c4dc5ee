// What most ports of a switch have.
#pragma once

#include <cstddef>
#include <vector>

namespace railyard::importing {

// The value that occurs most often; of several, the one that comes first. `values` is not empty.
template <class T>
T most_common(const std::vector<T>& values) {
  std::size_t best = 0;
  std::size_t best_count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t count = 0;
    for (const T& other : values) count += other == values[i] ? 1 : 0;
    if (count > best_count) {
      best = i;
      best_count = count;
    }
  }
  return values[best];
}

}  // namespace railyard::importing
