#include "transports/roce/wire/packet.h"

#include <algorithm>
#include <array>

#include "dataplane/base/assert.h"
#include "transports/roce/wire/syndrome.h"

namespace railyard::roce {
namespace {

// Calls `visit` for each extension header of `headers` in the order of the packet, with the member of `packet` that
// holds its values, and where it lies.
template <class SomePacket, class Visit>
void for_each_header(Headers headers, SomePacket& packet, std::size_t at, Visit visit) noexcept {
  if (headers.none()) return;  // most packets of a long message
  const auto step = [&](Header header, auto& values) {
    if (!headers.has(header)) return;
    visit(at, values);
    at += kHeaderOctets[static_cast<std::size_t>(header)];
  };
  step(Header::kXrcEth, packet.xrc_eth);
  step(Header::kDeth, packet.deth);
  step(Header::kFeth, packet.feth);
  step(Header::kSrEth, packet.sr_eth);
  step(Header::kReth, packet.reth);
  step(Header::kAtomicEth, packet.atomic_eth);
  step(Header::kAeth, packet.aeth);
  step(Header::kSackEth, packet.sack_eth);
  step(Header::kAtomicAckEth, packet.atomic_ack_eth);
  step(Header::kImmDt, packet.imm_dt);
  step(Header::kIeth, packet.ieth);
  step(Header::kCnpReserved, packet.cnp_reserved);
}

struct ReadAt {
  const std::byte* octets;

  void operator()(std::size_t at, XrcEthValues& v) const noexcept { v = read_xrc_eth(octets + at); }
  void operator()(std::size_t at, DethValues& v) const noexcept { v = read_deth(octets + at); }
  void operator()(std::size_t at, FethValues& v) const noexcept { v = read_feth(octets + at); }
  void operator()(std::size_t at, SrEthValues& v) const noexcept { v = read_sr_eth(octets + at); }
  void operator()(std::size_t at, RethValues& v) const noexcept { v = read_reth(octets + at); }
  void operator()(std::size_t at, AtomicEthValues& v) const noexcept { v = read_atomic_eth(octets + at); }
  void operator()(std::size_t at, AethValues& v) const noexcept { v = read_aeth(octets + at); }
  void operator()(std::size_t at, SackEthValues& v) const noexcept { v = read_sack_eth(octets + at); }
  void operator()(std::size_t at, AtomicAckEthValues& v) const noexcept { v = read_atomic_ack_eth(octets + at); }
  void operator()(std::size_t at, ImmDtValues& v) const noexcept { v = read_imm_dt(octets + at); }
  void operator()(std::size_t at, IethValues& v) const noexcept { v = read_ieth(octets + at); }
  void operator()(std::size_t at, CnpReserved& v) const noexcept { std::copy_n(octets + at, v.size(), v.begin()); }
};

struct WriteAt {
  std::byte* octets;

  void operator()(std::size_t at, const XrcEthValues& v) const noexcept { write_xrc_eth(octets + at, v); }
  void operator()(std::size_t at, const DethValues& v) const noexcept { write_deth(octets + at, v); }
  void operator()(std::size_t at, const FethValues& v) const noexcept { write_feth(octets + at, v); }
  void operator()(std::size_t at, const SrEthValues& v) const noexcept { write_sr_eth(octets + at, v); }
  void operator()(std::size_t at, const RethValues& v) const noexcept { write_reth(octets + at, v); }
  void operator()(std::size_t at, const AtomicEthValues& v) const noexcept { write_atomic_eth(octets + at, v); }
  void operator()(std::size_t at, const AethValues& v) const noexcept { write_aeth(octets + at, v); }
  void operator()(std::size_t at, const SackEthValues& v) const noexcept { write_sack_eth(octets + at, v); }
  void operator()(std::size_t at, const AtomicAckEthValues& v) const noexcept { write_atomic_ack_eth(octets + at, v); }
  void operator()(std::size_t at, const ImmDtValues& v) const noexcept { write_imm_dt(octets + at, v); }
  void operator()(std::size_t at, const IethValues& v) const noexcept { write_ieth(octets + at, v); }
  void operator()(std::size_t at, const CnpReserved& v) const noexcept { std::ranges::copy(v, octets + at); }
};

}  // namespace

std::string_view name(Malformed reason) noexcept {
  constexpr std::array<std::string_view, kMalformedReasons> kNames{
      "too_short",   "bad_version",       "unknown_opcode",    "headers_cut",
      "bad_padding", "reserved_syndrome", "bad_payload_length"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::optional<Malformed> decode(std::span<const std::byte> octets, std::size_t datagram_octets,
                                Packet& packet) noexcept {
  using enum Malformed;
  octets = octets.first(std::min(octets.size(), datagram_octets));
  if (octets.size() < wire::Bth::kOctets || datagram_octets < wire::Bth::kOctets + wire::kIcrcOctets) return kTooShort;
  if (wire::read<wire::Bth::TVer>(octets.data()) != 0) return kBadVersion;

  packet.bth = read_bth(octets.data());
  const OpcodeInfo& info = packet.info();
  // Before anything is computed from the opcode's header length: a reserved one has none.
  if (!info.known()) return kUnknownOpcode;
  const std::size_t headers = packet.header_octets();
  if (octets.size() < headers || datagram_octets < headers + wire::kIcrcOctets) return kHeadersCut;
  const std::size_t behind = datagram_octets - headers - wire::kIcrcOctets;
  if (behind < packet.bth.pad_cnt) return kBadPadding;
  packet.payload_octets = static_cast<std::uint32_t>(behind - packet.bth.pad_cnt);

  for_each_header(info.headers, packet, wire::Bth::kOctets, ReadAt{octets.data()});
  if (info.headers.has(Header::kAeth) && parse_syndrome(packet.aeth.syndrome).type == SyndromeType::kReserved)
    return kReservedSyndrome;
  return std::nullopt;
}

std::expected<Packet, Malformed> decode(std::span<const std::byte> octets, std::size_t datagram_octets) noexcept {
  std::expected<Packet, Malformed> packet;
  if (const auto bad = decode(octets, datagram_octets, *packet)) return std::unexpected(*bad);
  return packet;
}

std::size_t encode_headers(std::span<std::byte> out, const Packet& packet) noexcept {
  if (!packet.info().known() || out.size() < packet.header_octets()) return 0;
  write_bth(out.data(), packet.bth);
  for_each_header(packet.info().headers, packet, wire::Bth::kOctets, WriteAt{out.data()});
  return packet.header_octets();
}

std::size_t encode(std::span<std::byte> out, const Packet& packet, std::span<const std::byte> payload) noexcept {
  RAILYARD_ASSERT(payload.size() == packet.payload_octets, "a packet's payload is as long as the packet says");
  const std::size_t octets = packet.header_octets() + payload.size() + packet.bth.pad_cnt;
  if (out.size() < octets) return 0;
  const std::size_t headers = encode_headers(out, packet);
  if (headers == 0) return 0;
  std::byte* const end = std::ranges::copy(payload, out.data() + headers).out;
  std::fill_n(end, packet.bth.pad_cnt, std::byte{0});
  return octets;
}

}  // namespace railyard::roce
