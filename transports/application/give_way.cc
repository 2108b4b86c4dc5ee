#include "transports/application/give_way.h"

#include <sched.h>
#include <time.h>

#include "transports/application/nic_driver.h"

namespace railyard::application {

// Beside programs that compute, who yields again and again is set back by whole slices (Linux 6.18: milliseconds), and who
// sleeps is not; but a sleep takes 50 us where a yield takes one.
void give_way() noexcept {
  constexpr Duration kSetBack{500'000'000}, kFor{100'000'000'000};
  thread_local Instant crowded_until{};
  const Instant before = NicDriver::now();
  if (before < crowded_until) return sleep_a_moment();
  ::sched_yield();
  if (const Instant after = NicDriver::now(); after - before > kSetBack) crowded_until = after + kFor;
}

void sleep_a_moment() noexcept {
  constexpr timespec kShort{.tv_sec = 0, .tv_nsec = 1};
  ::nanosleep(&kShort, nullptr);
}

}  // namespace railyard::application
