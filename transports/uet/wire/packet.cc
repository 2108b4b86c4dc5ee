#include "transports/uet/wire/packet.h"

#include <algorithm>

#include "dataplane/base/assert.h"

namespace railyard::uet {

std::optional<Malformed> decode_into(std::span<const std::byte> octets, std::size_t packet_octets, Packet& packet,
                                     const Dialect& dialect) noexcept {
  octets = octets.first(std::min(octets.size(), packet_octets));
  if (const auto bad = decode_pds_into(octets, packet.pds, dialect)) return bad;
  const std::size_t pds = uet::octets(packet.pds);
  if (const auto bad = decode_ses_into(next_hdr(packet.pds), octets.subspan(pds), packet.ses, dialect)) return bad;
  packet.payload_octets = static_cast<std::uint32_t>(packet_octets - pds - uet::octets(packet.ses));
  return {};
}

std::expected<Packet, Malformed> decode(std::span<const std::byte> octets, std::size_t packet_octets,
                                        const Dialect& dialect) noexcept {
  std::expected<Packet, Malformed> packet;
  if (const auto bad = decode_into(octets, packet_octets, *packet, dialect)) packet = std::unexpected(*bad);
  return packet;
}

std::size_t encode_headers(std::span<std::byte> out, const Packet& packet, const Dialect& dialect) noexcept {
  RAILYARD_ASSERT(form(packet.ses) == next_hdr(packet.pds), "a PDS header announces the SES header behind it");
  // Who has room for any packet need not count this one's octets beforehand.
  if (out.size() < kMostPacketHeaderOctets && out.size() < packet.header_octets()) return 0;
  const std::size_t pds = encode_pds(out, packet.pds);
  return pds + encode_ses(out.subspan(pds), packet.ses, dialect);
}

bool runs_on(const Packet& packet) noexcept {
  if (packet.payload_octets == 0 || std::holds_alternative<SesRequestValues>(packet.ses)) return false;
  const auto* const response = std::get_if<SesResponseValues>(&packet.ses);
  return response == nullptr || response->form == NextHdr::kResponse;
}

bool has_right_length(const Packet& packet, std::size_t payload_mtu) noexcept {
  const auto expected = expected_payload(packet.ses, payload_mtu);
  return !expected || *expected == packet.payload_octets;
}

}  // namespace railyard::uet
