#include "dataplane/port/arrival_age.h"

#include <cstdint>
#include <ctime>

#include "dataplane/base/units.h"

namespace railyard {

Duration age_at(Duration wall, Duration waited) noexcept {
  constexpr Duration kMost{kPicosecondsPerSecond};
  timespec t{};
  if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) return waited;
  const Duration since =
      Duration{static_cast<std::int64_t>(t.tv_sec) * kPicosecondsPerSecond + t.tv_nsec * std::int64_t{1000}} - wall;
  return since < Duration{} || since > kMost ? waited : waited - since;
}

}  // namespace railyard
