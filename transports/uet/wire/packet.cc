#include "transports/uet/wire/packet.h"

#include <algorithm>

#include "dataplane/base/assert.h"

namespace railyard::uet {

std::expected<Packet, Malformed> decode(std::span<const std::byte> octets, std::size_t packet_octets,
                                        const Dialect& dialect) noexcept {
  octets = octets.first(std::min(octets.size(), packet_octets));
  const auto pds = decode_pds(octets, dialect);
  if (!pds) return std::unexpected(pds.error());
  const auto ses = decode_ses(next_hdr(*pds), octets.subspan(uet::octets(*pds)), dialect);
  if (!ses) return std::unexpected(ses.error());
  Packet packet{.pds = *pds, .ses = *ses};
  packet.payload_octets = static_cast<std::uint32_t>(packet_octets - packet.header_octets());
  return packet;
}

std::size_t encode_headers(std::span<std::byte> out, const Packet& packet, const Dialect& dialect) noexcept {
  RAILYARD_ASSERT(form(packet.ses) == next_hdr(packet.pds), "a PDS header announces the SES header behind it");
  const std::size_t octets = packet.header_octets();
  if (out.size() < octets) return 0;
  const std::size_t pds = encode_pds(out, packet.pds);
  encode_ses(out.subspan(pds), packet.ses, dialect);
  return octets;
}

bool has_right_length(const Packet& packet, std::size_t payload_mtu) noexcept {
  const auto expected = expected_payload(packet.ses, payload_mtu);
  return !expected || *expected == packet.payload_octets;
}

}  // namespace railyard::uet
