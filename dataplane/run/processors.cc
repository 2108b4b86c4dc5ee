#include "dataplane/run/processors.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <sched.h>

namespace railyard {

std::vector<int> own_processors() {
  cpu_set_t set;
  std::vector<int> all;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return all;
  for (int p = 0; p < CPU_SETSIZE; ++p)
    if (CPU_ISSET(static_cast<std::size_t>(p), &set)) all.push_back(p);
  return all;
}

void bind_to(std::thread::native_handle_type thread, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(processor), &set);
  if (pthread_setaffinity_np(thread, sizeof set, &set) != 0)
    throw std::runtime_error(fmt::format("no thread can be bound to processor {}; expected one of {}", processor,
                                         fmt::join(own_processors(), ", ")));
}

void bind_to(int processor) { bind_to(pthread_self(), processor); }

}  // namespace railyard
