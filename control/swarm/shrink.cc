#include "control/swarm/shrink.h"

#include <algorithm>
#include <cstddef>

namespace railyard::swarm {

std::vector<std::string> shrink(std::vector<std::string> items,
                                const std::function<bool(const std::vector<std::string>&)>& fails, int most) {
  using Difference = std::vector<std::string>::difference_type;
  if (!items.empty() && most-- > 0 && fails({})) return {};
  for (std::size_t parts = 2; items.size() >= 2 && most > 0;) {
    bool smaller = false;
    for (std::size_t i = 0; i < parts && most > 0; ++i) {
      // Without the i-th of so many parts.
      const std::size_t begin = items.size() * i / parts;
      const std::size_t end = items.size() * (i + 1) / parts;
      std::vector<std::string> rest = items;
      rest.erase(rest.begin() + static_cast<Difference>(begin), rest.begin() + static_cast<Difference>(end));
      --most;
      if (!fails(rest)) continue;
      items = std::move(rest);
      parts = std::max<std::size_t>(parts - 1, 2);
      smaller = true;
      break;
    }
    if (smaller) continue;
    if (parts >= items.size()) break;
    parts = std::min(2 * parts, items.size());
  }
  return items;
}

}  // namespace railyard::swarm
