// What the two ends of a link tell each other for credit-based flow control (CBFC, UE 1.0 section 5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

// What follows the Ethernet header with the Local Experimental EtherType 2. Subtype and version come first, as
// IEEE 802-2014 §9.2.4 asks of protocols that share this type.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+---------------+---------------+---------------+
//  |    Subtype    |    Version    |     Type      |     Epoch     |
//  +---------------+---------------+---------------+---------------+
//  |7|6|5|4|3|2|1|0|                   Reserved                    |  the classes that are spoken of
//  +---------------+-----------------------------------------------+
//  |                 count[0] ... count[7], cells                  |
//  +---------------------------------------------------------------+
//
// DEVIATION UE 1.0 section 5.2: a layout of our own, as those of CF_Update (an ordered set with two counts of 15 bits)
// and CC_Update (an Ethernet message) are not public. A CF_Update takes the time of the ordered sets that it stands for
// (credit_sender.h) and is in no capture.
struct CreditMessageHeader {
  static constexpr std::size_t kOctets = 8;
  using Subtype = Field<0, 8>;
  using Version = Field<8, 8>;
  using Type = Field<16, 8>;
  using Epoch = Field<24, 8>;
  using Classes = Field<32, 8>;
  using Reserved = Field<40, 24>;
};
static_assert(tiles<CreditMessageHeader::kOctets, CreditMessageHeader::Subtype, CreditMessageHeader::Version,
                    CreditMessageHeader::Type, CreditMessageHeader::Epoch, CreditMessageHeader::Classes,
                    CreditMessageHeader::Reserved>());

inline constexpr std::uint16_t kCreditMessageEtherType = 0x88B6;
inline constexpr std::uint8_t kCreditMessageSubtype = 0x43;
inline constexpr std::uint8_t kCreditMessageVersion = 1;

enum class CreditMessageType : std::uint8_t {
  kFreed = 1,     // CF_Update: the cells that the receiver has freed since the link came up
  kConsumed = 2,  // CC_Update: the cells that the sender has used since then
};

struct CreditMessage {
  CreditMessageType type = CreditMessageType::kFreed;
  std::uint8_t epoch = 0;                          // how often the link has come up, modulo 32: 0..31
  PriorityMask classes = 0;                        // whose counts are there
  std::array<std::uint32_t, kPriorities> count{};  // modulo 2^32; 0 of others

  bool operator==(const CreditMessage&) const = default;
};

inline constexpr std::uint8_t kCreditEpochs = 32;

// Writes a whole frame but for its FCS. `message` is within the limits above.
void write_credit_message(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                          const CreditMessage& message) noexcept;

// Whether a frame is one, going by its EtherType and subtype.
bool is_credit_message(std::span<const std::byte> frame) noexcept;

// Reads an untagged frame that is one. kTooShort: it ends before the last count; kNotUnderstood: another subtype, type
// or address; kBadVersion; kBadLength: an epoch that cannot be.
[[nodiscard]] std::expected<CreditMessage, DropReason> parse_credit_message(std::span<const std::byte> frame) noexcept;

}  // namespace railyard::wire
