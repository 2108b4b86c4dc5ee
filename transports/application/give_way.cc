#include "transports/application/give_way.h"

#include <algorithm>

#include <sched.h>
#include <time.h>

#include "transports/application/nic_driver.h"

namespace railyard::application {

namespace {

void sleep_ns(long ns) noexcept {
  const timespec t{.tv_sec = 0, .tv_nsec = ns};
  ::nanosleep(&t, nullptr);
}

// The first sleeps, 50 us each with what a timer adds, are as short as can be; then they double.
constexpr long nap_ns(unsigned fruitless) noexcept {
  constexpr unsigned kShort = 32, kEach = 4, kMostDoublings = 4;
  constexpr long kFirst = 60'000;
  return fruitless < kShort ? 1 : kFirst << std::min((fruitless - kShort) / kEach, kMostDoublings);
}
static_assert(nap_ns(0) == 1 && nap_ns(1'000'000) < 1'000'000);

}  // namespace

// Beside programs that compute, who yields again and again is set back by whole slices (Linux 6.18: milliseconds), and who
// sleeps is not; but a sleep takes 50 us where a yield takes one.
void give_way(unsigned fruitless) noexcept {
  constexpr Duration kSetBack{500'000'000}, kFor{100'000'000'000};
  thread_local Instant crowded_until{};
  const Instant before = NicDriver::now();
  if (before < crowded_until) return sleep_ns(nap_ns(fruitless));
  ::sched_yield();
  if (const Instant after = NicDriver::now(); after - before > kSetBack) crowded_until = after + kFor;
}

void sleep_a_moment() noexcept { sleep_ns(1); }

}  // namespace railyard::application
