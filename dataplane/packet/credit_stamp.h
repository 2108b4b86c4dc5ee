// What a frame has used of the credits of the link it is on.
#pragma once

#include <cstdint>

namespace railyard {

// Written by the sender when the frame starts, on links with credit-based flow control; the receiver counts the same,
// whatever the link did to the frame.
struct CreditStamp {
  std::uint16_t cells;        // 0: it needed none
  std::uint8_t priority : 3;  // class that they are of
  std::uint8_t epoch : 5;     // credit_message.h
};

}  // namespace railyard
