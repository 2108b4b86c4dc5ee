// A message in packets: which opcode each one has, roce-and-lossless §5.3.
#pragma once

#include <cstdint>

#include "transports/roce/wire/opcode.h"
#include "transports/roce/work_request.h"

namespace railyard::roce {

constexpr Position position_of(bool first, bool last) noexcept {
  if (first) return last ? Position::kOnly : Position::kFirst;
  return last ? Position::kLast : Position::kMiddle;
}

// Without the transport's bits, so that of RC. A READ or atomic request is one packet.
constexpr std::uint8_t request_opcode(SendOpcode operation, Position position) noexcept {
  using enum SendOpcode;
  const bool only = position == Position::kOnly;
  const bool ends = only || position == Position::kLast;
  switch (operation) {
    case kRead:
      return opcode::kRcReadRequest;
    case kCompareSwap:
      return opcode::kRcCompareSwap;
    case kFetchAdd:
      return opcode::kRcFetchAdd;
    case kWrite:
    case kWriteImm:
      if (!ends) return position == Position::kFirst ? opcode::kRcWriteFirst : opcode::kRcWriteMiddle;
      if (operation == kWriteImm) return only ? opcode::kRcWriteOnlyImm : opcode::kRcWriteLastImm;
      return only ? opcode::kRcWriteOnly : opcode::kRcWriteLast;
    default:
      if (!ends) return position == Position::kFirst ? opcode::kRcSendFirst : opcode::kRcSendMiddle;
      if (operation == kSendImm) return only ? opcode::kRcSendOnlyImm : opcode::kRcSendLastImm;
      if (operation == kSendInv) return only ? opcode::kRcSendOnlyInvalidate : opcode::kRcSendLastInvalidate;
      return only ? opcode::kRcSendOnly : opcode::kRcSendLast;
  }
}

constexpr std::uint8_t read_response_opcode(Position position) noexcept {
  switch (position) {
    case Position::kFirst:
      return opcode::kRcReadResponseFirst;
    case Position::kMiddle:
      return opcode::kRcReadResponseMiddle;
    case Position::kLast:
      return opcode::kRcReadResponseLast;
    case Position::kOnly:
      return opcode::kRcReadResponseOnly;
  }
  return 0;
}

}  // namespace railyard::roce
