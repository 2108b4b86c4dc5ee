// A packet inside the fabric: an rte_mbuf whose private area holds what devices need to know about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/payload_ref.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/credit_stamp.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"

struct rte_mbuf;

namespace railyard {

using wire::FrameKind;

// The metadata is one cache line; the header octets follow in the next one, so that a hop touches two lines of a packet
// and none of the mbuf proper (its fields are made right only where a packet leaves for a DPDK port).
//
// Every packet has exactly one owner: the device that holds it, or the channel it is in. Headers are never shared.
struct alignas(64) Packet {
  // Payload identity. For frames from outside: the attachment and the frame's number there.
  std::uint64_t stream;
  std::uint64_t offset;
  Instant sent;                  // when the first octet left the first NIC
  std::uint32_t payload_octets;  // octets behind the headers, without trailer
  std::uint32_t frame_octets;    // the whole frame with FCS, without preamble and gap
  Fec fec;                       // destination; kNoFec: no prefix of the fabric covers it
  // Parts of the flow key, hashed once at the edge; every switch mixes them with its own seed.
  std::uint32_t address_hash;    // source, destination, protocol
  std::uint32_t transport_hash;  // source and destination port
  std::uint32_t entropy;         // BTH DestQP; kUetEntropy | entropy value of a UET packet; 0 of others
  std::uint16_t header_at;       // distance from this object to the first octet of the frame
  std::uint16_t header_octets;   // octets that are real and contiguous there, up to the payload
  std::uint8_t l3_offset;        // from the first octet of the frame
  FrameKind kind;
  std::uint8_t flags;
  std::uint8_t traffic_class_octet;  // IPv4 TOS / IPv6 traffic class: DSCP << 2 | ECN, kept equal to the header
  std::uint8_t pcp : 3;              // of the 802.1Q tag; 0 without one
  std::uint8_t telemetry : 1;        // 1: carries its path's load to its congestion control (carried_telemetry.h)
  WorkerId home;                     // whose pool it came from
  std::uint16_t vid : 12;            // of the 802.1Q tag; 0 without one
  std::uint16_t trimmed : 1;         // 1: was cut to its headers on the way (trim.h)
  std::uint16_t sampled : 1;         // 1: hops note what they know of it (int_stack.h)
  std::uint16_t generated : 1;       // 1: of a traffic generator: headers like RoCEv2's, and no RDMA transport's
  std::uint16_t copied : 1;          // 1: a fault of a link has made it of another packet
  CreditStamp credits;               // at the receiver of a link with credit-based flow control

  enum Flag : std::uint8_t {
    kElided = 1,       // payload is synthetic: (stream, offset, payload_octets) stand for it
    kTagged = 2,       // carries an 802.1Q tag
    kIcrcPending = 4,  // the last 4 octets are an ICRC that is computed when somebody looks (nothing it covers changes)
    kFcsBad = 8,       // the FCS will be found wrong by the next MAC
    kRealPool = 16,    // came from the pool with room for payload
    kFromPort = 32,    // came from a DPDK port: goes back to that port's mempool
    kMarkedHere = 64,  // the device that holds it set CE on it; for taps
    kCorrupted = 128,  // a bit of the payload is not what was sent, and the FCS is right (corruption.h)
  };
  static constexpr std::uint32_t kUetEntropy = std::uint32_t{1} << 31;
  bool has(Flag f) const noexcept { return (flags & f) != 0; }
  // Of RoCEv2 or UET, by a built-in NIC's transport or from outside.
  bool is_rdma() const noexcept { return entropy != 0 && generated == 0; }

  std::byte* header() noexcept { return reinterpret_cast<std::byte*>(this) + header_at; }
  const std::byte* header() const noexcept { return reinterpret_cast<const std::byte*>(this) + header_at; }
  std::byte* l3() noexcept { return header() + l3_offset; }
  const std::byte* l3() const noexcept { return header() + l3_offset; }
  std::span<const std::byte> header_span() const noexcept { return {header(), header_octets}; }
  // What follows the headers. Real octets are contiguous with them: ports linearise what comes in pieces.
  PayloadRef payload() const noexcept {
    return {stream, offset, payload_octets, has(kElided) ? nullptr : header() + header_octets};
  }
};
static_assert(sizeof(Packet) == 64 && std::is_trivially_copyable_v<Packet>);

// minFrameSize of IEEE 802.3 §4.4.2, with FCS, as frame_octets counts.
inline constexpr std::uint32_t kLeastFrameOctets = wire::kMinFrameOctets + wire::kFcsOctets;

// Headers start here in a packet that we make: Ethernet, IPv4, UDP and BTH (54 octets) then end with the cache line,
// and there is room in front for an 802.1Q tag.
inline constexpr std::uint16_t kHeaderAt = sizeof(Packet) + 10;

// Where the header of a packet will begin that has just been allocated, or will be next.
inline std::byte* fresh_header(Packet* packet) noexcept { return reinterpret_cast<std::byte*>(packet) + kHeaderAt; }

// The mbuf that a packet lives in, and back.
rte_mbuf* mbuf_of(Packet* packet) noexcept;
Packet* packet_of(rte_mbuf* mbuf) noexcept;

}  // namespace railyard
