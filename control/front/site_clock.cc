#include "control/front/site_clock.h"

#include <algorithm>
#include <cmath>

namespace railyard::front {

void SiteClock::add(double asked, double said, double answered) {
  if (!std::isfinite(said) || answered < asked) return;
  seen_.push_back({said - (asked + answered) / 2, (answered - asked) / 2});
  if (seen_.size() > kKept) seen_.pop_front();
}

SiteClock::Exchange SiteClock::best() const noexcept {
  const auto found = std::ranges::min_element(seen_, {}, &Exchange::error);
  return found == seen_.end() ? Exchange{} : *found;
}

double SiteClock::offset() const noexcept { return best().offset; }
double SiteClock::error() const noexcept { return best().error; }

}  // namespace railyard::front
