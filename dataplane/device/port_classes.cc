#include "dataplane/device/port_classes.h"

namespace railyard {

const ClassCounters& PortClasses::nothing() noexcept {
  static const ClassCounters kNothing{};
  return kNothing;
}

void PortClasses::set(std::size_t priority, const ClassCounters& counters) {
  if (!has(priority) && counters == nothing()) return;
  (*this)[priority] = counters;
}

}  // namespace railyard
