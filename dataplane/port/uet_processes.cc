#include "dataplane/port/uet_processes.h"

#include "dataplane/base/hash.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "dataplane/wire/uet_pds.h"

namespace railyard {
namespace {

using wire::UetPds;
namespace type = wire::uet_type;

// What a packet says of whom it is for and of whom.
struct Named {
  std::uint8_t type = 0;
  bool syn = false;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  bool has_request = false;
  std::uint32_t pid_on_fep = 0;
  std::uint32_t job_id = 0;
  std::optional<std::uint32_t> initiator{};
};

// Of PDCs: with SPDCID and DPDCID.
bool is_of_pdc(std::uint8_t t) noexcept {
  return (t >= type::kRudReq && t <= type::kRodReq) || (t >= type::kAck && t <= type::kRodCcReq);
}

std::size_t pds_octets(std::uint8_t t) noexcept {
  switch (t) {
    case type::kRudReq:
    case type::kRodReq:
      return UetPds::kOctets;
    case type::kRudCcReq:
    case type::kRodCcReq:
      return UetPds::kOctets + 4;
    case type::kRudiReq:
      return 8;
    case type::kUudReq:
      return 4;
    default:
      return 0;  // no request is behind it
  }
}

// False: too short, or of a type that nobody here has to do with.
bool read_names(std::span<const std::byte> packet, Named& out) noexcept {
  if (packet.size() < UetPds::kPrologueOctets) return false;
  out.type = wire::read<UetPds::Type>(packet.data());
  if (is_of_pdc(out.type)) {
    if (packet.size() < UetPds::kOctets) return false;
    const bool may_syn = pds_octets(out.type) != 0 || out.type == type::kCp;
    out.syn = may_syn && (wire::read<UetPds::Flags>(packet.data()) & wire::kUetSyn) != 0;
    out.spdcid = wire::read<UetPds::SPDCID>(packet.data());
    out.dpdcid = wire::read<UetPds::DPDCID>(packet.data());
  }
  const std::size_t at = pds_octets(out.type);
  const std::uint8_t next = wire::read<UetPds::NextHdr>(packet.data());
  out.has_request = at != 0 && next >= wire::kUetRequestSmall && next <= wire::kUetRequestStd &&
                    packet.size() >= at + wire::UetSesAddress::kOctets;
  if (out.has_request) {
    const std::byte* const ses = packet.data() + at;
    out.pid_on_fep = wire::read<wire::UetSesAddress::PidOnFep>(ses);
    out.job_id = wire::read<wire::UetSesAddress::JobId>(ses);
    if (next == wire::kUetRequestStd && packet.size() >= at + wire::UetSesAddress::kStdOctets)
      out.initiator = wire::read<wire::UetSesAddress::Initiator>(ses);
  }
  return true;
}

// The UET packet in a frame whose IP header is at `l3`, and where it comes from; empty: it is not where it is looked
// for.
std::span<const std::byte> uet_packet(std::span<const std::byte> frame, std::size_t l3,
                                      wire::IpAddress* source = nullptr) noexcept {
  if (frame.size() < l3 + wire::Ipv4::kOctets) return {};
  const std::byte* const ip = frame.data() + l3;
  std::size_t at = 0;
  std::uint8_t protocol = 0;
  if (const auto version = std::to_integer<unsigned>(ip[0]) >> 4; version == 4) {
    at = l3 + std::size_t{4} * (std::to_integer<unsigned>(ip[0]) & 0xF);
    protocol = wire::read<wire::Ipv4::Protocol>(ip);
    if (source != nullptr) *source = wire::IpAddress{wire::read<wire::Ipv4::Source>(ip)};
  } else {
    if (frame.size() < l3 + wire::Ipv6::kOctets) return {};
    at = l3 + wire::Ipv6::kOctets;
    protocol = wire::read<wire::Ipv6::NextHeader>(ip);
    if (source != nullptr) *source = wire::read<wire::Ipv6::Source>(ip);
  }
  if (protocol == wire::ip_protocol::kUdp) {
    at += wire::Udp::kOctets;
  } else if (protocol == wire::ip_protocol::kUetNative) {
    at += wire::UetEntropy::kOctets;
  } else {
    return {};
  }
  return at < frame.size() ? frame.subspan(at) : std::span<const std::byte>{};
}

}  // namespace

UetProcesses::Setup& UetProcesses::setup_of(const wire::IpAddress& source, std::uint16_t spdcid) noexcept {
  return setups_[mix64(source.low() ^ mix64(source.high() + spdcid)) % kSetups];
}

ApplicationProcess* UetProcesses::find(const Packet& packet) noexcept {
  const std::size_t octets =
      packet.header_octets + (packet.has(Packet::kElided) ? std::size_t{0} : packet.payload_octets);
  wire::IpAddress source;
  Named named;
  if (!read_names(uet_packet({packet.header(), octets}, packet.l3_offset, &source), named)) return nullptr;
  if (is_of_pdc(named.type) && !named.syn) return by_block_[named.dpdcid / UetNumbers::kPdcids];
  if (named.has_request) {
    const auto block = static_cast<std::uint8_t>(named.pid_on_fep / UetNumbers::kPids);
    if (named.syn) setup_of(source, named.spdcid) = {source, named.spdcid, block};
    return by_block_[block];
  }
  const Setup& setup = setup_of(source, named.spdcid);
  const bool known = named.syn && setup.spdcid == named.spdcid && named.spdcid != 0 && setup.source == source;
  return known ? by_block_[setup.block] : nullptr;
}

std::optional<bool> may_send_uet(const UetNumbers& numbers, const wire::FrameView& view,
                                 std::span<const std::byte> frame) noexcept {
  if (!view.uet_entropy) return std::nullopt;
  Named named;
  if (!read_names(uet_packet(frame, view.l3_offset), named)) return std::nullopt;
  if (is_of_pdc(named.type)) {
    const bool nack = named.type == type::kNack || named.type == type::kNackCcx;
    if (!numbers.has_pdcid(named.spdcid) && !(nack && named.spdcid == 0)) return false;
  }
  if (!named.has_request) return true;
  return named.job_id == numbers.job_id && (!named.initiator || numbers.has_pid(*named.initiator >> 12));
}

}  // namespace railyard
