// What each of the 256 BTH opcodes says: the operation, which headers follow the BTH, what payload may
// (IBTA Vol 1 §9.2 and Annex A17; roce-and-lossless §2.3).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "dataplane/wire/bth.h"
#include "transports/roce/wire/aeth.h"
#include "transports/roce/wire/atomic_ack_eth.h"
#include "transports/roce/wire/atomic_eth.h"
#include "transports/roce/wire/cnp.h"
#include "transports/roce/wire/deth.h"
#include "transports/roce/wire/feth.h"
#include "transports/roce/wire/ieth.h"
#include "transports/roce/wire/imm_dt.h"
#include "transports/roce/wire/reth.h"
#include "transports/roce/wire/sack_eth.h"
#include "transports/roce/wire/sr_eth.h"
#include "transports/roce/wire/xrc_eth.h"

namespace railyard::roce {

namespace opcode = wire::roce_opcode;

// The transport bits of RC with selective repeat: ours, among those that are the manufacturers' (selective_repeat.h).
inline constexpr std::uint8_t kSelectiveRepeat = 0xC0;

// The extension headers, in the order in which those that an opcode has follow its BTH.
enum class Header : std::uint8_t {
  kXrcEth,
  kDeth,
  kFeth,
  kSrEth,
  kReth,
  kAtomicEth,
  kAeth,
  kSackEth,
  kAtomicAckEth,
  kImmDt,
  kIeth,
  kCnpReserved,
  kCount
};

inline constexpr std::array<std::uint8_t, static_cast<std::size_t>(Header::kCount)> kHeaderOctets{
    XrcEth::kOctets, Deth::kOctets,    Feth::kOctets,         SrEth::kOctets, Reth::kOctets, AtomicEth::kOctets,
    Aeth::kOctets,   SackEth::kOctets, AtomicAckEth::kOctets, ImmDt::kOctets, Ieth::kOctets, kCnpReservedOctets};

// A set of extension headers.
class Headers {
 public:
  constexpr Headers() noexcept = default;
  constexpr Headers(std::initializer_list<Header> headers) noexcept {
    for (const Header header : headers) bits_ = static_cast<std::uint16_t>(bits_ | bit(header));
  }
  bool operator==(const Headers&) const = default;

  constexpr bool none() const noexcept { return bits_ == 0; }
  constexpr bool has(Header header) const noexcept { return (bits_ & bit(header)) != 0; }
  constexpr Headers with(Header header) const noexcept {
    Headers more = *this;
    more.bits_ = static_cast<std::uint16_t>(more.bits_ | bit(header));
    return more;
  }
  // Of all of them.
  constexpr std::size_t octets() const noexcept {
    std::size_t sum = 0;
    for (std::uint16_t rest = bits_; rest != 0; rest = static_cast<std::uint16_t>(rest & (rest - 1)))
      sum += kHeaderOctets[static_cast<std::size_t>(std::countr_zero(rest))];
    return sum;
  }

 private:
  static constexpr std::uint16_t bit(Header header) noexcept {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(header));
  }
  std::uint16_t bits_ = 0;
};

// How many octets of payload a packet may have.
enum class PayloadRule : std::uint8_t {
  kNone,
  kFull,   // exactly the path MTU: first and middle packets
  kSome,   // 1 to the path MTU: last packets
  kAny,    // 0 to the path MTU
  kEight,  // an atomic write's operand
};

enum class Operation : std::uint8_t {
  kReserved,  // no opcode, or, like all of RD, one that nobody uses
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAcknowledge,  // ACK, NAK and RNR NAK
  kAtomicAcknowledge,
  kCompareSwap,
  kFetchAdd,
  kFlush,
  kAtomicWrite,
  kCnp
};

// Where in its message a packet is.
enum class Position : std::uint8_t { kFirst, kMiddle, kLast, kOnly };

struct OpcodeInfo {
  std::string_view name{};  // without the transport: "WRITE Only+Imm"
  Operation operation = Operation::kReserved;
  Position position = Position::kOnly;
  Headers headers{};
  PayloadRule payload = PayloadRule::kNone;
  bool response = false;           // from responder to requester
  std::uint8_t header_octets = 0;  // BTH and extension headers

  constexpr bool known() const noexcept { return operation != Operation::kReserved; }
  // The payload belongs to the memory of a SEND, WRITE or READ.
  constexpr bool carries_data() const noexcept {
    return operation == Operation::kSend || operation == Operation::kWrite || operation == Operation::kReadResponse;
  }
};

