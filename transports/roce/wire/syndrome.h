// The syndrome of an AETH, IBTA Vol 1 §9.7.5.1 (roce-and-lossless §5.6): ACK with credits, RNR NAK with a delay, NAK
// with a code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dataplane/base/time.h"

namespace railyard::roce {

// Bits 6:5 of the octet; bit 7 is 0.
enum class SyndromeType : std::uint8_t { kAck = 0, kRnrNak = 1, kReserved = 2, kNak = 3 };

// What a NAK complains of. Codes 5..31 are reserved.
enum class NakCode : std::uint8_t {
  kPsnSequenceError = 0,
  kInvalidRequest = 1,
  kRemoteAccessError = 2,
  kRemoteOperationalError = 3,
  kInvalidRdRequest = 4
};

struct Syndrome {
  SyndromeType type = SyndromeType::kAck;
  std::uint8_t value = 0;  // 0..31: credit code, RNR timer code or NAK code

  bool operator==(const Syndrome&) const = default;

  static constexpr Syndrome ack(std::uint8_t credit_code) noexcept { return {SyndromeType::kAck, credit_code}; }
  static constexpr Syndrome rnr_nak(std::uint8_t timer_code) noexcept { return {SyndromeType::kRnrNak, timer_code}; }
  static constexpr Syndrome nak(NakCode code) noexcept { return {SyndromeType::kNak, static_cast<std::uint8_t>(code)}; }
};

constexpr Syndrome parse_syndrome(std::uint8_t octet) noexcept {
  const auto type = (octet & 0x80) != 0 ? SyndromeType::kReserved : static_cast<SyndromeType>(octet >> 5 & 3);
  return {type, static_cast<std::uint8_t>(octet & 0x1F)};
}
constexpr std::uint8_t to_octet(Syndrome syndrome) noexcept {
  return static_cast<std::uint8_t>(static_cast<unsigned>(syndrome.type) << 5 | syndrome.value);
}

// The credit code of a responder that sets no limit; always so with an SRQ.
inline constexpr std::uint8_t kNoCreditLimit = 31;

namespace detail {
inline constexpr std::array<std::uint16_t, 31> kCredits{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
// In units of 10 us. Code 0 is the longest.
inline constexpr std::array<std::uint32_t, 32> kRnrDelays{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
}  // namespace detail

// How many receive WQEs a credit code 0..31 stands for; nullopt: no limit.
constexpr std::optional<std::uint32_t> credits(std::uint8_t code) noexcept {
  if (code >= detail::kCredits.size()) return std::nullopt;
  return detail::kCredits[code];
}
// The code of the most credits that are not more than `credits`.
constexpr std::uint8_t credit_code(std::uint32_t credits) noexcept {
  std::uint8_t code = 0;
  while (code + 1u < detail::kCredits.size() && detail::kCredits[code + 1u] <= credits) ++code;
  return code;
}

// How long a requester waits at least after an RNR NAK with timer code 0..31.
constexpr Duration rnr_delay(std::uint8_t code) noexcept {
  return Duration{std::int64_t{detail::kRnrDelays[code & 31]} * 10'000'000};
}
// The code of the shortest delay that is not below `least`; 0, the longest, if there is none.
constexpr std::uint8_t rnr_code(Duration least) noexcept {
  for (std::uint8_t code = 1; code < 32; ++code)
    if (rnr_delay(code) >= least) return code;
  return 0;
}

// "PSN sequence error", ...; "reserved" for codes that are.
std::string_view nak_name(std::uint8_t code) noexcept;

}  // namespace railyard::roce
