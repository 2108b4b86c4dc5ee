#include "control/build/allocated.h"

#include <malloc.h>

namespace railyard::build {

std::int64_t allocated_octets() noexcept {
  const struct mallinfo2 m = mallinfo2();
  return static_cast<std::int64_t>(m.uordblks + m.hblkhd);
}

}  // namespace railyard::build
