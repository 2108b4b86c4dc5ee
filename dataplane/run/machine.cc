#include "dataplane/run/machine.h"

#include <cstdint>

#include <sched.h>
#include <time.h>

#include "dataplane/base/units.h"

namespace railyard {

Duration Machine::time() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Duration{static_cast<std::int64_t>(t.tv_sec) * kPicosecondsPerSecond + t.tv_nsec * std::int64_t{1000}};
}

void Machine::yield() { sched_yield(); }

void Machine::sleep(Duration duration) {
  const timespec t{0, duration.ps / 1000};
  nanosleep(&t, nullptr);
}

Machine& Machine::real() {
  static Machine machine;
  return machine;
}

}  // namespace railyard
