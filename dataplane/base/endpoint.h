// The seam between a NIC and what generates its traffic: a transport engine, the traffic generator, a replayed capture.
// Sans-IO: an endpoint owns no thread, socket or clock. No DPDK here; transports/ implements this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/ids.h"
#include "dataplane/base/payload_ref.h"
#include "dataplane/base/time.h"

namespace railyard {

// The most header octets a frame may have in front of its payload.
inline constexpr std::size_t kMaxHeaderOctets = 192;

// A frame for the NIC to send. The NIC sets `header`; the endpoint writes the frame's octets there from the Ethernet
// header to the last one before the payload, and fills the rest.
struct TxFrame {
  std::byte* header = nullptr;      // room for kMaxHeaderOctets
  std::uint16_t header_octets = 0;  // how many were written
  // Octets after the payload that belong to the frame and are made by the NIC: 4 asks for a RoCEv2 ICRC, else 0.
  std::uint8_t trailer_octets = 0;
  // Frames with the same number carry the same addresses, ports, destination QP, VLAN and traffic class octet, so that
  // the NIC parses the first one only. kNoFlow: parse each.
  std::uint32_t flow = kNoFlow;
  PayloadRef payload;

  static constexpr std::uint32_t kNoFlow = ~std::uint32_t{0};
};

// A frame that has arrived.
struct RxFrame {
  Instant at;    // when it took effect at this NIC
  Instant sent;  // when its first octet left the first NIC (a hardware time stamp)
  std::span<const std::byte> header;
  PayloadRef payload;  // what follows the header, without the ICRC where the NIC made one
};

// What a NIC port drives. All instants are modelled time.
//
// An endpoint keeps its own timers in order: before it looks at a frame or answers a question it first does what fell
// due before that instant. Then it does not matter in which portions time passes.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // The classes in which at least one frame could start at `now` or earlier.
  virtual PriorityMask ready(Instant now) = 0;

  // The earliest instant after `now` at which ready() may grow by itself (pacing, timers); Instant::never() if none.
  // Called only when ready(now) & ~paused is 0.
  virtual Instant next_ready(Instant now) = 0;

  // Up to `frames.size()` frames of class `priority` to be sent back to back from `now` on; returns how many. Asked for
  // classes in ready(now) only. Frames that are returned are sent, in this order within the class.
  virtual std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) = 0;

  // Frames that arrived, in order. Octets and payload are valid during the call only.
  virtual void receive(std::span<const RxFrame> frames) = 0;
};

}  // namespace railyard
