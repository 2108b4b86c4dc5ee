// What became of a request: UET page §4.10, after UE-Spec 1.0 table 3-19.
#pragma once

#include <cstdint>
#include <string_view>

namespace railyard::uet {

// 0x25..0x2F, 0x38..0x3D and 0x3F are reserved.
enum class ReturnCode : std::uint8_t {
  kNull = 0x00,  // not known yet
  kOk = 0x01,
  kBadGeneration = 0x02,
  kDisabled = 0x03,
  kDisabledGen = 0x04,
  kNoMatch = 0x05,
  kUnsupportedOp = 0x06,
  kUnsupportedSize = 0x07,
  kAtInvalid = 0x08,
  kAtPerm = 0x09,
  kAtAtsError = 0x0A,
  kAtNoTrans = 0x0B,
  kAtOutOfRange = 0x0C,
  kHostPoisoned = 0x0D,
  kHostUnsuccessCmpl = 0x0E,
  kAmoUnsupportedOp = 0x0F,
  kAmoUnsupportedDt = 0x10,
  kAmoUnsupportedSize = 0x11,
  kAmoUnaligned = 0x12,
  kAmoFpNan = 0x13,
  kAmoFpUnderflow = 0x14,
  kAmoFpOverflow = 0x15,
  kAmoFpInexact = 0x16,
  kPermViolation = 0x17,
  kOpViolation = 0x18,
  kBadIndex = 0x19,
  kBadPid = 0x1A,
  kBadJobId = 0x1B,
  kBadMkey = 0x1C,
  kBadAddr = 0x1D,
  kCancelled = 0x1E,
  kUndeliverable = 0x1F,
  kUncor = 0x20,
  kUncorTrnsnt = 0x21,
  kTooLong = 0x22,
  kInitiatorError = 0x23,
  kDropped = 0x24,
  kVendorFirst = 0x30,
  kVendorLast = 0x37,
  kExtended = 0x3E,
};

// "BAD_MKEY"; "VENDOR" of 0x30..0x37; "" if reserved.
std::string_view name(ReturnCode code) noexcept;

}  // namespace railyard::uet
