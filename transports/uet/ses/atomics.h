// Atomic operations on memory (uet §4.11, §6.6), on integers of 8 to 64 bits, FLOAT and DOUBLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "transports/uet/wire/return_code.h"
#include "transports/uet/wire/ses_extension.h"

namespace railyard::uet {

// Octets of a value; 0: not supported.
std::uint32_t octets_of(AtomicDatatype type) noexcept;

// Carries `opcode` out on the value at `at`, in this machine's octet order, and returns the value that was there. Of
// `operand` and `compare` the low octets count. AMO_UNSUPPORTED_OP, AMO_UNSUPPORTED_DT.
std::expected<std::uint64_t, ReturnCode> apply_atomic(AtomicOpcode opcode, AtomicDatatype type, std::byte* at,
                                                      std::uint64_t operand, std::uint64_t compare) noexcept;

}  // namespace railyard::uet
