#include "transports/application/give_way.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "dataplane/base/yield_policy.h"
#include "transports/application/nic_driver.h"

namespace railyard::application {

void give_way() noexcept {
  thread_local YieldPolicy policy;
  const Duration before = NicDriver::now() - Instant{};
  if (policy.sleeps(before)) return sleep_a_moment();
  ::sched_yield();
  policy.yielded(before, NicDriver::now() - Instant{});
}

// Linux adds 50 us to sleeps, unless it is told not to; the thread is the application's, so it is told again.
void sleep_a_moment() noexcept {
  const int slack = ::prctl(PR_GET_TIMERSLACK);
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  constexpr timespec kShort{.tv_sec = 0, .tv_nsec = 1000};
  ::nanosleep(&kShort, nullptr);
  ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack));
}

}  // namespace railyard::application
