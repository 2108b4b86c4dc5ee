// The in-band telemetry that a packet carries on the wire for its congestion control (base/path_telemetry.h). The NICs
// at both ends and the switches that add to it know of it; the int_stack.h of sampled packets is for users.
//
// It lies behind the last real octet of a packet, where there is room for all hops from the start.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/path_telemetry.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// Of a packet that has real octets or none besides its headers.
inline std::size_t real_octets_of(const Packet& p) noexcept {
  return p.header_octets + (p.has(Packet::kElided) ? std::size_t{0} : std::size_t{p.payload_octets});
}
inline std::byte* telemetry_at(Packet& p) noexcept { return p.header() + real_octets_of(p); }
inline const std::byte* telemetry_at(const Packet& p) noexcept { return p.header() + real_octets_of(p); }

// All that `p` carries. Only if p.telemetry.
inline PathTelemetry telemetry_of(const Packet& p) noexcept { return PathTelemetry::read(telemetry_at(p)); }
// Its octets of the frame; of any packet.
inline std::uint32_t telemetry_wire_octets(const Packet& p) noexcept {
  if (p.telemetry == 0) [[likely]]
    return 0;
  return PathTelemetry::wire_octets(static_cast<std::uint32_t>(std::to_integer<std::uint8_t>(*telemetry_at(p))));
}

// `p`, which is complete and carries none, carries `telemetry` from now on; its frame grows by that. There is room for
// PathTelemetry::kMostOctets behind its octets.
inline void carry_telemetry(Packet& p, const PathTelemetry& telemetry) noexcept {
  telemetry.write(telemetry_at(p));
  p.frame_octets += telemetry.wire_octets();
  p.telemetry = 1;
}

// A switch adds its port, whose share of pathID is `path`. Returns by how many octets the frame has grown: 0 if it has
// no more room, or is an echo.
inline std::uint32_t add_telemetry(Packet& p, const HopTelemetry& hop, std::uint16_t path) noexcept {
  std::byte* const at = telemetry_at(p);
  PathTelemetry head;
  std::memcpy(static_cast<void*>(&head), at, PathTelemetry::kHeadOctets);
  if (head.echo != 0 || head.hops >= PathTelemetry::kMostHops) return 0;
  std::memcpy(at + head.octets(), &hop, sizeof hop);
  ++head.hops;
  head.path ^= path;
  std::memcpy(at, &head, PathTelemetry::kHeadOctets);
  p.frame_octets += PathTelemetry::kWireHopOctets;
  return PathTelemetry::kWireHopOctets;
}

// Takes it away, before the octets that it lies behind change.
inline void drop_telemetry(Packet& p) noexcept {
  p.frame_octets -= telemetry_wire_octets(p);
  p.telemetry = 0;
}

}  // namespace railyard
