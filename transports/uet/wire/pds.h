// The header of the packet delivery sublayer (PDS), whichever it is: UET page §2, §3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <variant>

#include "transports/uet/wire/dialect.h"
#include "transports/uet/wire/malformed.h"
#include "transports/uet/wire/pds_ack.h"
#include "transports/uet/wire/pds_connectionless.h"
#include "transports/uet/wire/pds_cp.h"
#include "transports/uet/wire/pds_nack.h"
#include "transports/uet/wire/pds_request.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

// Of each header those values count that its type and flags call for; the others are as constructed.
using Pds = std::variant<PdsRequestValues, PdsAckValues, PdsNackValues, PdsCpValues, PdsRudiValues, PdsUudValues>;

// The most octets a PDS header has.
inline constexpr std::size_t kMostPdsOctets = PdsAckCcx::kOctets;

PdsType type(const Pds& pds) noexcept;
// kNone of NACK and CP.
NextHdr next_hdr(const Pds& pds) noexcept;
std::size_t octets(const Pds& pds) noexcept;

// Whether a PDS header of this type may say that `next` follows: UET page §2, §3.
bool allowed_after(PdsType type, NextHdr next) noexcept;

// The PDS header at the beginning of `packet`, octets(*pds) long. Reserved bits are ignored. What follows is not looked
// at, so this is also what is left of a trimmed packet.
[[nodiscard]] std::expected<Pds, Malformed> decode_pds(std::span<const std::byte> packet,
                                                       const Dialect& dialect = kStandard) noexcept;
// The same, into `pds`, which holds nothing of use if this returns why it could not.
[[nodiscard]] std::optional<Malformed> decode_pds_into(std::span<const std::byte> packet, Pds& pds,
                                                       const Dialect& dialect = kStandard) noexcept;

// Writes it; returns its octets, 0 if they do not fit `out`. Values fit their fields; type and next_hdr go together.
std::size_t encode_pds(std::span<std::byte> out, const Pds& pds) noexcept;

}  // namespace railyard::uet
