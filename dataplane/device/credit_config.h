// Credit-based flow control of one direction of a link: what both its ends are told.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// What the receiver has set aside for one class: a virtual channel of UE 1.0 section 5.2.
struct ClassCredits {
  std::uint32_t cells = 0;   // of its buffer; 0: the class has no credits
  std::uint32_t update = 1;  // it tells the sender when so many are free again, 1..cells

  bool operator==(const ClassCredits&) const = default;
};

struct CreditConfig {
  std::array<ClassCredits, kPriorities> classes;
  std::uint32_t cell = 256;    // octets, > 0: a frame takes whole cells
  Duration sync{100'000'000};  // while there is something that has not been freed, the sender asks as often, > 0

  std::uint32_t cells(std::uint32_t octets) const noexcept { return (octets + cell - 1) / cell; }
  PriorityMask with_credits() const noexcept {
    PriorityMask mask = 0;
    for (std::uint8_t c = 0; c < kPriorities; ++c)
      if (classes[c].cells > 0) mask = static_cast<PriorityMask>(mask | bit(Priority{c}));
    return mask;
  }

  bool operator==(const CreditConfig&) const = default;
};

}  // namespace railyard
