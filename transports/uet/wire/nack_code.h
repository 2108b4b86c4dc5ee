// Why a packet was not taken: UET page §3.10, after UE-Spec 1.0 tables 3-58..3-61.
#pragma once

#include <cstdint>
#include <string_view>

namespace railyard::uet {

// 0x00, 0x0C and 0x1B..0xFC are reserved.
enum class NackCode : std::uint8_t {
  kTrimmed = 0x01,
  kTrimmedLasthop = 0x02,
  kTrimmedAck = 0x03,  // UE-Spec 1.0..1.0.2; reserved since 1.0.3: never sent
  kNoPdcAvail = 0x04,
  kNoCccAvail = 0x05,
  kNoBitmap = 0x06,
  kNoPktBuffer = 0x07,
  kNoGtdDelAvail = 0x08,
  kNoSesMsgAvail = 0x09,
  kNoResource = 0x0A,
  kPsnOorWindow = 0x0B,
  kRodOoo = 0x0D,
  kInvDpdcid = 0x0E,
  kPdcHdrMismatch = 0x0F,
  kClosing = 0x10,
  kClosingInErr = 0x11,  // payload: how many packets of the target are outstanding
  kPktNotRcvd = 0x12,
  kGtdRespUnavail = 0x13,
  kAckWithData = 0x14,
  kInvalidSyn = 0x15,
  kPdcModeMismatch = 0x16,
  kNewStartPsn = 0x17,  // payload: the Start_PSN wanted
  kRcvdSesProcg = 0x18,
  kUnexpEvent = 0x19,
  kRcvrInferLoss = 0x1A,
  kExpNackNormal = 0xFD,
  kExpNackErr = 0xFE,
  kExpNackFatal = 0xFF,
};

// "TRIMMED_LASTHOP"; "" if reserved.
std::string_view name(NackCode code) noexcept;

enum class NackClass : std::uint8_t { kReserved, kNormal, kPdcFatal, kError, kFatal, kInfo, kVendor };

constexpr NackClass nack_class(NackCode code) noexcept {
  using enum NackCode;
  switch (code) {
    case kInvDpdcid:
    case kPdcHdrMismatch:
    case kClosing:
      return NackClass::kPdcFatal;
    case kClosingInErr:
    case kGtdRespUnavail:
    case kInvalidSyn:
    case kUnexpEvent:
      return NackClass::kError;
    case kPdcModeMismatch:
      return NackClass::kFatal;
    case kRcvdSesProcg:
      return NackClass::kInfo;
    case kExpNackNormal:
    case kExpNackErr:
    case kExpNackFatal:
      return NackClass::kVendor;
    default:
      break;
  }
  const auto number = static_cast<std::uint8_t>(code);
  return number >= 0x01 && number <= 0x1A && number != 0x0C ? NackClass::kNormal : NackClass::kReserved;
}

}  // namespace railyard::uet
