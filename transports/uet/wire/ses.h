// The header of the semantic sublayer (SES), whichever it is, with its extensions: UET page §4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <variant>

#include "transports/uet/wire/dialect.h"
#include "transports/uet/wire/malformed.h"
#include "transports/uet/wire/ses_request.h"
#include "transports/uet/wire/ses_response.h"

namespace railyard::uet {

// std::monostate behind a PDS header with next_hdr NONE. Of each header those values count that its form and opcode
// call for; the others are as constructed.
using Ses = std::variant<std::monostate, SesRequestValues, SesResponseValues>;

// The most octets an SES header has, with its extension.
inline constexpr std::size_t kMostSesOctets = SesStd::kOctets + CompareAndSwapExt::kOctets;

// The next_hdr that announces it.
NextHdr form(const Ses& ses) noexcept;
std::size_t octets(const Ses& ses) noexcept;

// The SES header `form` at the beginning of `packet`, octets(*ses) long. Reserved bits are ignored. Opcodes, return
// codes and versions that are reserved are no error here: a target answers them. kHeadersCut; kBadNextHdr of a reserved
// `form`.
[[nodiscard]] std::expected<Ses, Malformed> decode_ses(NextHdr form, std::span<const std::byte> packet,
                                                       const Dialect& dialect = kStandard) noexcept;
// The same, into `ses`, which holds nothing of use if this returns why it could not.
[[nodiscard]] std::optional<Malformed> decode_ses_into(NextHdr form, std::span<const std::byte> packet, Ses& ses,
                                                       const Dialect& dialect = kStandard) noexcept;

// Writes it; returns its octets, 0 if they do not fit `out` (or there are none). Values fit their fields.
std::size_t encode_ses(std::span<std::byte> out, const Ses& ses, const Dialect& dialect = kStandard) noexcept;

// How many octets of payload the packet of a header has to have at this Payload MTU (UET page §1.5, §4.2), if that can
// be said: not of NO_OP, of vendors' and reserved opcodes.
std::optional<std::size_t> expected_payload(const Ses& ses, std::size_t payload_mtu) noexcept;
std::optional<std::size_t> expected_payload(const SesRequestValues& request, std::size_t payload_mtu) noexcept;

}  // namespace railyard::uet
