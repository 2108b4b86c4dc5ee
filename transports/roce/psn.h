// Sequence numbers of RoCEv2, all of 24 bits (roce-and-lossless §5.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transports/base/serial_number.h"

namespace railyard::roce {

using Psn = SerialNumber<struct PsnTag, 24>;  // of a packet
using Msn = SerialNumber<struct MsnTag, 24>;  // messages that a responder has completed
using Ssn = SerialNumber<struct SsnTag, 24>;  // of a send WQE, the first is 1

// What a responder that expects `expected` takes a request with `psn` for.
enum class PsnPlace : std::uint8_t { kExpected, kDuplicate, kGap };
constexpr PsnPlace place(Psn psn, Psn expected) noexcept {
  const std::int32_t ahead = psn - expected;
  return ahead == 0 ? PsnPlace::kExpected : ahead < 0 ? PsnPlace::kDuplicate : PsnPlace::kGap;
}

// How many PSNs a message of `length` octets takes at `path_mtu`. A READ request is one packet and reserves as many for
// its responses.
constexpr std::uint32_t psns_of(std::uint32_t length, std::size_t path_mtu) noexcept {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, (length + path_mtu - 1) / path_mtu));
}

}  // namespace railyard::roce