namespace detail {

consteval std::array<OpcodeInfo, 256> make_opcodes() {
  using enum Header;
  using enum Operation;
  using enum Position;
  using enum PayloadRule;
  constexpr bool kResponse = true;
  std::array<OpcodeInfo, 256> table{};

  table[opcode::kRcSendFirst] = {"SEND First", kSend, kFirst, {}, kFull};
  table[opcode::kRcSendMiddle] = {"SEND Middle", kSend, kMiddle, {}, kFull};
  table[opcode::kRcSendLast] = {"SEND Last", kSend, kLast, {}, kSome};
  table[opcode::kRcSendLastImm] = {"SEND Last+Imm", kSend, kLast, {kImmDt}, kSome};
  table[opcode::kRcSendOnly] = {"SEND Only", kSend, kOnly, {}, kAny};
  table[opcode::kRcSendOnlyImm] = {"SEND Only+Imm", kSend, kOnly, {kImmDt}, kAny};
  table[opcode::kRcWriteFirst] = {"WRITE First", kWrite, kFirst, {kReth}, kFull};
  table[opcode::kRcWriteMiddle] = {"WRITE Middle", kWrite, kMiddle, {}, kFull};
  table[opcode::kRcWriteLast] = {"WRITE Last", kWrite, kLast, {}, kSome};
  table[opcode::kRcWriteLastImm] = {"WRITE Last+Imm", kWrite, kLast, {kImmDt}, kSome};
  table[opcode::kRcWriteOnly] = {"WRITE Only", kWrite, kOnly, {kReth}, kAny};
  table[opcode::kRcWriteOnlyImm] = {"WRITE Only+Imm", kWrite, kOnly, {kReth, kImmDt}, kAny};
  table[opcode::kRcReadRequest] = {"READ Request", kReadRequest, kOnly, {kReth}, kNone};
  table[opcode::kRcReadResponseFirst] = {"READ Response First", kReadResponse, kFirst, {kAeth}, kFull, kResponse};
  table[opcode::kRcReadResponseMiddle] = {"READ Response Middle", kReadResponse, kMiddle, {}, kFull, kResponse};
  table[opcode::kRcReadResponseLast] = {"READ Response Last", kReadResponse, kLast, {kAeth}, kSome, kResponse};
  table[opcode::kRcReadResponseOnly] = {"READ Response Only", kReadResponse, kOnly, {kAeth}, kAny, kResponse};
  table[opcode::kRcAcknowledge] = {"Acknowledge", kAcknowledge, kOnly, {kAeth}, kNone, kResponse};
  table[opcode::kRcAtomicAcknowledge] = {
      "Atomic Acknowledge", kAtomicAcknowledge, kOnly, {kAeth, kAtomicAckEth}, kNone, kResponse};
  table[opcode::kRcCompareSwap] = {"CmpSwap", kCompareSwap, kOnly, {kAtomicEth}, kNone};
  table[opcode::kRcFetchAdd] = {"FetchAdd", kFetchAdd, kOnly, {kAtomicEth}, kNone};
  table[opcode::kRcSendLastInvalidate] = {"SEND Last+Inv", kSend, kLast, {kIeth}, kSome};
  table[opcode::kRcSendOnlyInvalidate] = {"SEND Only+Inv", kSend, kOnly, {kIeth}, kAny};
  table[opcode::kRcFlush] = {"FLUSH", kFlush, kOnly, {kFeth, kReth}, kNone};
  table[opcode::kRcAtomicWrite] = {"ATOMIC WRITE", kAtomicWrite, kOnly, {kReth}, kEight};

  // UC sends and writes as RC does.
  for (std::size_t operation = opcode::kRcSendFirst; operation <= opcode::kRcWriteOnlyImm; ++operation)
    table[opcode::kUc | operation] = table[operation];
  // XRC does what RC does, up to SEND Only with Invalidate; its requests carry an XRCETH.
  for (std::size_t operation = opcode::kRcSendFirst; operation <= opcode::kRcSendOnlyInvalidate; ++operation) {
    OpcodeInfo& xrc = table[opcode::kXrc | operation];
    xrc = table[operation];
    if (xrc.known() && !xrc.response) xrc.headers = xrc.headers.with(kXrcEth);
  }
  // RC with selective repeat does what RC does, but for FLUSH and ATOMIC WRITE.
  for (std::size_t operation = opcode::kRcSendFirst; operation <= opcode::kRcSendOnlyInvalidate; ++operation) {
    OpcodeInfo& selective = table[kSelectiveRepeat | operation];
    selective = table[operation];
    if (selective.operation == kSend || selective.operation == kWrite)
      selective.headers = selective.headers.with(Header::kSrEth);
    if (selective.operation == kWrite) selective.headers = selective.headers.with(kReth);
    if (selective.operation == kAcknowledge) selective.headers = selective.headers.with(kSackEth);
  }
  table[opcode::kUdSendOnly] = {"SEND Only", kSend, kOnly, {kDeth}, kAny};
  table[opcode::kUdSendOnlyImm] = {"SEND Only+Imm", kSend, kOnly, {kDeth, kImmDt}, kAny};
  table[opcode::kCnp] = {"CNP", kCnp, kOnly, {kCnpReserved}, kNone, kResponse};

  for (OpcodeInfo& info : table)
    if (info.known()) info.header_octets = static_cast<std::uint8_t>(wire::Bth::kOctets + info.headers.octets());
  return table;
}

}  // namespace detail

inline constexpr std::array<OpcodeInfo, 256> kOpcodes = detail::make_opcodes();

// "RC", "UC", "UD", "XRC", "RC-SR" (selective repeat); "" for a CNP and for what is neither.
constexpr std::string_view transport_name(std::uint8_t opcode) noexcept {
  switch (opcode & opcode::kTransportMask) {
    case opcode::kRc:
      return "RC";
    case opcode::kUc:
      return "UC";
    case opcode::kUd:
      return "UD";
    case opcode::kXrc:
      return "XRC";
    case kSelectiveRepeat:
      return "RC-SR";
    default:
      return "";
  }
}

// Whether a packet of an opcode with `rule` may carry `octets` of payload at a path MTU (UD: a port MTU) of `path_mtu`.
constexpr bool payload_fits(PayloadRule rule, std::size_t octets, std::size_t path_mtu) noexcept {
  switch (rule) {
    case PayloadRule::kNone:
      return octets == 0;
    case PayloadRule::kFull:
      return octets == path_mtu;
    case PayloadRule::kSome:
      return octets >= 1 && octets <= path_mtu;
    case PayloadRule::kAny:
      return octets <= path_mtu;
    case PayloadRule::kEight:
      return octets == 8;
  }
  return false;
}

// Pad octets behind `payload` octets: what makes them a multiple of 4 (roce-and-lossless §2.4).
constexpr std::uint8_t pad_octets(std::size_t payload) noexcept {
  return static_cast<std::uint8_t>((4 - payload % 4) % 4);
}

}  // namespace railyard::roce
