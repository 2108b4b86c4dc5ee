#include "control/machine/gaps.h"

#include <algorithm>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "dataplane/base/units.h"

namespace railyard::machine {
namespace {

constexpr Duration kLong{100'000'000};

Duration monotonic() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Duration{std::int64_t{t.tv_sec} * kPicosecondsPerSecond + t.tv_nsec * std::int64_t{1000}};
}

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  // One that is not there is a finding of its own: then any will do.
  static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof set, &set));
}

}  // namespace

Gaps measure_gaps(Duration length, const std::function<Duration()>& now) {
  std::vector<Duration> gaps;
  Duration in_long{};
  const Duration began = now();
  Duration last = began;
  while (last - began < length) {
    const Duration at = now();
    const Duration gap = at - last;
    last = at;
    if (gap <= Gaps::kLeast) continue;
    gaps.push_back(gap);
    if (gap > kLong) in_long += gap;
  }
  Gaps out;
  out.measured = last - began;
  out.count = gaps.size();
  if (out.measured > Duration{}) out.in_long_gaps = static_cast<double>(in_long.ps) / static_cast<double>(out.measured.ps);
  if (gaps.empty()) return out;
  std::ranges::sort(gaps);
  out.p99 = gaps[(gaps.size() * 99 + 99) / 100 - 1];
  out.max = gaps.back();
  return out;
}

Gaps measure_gaps_on(const std::vector<int>& processors, Duration length) {
  if (processors.empty()) return measure_gaps(length, monotonic);
  std::vector<Gaps> found(processors.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < processors.size(); ++i)
    threads.emplace_back([&, i] {
      bind_to(processors[i]);
      found[i] = measure_gaps(length, monotonic);
    });
  for (std::thread& t : threads) t.join();
  return *std::ranges::max_element(found, {}, &Gaps::in_long_gaps);
}

}  // namespace railyard::machine
