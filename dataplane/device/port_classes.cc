#include "dataplane/device/port_classes.h"

#include <cstring>
#include <type_traits>

namespace railyard {

const ClassCounters& PortClasses::nothing() noexcept {
  static constexpr ClassCounters kNothing{};
  return kNothing;
}

void PortClasses::set(std::size_t priority, const ClassCounters& counters) {
  static_assert(std::has_unique_object_representations_v<ClassCounters>, "compared octet by octet");
  if (!has(priority) && std::memcmp(&counters, &nothing(), sizeof counters) == 0) return;
  (*this)[priority] = counters;
}

}  // namespace railyard
