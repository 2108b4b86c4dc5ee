// Credit of receivers as it is counted (UE-Spec 1.0 §3.6.14; uet §9.6): octets from the PDS header to the end of the
// payload, in units of 256, counted up since the PDC began. 24 bits that wrap.
#pragma once

#include <cstdint>

#include "transports/base/serial_number.h"
#include "transports/uet/wire/cc_state.h"

namespace railyard::uet {

using Credit = SerialNumber<struct CreditTag, 24>;

// Whole units that cover `octets`.
constexpr std::uint32_t credit_units(std::int64_t octets) noexcept {
  return octets <= 0 ? 0u : static_cast<std::uint32_t>((octets + kCreditOctets - 1) / kCreditOctets);
}

}  // namespace railyard::uet
