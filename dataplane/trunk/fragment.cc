#include "dataplane/trunk/fragment.h"

#include <algorithm>
#include <cstring>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

using wire::Ethernet;
using wire::read;
using wire::write;

constexpr std::size_t kInFront = Ethernet::kOctets + TrunkFragmentHeader::kOctets;

// `octets` of a message from its octet `from` on.
void copy_piece(std::byte* out, const TrunkDatagram& message, std::size_t from, std::size_t octets) noexcept {
  const std::size_t of_head = from < message.head.size() ? std::min(octets, message.head.size() - from) : 0;
  if (of_head > 0) std::memcpy(out, message.head.data() + from, of_head);
  if (octets > of_head)
    std::memcpy(out + of_head, message.body.data() + (from + of_head - message.head.size()), octets - of_head);
}

}  // namespace

std::size_t trunk_carrier_octets(std::uint32_t fragment_octets) noexcept {
  return std::max(kInFront + fragment_octets, wire::kMinFrameOctets);
}

void write_trunk_carrier(std::span<std::byte> out, const TrunkCarrier& head, const TrunkDatagram& message) noexcept {
  const TrunkFragment& f = head.fragment;
  write<Ethernet::Destination>(out.data(), head.destination);
  write<Ethernet::Source>(out.data(), head.source);
  write<Ethernet::EtherType>(out.data(), kTrunkEtherType);
  std::byte* const h = out.data() + Ethernet::kOctets;
  write<TrunkFragmentHeader::Subtype>(h, TrunkFragmentHeader::kSubtype);
  write<TrunkFragmentHeader::Version>(h, TrunkFragmentHeader::kVersion);
  write<TrunkFragmentHeader::Index>(h, static_cast<std::uint8_t>(f.index));
  write<TrunkFragmentHeader::Message>(h, f.message);
  write<TrunkFragmentHeader::MessageOctets>(h, static_cast<std::uint16_t>(f.cut.message_octets));
  write<TrunkFragmentHeader::Piece>(h, static_cast<std::uint16_t>(f.cut.piece));
  const std::uint32_t octets = f.cut.octets(f.index);
  copy_piece(out.data() + kInFront, message, std::size_t{f.index} * f.cut.piece, octets);
  const std::size_t end = kInFront + octets;
  if (out.size() > end) std::memset(out.data() + end, 0, out.size() - end);
}

std::expected<TrunkCarrier, TrunkError> parse_trunk_carrier(std::span<const std::byte> frame) noexcept {
  constexpr std::unexpected kForeign(TrunkError::kForeign);
  if (frame.size() < kInFront) return kForeign;
  TrunkCarrier c;
  c.destination = read<Ethernet::Destination>(frame.data());
  c.source = read<Ethernet::Source>(frame.data());
  std::uint16_t type = read<Ethernet::EtherType>(frame.data());
  auto rest = frame.subspan(Ethernet::kOctets);
  if (type == wire::ether_type::kVlan) {  // put in by a switch on the way
    if (frame.size() < kInFront + wire::Vlan::kOctets || read<wire::Vlan::VID>(rest.data()) != 0) return kForeign;
    type = read<wire::Vlan::EtherType>(rest.data());
    rest = rest.subspan(wire::Vlan::kOctets);
  }
  const std::byte* const h = rest.data();
  if (type != kTrunkEtherType || read<TrunkFragmentHeader::Subtype>(h) != TrunkFragmentHeader::kSubtype)
    return kForeign;
  if (read<TrunkFragmentHeader::Version>(h) != TrunkFragmentHeader::kVersion)
    return std::unexpected(TrunkError::kVersion);
  TrunkFragment& f = c.fragment;
  f.message = read<TrunkFragmentHeader::Message>(h);
  f.index = read<TrunkFragmentHeader::Index>(h);
  f.cut = {read<TrunkFragmentHeader::MessageOctets>(h), read<TrunkFragmentHeader::Piece>(h)};
  constexpr std::unexpected kMalformed(TrunkError::kMalformed);
  if (f.cut.message_octets == 0 || f.cut.message_octets > kMostTrunkMessageOctets || f.cut.piece == 0 ||
      f.cut.piece > f.cut.message_octets || f.cut.fragments() > kMostTrunkFragments || f.index >= f.cut.fragments())
    return kMalformed;
  const auto behind = rest.subspan(TrunkFragmentHeader::kOctets);
  if (behind.size() < f.cut.octets(f.index)) return kMalformed;
  f.octets = behind.first(f.cut.octets(f.index));
  return c;
}

}  // namespace railyard
