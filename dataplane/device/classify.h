// From a frame's code points to its traffic class, once per hop (IEEE 802.1Q clause 6.9, RFC 2474).
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/parse.h"

namespace railyard {

// What a port believes. Untagged routed packets have no PCP: data centres trust the DSCP.
enum class Trust : std::uint8_t { kDscp, kPcp };

struct TrustMap {
  Trust trust = Trust::kDscp;
  std::array<std::uint8_t, 64> dscp_to_class;
  std::array<std::uint8_t, 8> pcp_to_class;
  std::uint8_t default_class = 0;  // of frames that have no code point of the trusted kind

  // Class = DSCP >> 3 (26 -> 3, 48 -> 6) and class = PCP.
  constexpr TrustMap() noexcept : dscp_to_class{}, pcp_to_class{} {
    for (std::uint8_t i = 0; i < 64; ++i) dscp_to_class[i] = static_cast<std::uint8_t>(i >> 3);
    for (std::uint8_t i = 0; i < 8; ++i) pcp_to_class[i] = i;
  }

  bool operator==(const TrustMap&) const = default;
};

constexpr bool is_ip(FrameKind kind) noexcept { return kind == FrameKind::kIpv4 || kind == FrameKind::kIpv6; }

inline Priority classify(const TrustMap& map, const Packet& packet) noexcept {
  if (map.trust == Trust::kDscp) [[likely]]
    return Priority{is_ip(packet.kind) ? map.dscp_to_class[packet.traffic_class_octet >> 2] : map.default_class};
  return Priority{packet.has(Packet::kTagged) ? map.pcp_to_class[packet.pcp & 7] : map.default_class};
}

inline Priority classify(const TrustMap& map, const wire::FrameView& view) noexcept {
  if (map.trust == Trust::kDscp)
    return Priority{is_ip(view.kind) ? map.dscp_to_class[view.traffic_class_octet >> 2] : map.default_class};
  return Priority{view.tagged ? map.pcp_to_class[view.pcp] : map.default_class};
}

// (Ingress port, class) -> egress class, for topologies that need it against deadlock (tori, dragonflies). The code
// point is rewritten along with it, else the next hop would undo the change and PFC would name the wrong class.
struct ClassRemap {
  std::array<std::uint8_t, kPriorities> to{0, 1, 2, 3, 4, 5, 6, 7};

  constexpr bool identity() const noexcept {
    for (std::uint8_t c = 0; c < kPriorities; ++c)
      if (to[c] != c) return false;
    return true;
  }
};

}  // namespace railyard
