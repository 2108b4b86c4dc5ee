// Operations of the semantic sublayer (SES): UET page §4.9, after UE-Spec 1.0 tables 3-17 and 3-18.
#pragma once

#include <cstdint>
#include <string_view>

namespace railyard::uet {

// Of requests. 0x10..0x2F are reserved.
// DEVIATION: the reference provider has synchronising operations at 0x10 and 0x11, another source others (UET page §13
// item 16); here they are reserved.
enum class SesOpcode : std::uint8_t {
  kNoOp = 0x00,
  kWrite = 0x01,
  kRead = 0x02,
  kAtomic = 0x03,
  kFetchingAtomic = 0x04,
  kSend = 0x05,
  kRendezvousSend = 0x06,
  kDatagramSend = 0x07,
  kDeferrableSend = 0x08,
  kTaggedSend = 0x09,
  kRendezvousTsend = 0x0A,
  kDeferrableTsend = 0x0B,
  kDeferrableRtr = 0x0C,
  kTsendAtomic = 0x0D,
  kTsendFetchAtomic = 0x0E,
  kMsgError = 0x0F,
  kVendorFirst = 0x30,
  kVendorLast = 0x3E,
  kExtended = 0x3F,
};

// "TAGGED_SEND"; "VENDOR" of 0x30..0x3E; "" if reserved.
std::string_view name(SesOpcode opcode) noexcept;

// With the tokens of a deferrable send in place of buffer_offset.
constexpr bool is_deferrable(SesOpcode opcode) noexcept {
  return opcode == SesOpcode::kDeferrableSend || opcode == SesOpcode::kDeferrableTsend;
}
constexpr bool is_rendezvous(SesOpcode opcode) noexcept {
  return opcode == SesOpcode::kRendezvousSend || opcode == SesOpcode::kRendezvousTsend;
}
// With an atomic extension.
constexpr bool is_atomic(SesOpcode opcode) noexcept {
  using enum SesOpcode;
  return opcode == kAtomic || opcode == kFetchingAtomic || opcode == kTsendAtomic || opcode == kTsendFetchAtomic;
}
// To a buffer by tag: match_bits say which.
constexpr bool is_tagged(SesOpcode opcode) noexcept {
  using enum SesOpcode;
  return opcode == kTaggedSend || opcode == kRendezvousTsend || opcode == kDeferrableTsend || opcode == kTsendAtomic ||
         opcode == kTsendFetchAtomic;
}
// Of a message that the target places, by tag or in order; a MEDIUM request has header_data then, and no buffer_offset.
constexpr bool is_send(SesOpcode opcode) noexcept {
  using enum SesOpcode;
  return opcode == kSend || opcode == kDatagramSend || opcode == kTaggedSend || is_rendezvous(opcode) ||
         is_deferrable(opcode);
}

// Of responses. 0x04..0x2F are reserved.
enum class SesResponseOpcode : std::uint8_t {
  kDefaultResponse = 0x00,
  kResponse = 0x01,
  kResponseWData = 0x02,
  kNoResponse = 0x03,
  kVendorFirst = 0x30,
  kVendorLast = 0x3F,
};

// "RESPONSE_W_DATA"; "VENDOR" of 0x30..0x3F; "" if reserved.
std::string_view name(SesResponseOpcode opcode) noexcept;

// Which list of the target a message went to; 2 and 3 are for vendors.
enum class SesList : std::uint8_t { kExpected = 0, kOverflow = 1 };

// "EXPECTED"; "VENDOR" of 2 and 3.
std::string_view name(SesList list) noexcept;

}  // namespace railyard::uet
