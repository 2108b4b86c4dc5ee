#include "tools/railyard/processors.h"

#include <sched.h>

namespace railyard::tools {

void keep_off(std::span<const int> others) noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (const int p : others)
    if (p >= 0 && p < CPU_SETSIZE) CPU_CLR(static_cast<std::size_t>(p), &set);
  if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof set, &set);
}

}  // namespace railyard::tools
