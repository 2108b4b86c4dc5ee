#include "dataplane/capture/live_tap.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "dataplane/capture/frame_comments.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/packet/carried_telemetry.h"

namespace railyard {

LiveTap::LiveTap(const LiveTapConfig& config) : config_(config), ring_(config.ring_octets) {}

void LiveTap::see(Instant at, const Packet& packet, const TapNote& note) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (!is_wanted(config_.direction, note) || limit_reached()) return;
  const bool icrc = packet.has(Packet::kIcrcPending);
  const std::uint32_t before_icrc = packet.header_octets + packet.payload_octets;
  const auto whole =
      std::max(before_icrc + (icrc ? std::uint32_t{wire::kIcrcOctets} : 0u), std::uint32_t{wire::kMinFrameOctets});
  const IntStack* const stack = int_stack(packet);
  const auto hops = stack != nullptr ? stack->hops() : std::span<const IntHop>{};
  Record r{.at = at,
           .payload = packet.payload(),
           .note = note,
           .original_octets = whole + telemetry_wire_octets(packet),
           .header_octets = packet.header_octets,
           .hops = static_cast<std::uint32_t>(hops.size()),
           .kind = packet.kind,
           .elided = packet.has(Packet::kElided),
           .icrc = icrc,
           .telemetry = packet.telemetry != 0};
  // The ICRC covers all before it, so a snap length spares work only if it is shorter.
  if (const std::uint32_t kept = config_.snap_octets; kept != 0 && kept <= before_icrc) {
    r.icrc = r.telemetry = false;
    r.header_octets = std::min(r.header_octets, kept);
    r.payload.octets = kept - r.header_octets;
  }
  const std::uint32_t payload_octets = r.elided ? 0 : r.payload.octets;
  const std::size_t in_front = sizeof r + hops.size_bytes();
  const std::size_t behind = r.telemetry ? PathTelemetry::kMostOctets : 0;
  const std::span<std::byte> room = ring_.reserve(in_front + r.header_octets + payload_octets + behind);
  if (room.empty()) return lost_.increment();
  std::memcpy(room.data(), &r, sizeof r);
  if (!hops.empty()) std::memcpy(room.data() + sizeof r, hops.data(), hops.size_bytes());
  // Real payload is contiguous with the headers.
  std::memcpy(room.data() + in_front, packet.header(), r.header_octets + payload_octets);
  if (r.telemetry) telemetry_of(packet).write(room.data() + in_front + r.header_octets + payload_octets);
  ring_.commit();
  captured_.increment();
}

bool LiveTap::read(PcapngBlocks& blocks, PcapngBlocks::InterfaceId interface) {
  const std::span<const std::byte> record = ring_.front();
  if (record.empty()) return false;
  Record r;
  std::memcpy(&r, record.data(), sizeof r);
  std::array<IntHop, IntStack::kMostHops> hops;
  std::memcpy(static_cast<void*>(hops.data()), record.data() + sizeof r, r.hops * sizeof(IntHop));
  const auto octets = record.subspan(sizeof r + r.hops * sizeof(IntHop));
  r.payload.bytes = r.elided ? nullptr : octets.data() + r.header_octets;
  assemble(octets.first(r.header_octets), r.payload, r.icrc, octets_);
  if (r.telemetry)
    append_telemetry(PathTelemetry::read(octets.data() + r.header_octets + (r.elided ? 0 : r.payload.octets)), octets_);
  ring_.pop();
  const FrameComments comments(r.note, r.kind, std::span(hops).first(r.hops));
  const std::span<const std::byte> piece(octets_);
  blocks.add_frame(interface, r.at,
                   is_inbound(r.note) ? PcapngBlocks::Direction::kInbound : PcapngBlocks::Direction::kOutbound,
                   {&piece, 1}, r.original_octets, comments.texts());
  return true;
}

}  // namespace railyard
