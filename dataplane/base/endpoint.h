// The seam between a NIC and what generates its traffic: a transport engine, the traffic generator, a replayed capture.
// Sans-IO: an endpoint owns no thread, socket or clock. No DPDK here; transports/ implements this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/ids.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/payload_ref.h"
#include "dataplane/base/time.h"

namespace railyard {

// The most header octets a frame may have in front of its payload.
inline constexpr std::size_t kMaxHeaderOctets = 192;
// Octets of a MAC control frame without FCS: the least that Ethernet has (IEEE 802.3 annex 31A).
inline constexpr std::size_t kControlOctets = 60;

// The 802.1Q tag that a NIC puts into a frame that an endpoint has written without one.
struct FrameTag {
  static constexpr std::int16_t kOfNic = -1;      // what the NIC is set to: mostly none
  static constexpr std::int16_t kAsWritten = -2;  // none: the frame leaves as it was written, with a tag or without
  static constexpr std::int8_t kOfClass = -1;     // the PCP that the NIC has for the frame's class

  std::int16_t vid = kOfNic;  // or 0..4094; 0: a priority tag
  std::int8_t pcp = kOfClass;  // or 0..7

  bool operator==(const FrameTag&) const = default;
};

// A frame for the NIC to send. The NIC sets `header`; the endpoint writes the frame's octets there from the Ethernet
// header to the last one before the payload, and fills the rest.
struct TxFrame {
  std::byte* header = nullptr;      // room for kMaxHeaderOctets
  std::uint16_t header_octets = 0;  // how many were written
  // Octets after the payload that belong to the frame and are made by the NIC: 4 asks for a RoCEv2 ICRC, or behind other
  // headers than RoCEv2's for the CRC-32C of UET; 5..7 for an ICRC behind 1..3 octets of padding, else 0. The receiver
  // finds the padding in the payload.
  std::uint8_t trailer_octets = 0;
  // Frames with the same number carry the same addresses, ports, destination QP, VLAN and traffic class octet, so that
  // the NIC parses the first one only. UET packets may differ in their entropy value, in the UDP source port (to
  // wire::kUetPort) or in the entropy header, if that is directly behind IP. kNoFlow: parse each.
  std::uint32_t flow = kNoFlow;
  FrameTag tag{};  // the NIC sets it to that of its own before it asks for frames
  PayloadRef payload;
  // In-band telemetry that the frame begins with; nullptr: none. It holds until the next send().
  const PathTelemetry* telemetry = nullptr;

  static constexpr std::uint32_t kNoFlow = ~std::uint32_t{0};
};

// A frame that has arrived.
struct RxFrame {
  Instant at;    // when it took effect at this NIC
  Instant sent;  // when its first octet left the first NIC (a hardware time stamp)
  std::span<const std::byte> header;
  PayloadRef payload;  // what follows the header
  bool icrc_pending;   // the frame ends in such a CRC that is right and was not computed: it is not in `payload`
  bool trimmed = false;  // cut by a switch: the payload is not all there, and there is no ICRC
  bool copied = false;   // a fault of a link has made it of another frame
  bool telemetry = false;  // path_telemetry() is there
  bool corrupted = false;  // of payload that is a promise: an octet changed on the way, and no FCS says so

  // What switches have added to the frame's in-band telemetry. It is not among the octets of header and payload.
  PathTelemetry path_telemetry() const noexcept {
    return PathTelemetry::read(payload.bytes != nullptr ? payload.bytes + payload.octets
                                                        : header.data() + header.size());
  }
};

// What an endpoint could send.
struct Readiness {
  PriorityMask classes = 0;           // those in which at least one frame could start now
  Instant until = Instant::never();   // when this may change by itself (pacing, timers); later than now
  bool control = false;               // take_control() has a frame that may start now
};

// What a NIC port drives. All instants are modelled time and never go back.
//
// An endpoint keeps its own timers in order: before it looks at a frame or answers a question it first does what fell
// due up to that instant. Then it does not matter in which portions time passes.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // The answer holds until `until`, until a receive() that returned true, and for a class until a send() that returned
  // fewer frames than were asked for.
  virtual Readiness ready(Instant now) = 0;

  // Up to `frames.size()` frames of class `priority` to be sent back to back from `now` on; returns how many. Frames
  // that are returned are sent, in this order within the class.
  virtual std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) = 0;

  // Frames that arrived, in order. Octets and payload are valid during the call only. Returns whether ready() may have
  // changed.
  virtual bool receive(std::span<const RxFrame> frames) = 0;

  // Writes a MAC control frame that is to be sent at once, before frames of any class, as far as its FCS. False: there
  // is none at `now`.
  virtual bool take_control([[maybe_unused]] Instant now, [[maybe_unused]] std::span<std::byte, kControlOctets> out) {
    return false;
  }

  // Whether frames that come in are to keep their 802.1Q tags; others are handed over as if they never had one.
  virtual bool keeps_tags() const noexcept { return false; }

  // Hints that nothing rests on: a frame comes soon, or frames will be asked for; what that will touch is fetched. One
  // that `queue_pair` is the destination of (0: no RoCEv2), with payload or without.
  virtual void expect_frame(std::uint32_t /*queue_pair*/, bool /*payload*/) const noexcept {}
  virtual void expect_send() const noexcept {}

  // Whether TxFrame::flow is a traffic generator's: frames like RoCEv2's that no RDMA transport sends. Asked once for
  // each flow.
  virtual bool generates(std::uint32_t /*flow*/) const noexcept { return false; }

  // Whether it wants to see frames that are neither UDP nor TCP, too.
  virtual bool takes_everything() const noexcept { return false; }

  // Whether send() hands out PayloadRefs with real octets: the NIC then takes packets that have room for them.
  virtual bool has_real_payload() const noexcept { return false; }
};

}  // namespace railyard
