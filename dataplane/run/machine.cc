#include "dataplane/run/machine.h"

#include <cstdint>
#include <vector>

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "dataplane/base/units.h"
#include "dataplane/base/yield_policy.h"

namespace railyard {

Duration Machine::time() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Duration{static_cast<std::int64_t>(t.tv_sec) * kPicosecondsPerSecond + t.tv_nsec * std::int64_t{1000}};
}

void Machine::yield() {
  thread_local YieldPolicy policy;
  const Duration before = time();
  if (policy.sleeps(before)) return Machine::sleep(Duration{1'000});
  sched_yield();
  policy.yielded(before, time());
}

void Machine::sleep(Duration duration) {
  // Else Linux adds 50 us.
  thread_local const int precise = ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(precise);
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
