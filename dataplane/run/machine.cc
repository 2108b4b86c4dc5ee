#include "dataplane/run/machine.h"

#include <cstdint>
#include <vector>

#include <poll.h>
#include <sched.h>
#include <time.h>

#include "dataplane/base/units.h"

namespace railyard {

Duration Machine::time() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Duration{static_cast<std::int64_t>(t.tv_sec) * kPicosecondsPerSecond + t.tv_nsec * std::int64_t{1000}};
}

// Beside programs that compute, who yields again and again is set back by whole slices (Linux 6.18: milliseconds, in sum
// half a second), and who sleeps is not. So after a yield that took long, sleeps stand in for yields for a while.
void Machine::yield() {
  constexpr Duration kSetBack{500'000'000}, kFor{100'000'000'000};
  thread_local Duration crowded_until{};
  const Duration before = time();
  if (before < crowded_until) return Machine::sleep(Duration{1'000});
  sched_yield();
  if (const Duration after = time(); after - before > kSetBack) crowded_until = after + kFor;
}

void Machine::sleep(Duration duration) {
  const timespec t{0, duration.ps / 1000};
  nanosleep(&t, nullptr);
}

bool Machine::wait(Duration most, std::span<const int> descriptors) {
  thread_local std::vector<pollfd> polled;
  polled.clear();
  for (const int fd : descriptors) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  const timespec t{most.ps / kPicosecondsPerSecond, most.ps % kPicosecondsPerSecond / 1000};
  return ppoll(polled.data(), polled.size(), &t, nullptr) > 0;
}

Machine& Machine::real() {
  static Machine machine;
  return machine;
}

}  // namespace railyard
