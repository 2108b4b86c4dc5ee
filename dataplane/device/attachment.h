// The seam between a NIC and a host outside: whole packets, taken and given in bursts.
#pragma once

#include <cstddef>
#include <span>

#include "dataplane/base/ids.h"
#include "dataplane/device/classify.h"
#include "dataplane/packet/packet.h"

namespace railyard {

class PacketPool;

inline constexpr PriorityMask kAllPriorities = 0xFF;

// What stands behind an attached NIC. The NIC takes from it only while it has room, so a host behind a ring that fills
// up is held back without loss when the fabric pauses it.
class Attachment {
 public:
  virtual ~Attachment() = default;

  // Packets that the outside has sent, up to `packets.size()`; returns how many. Set are: where the frame lies
  // (header_at), header_octets (what is contiguous, enough for all headers), payload_octets (the rest), frame_octets,
  // identity, flags and home. The NIC parses and fills in the rest.
  virtual std::size_t take(PacketPool& pool, std::span<Packet*> packets) = 0;

  // The same, only packets of these classes as the NIC tells them by `trust`: the others have no room. An attachment
  // that has one queue for all of them brings nothing until all have room.
  virtual std::size_t take_of(PriorityMask classes, const TrustMap& trust, PacketPool& pool,
                              std::span<Packet*> packets) {
    static_cast<void>(trust);
    return classes == kAllPriorities ? take(pool, packets) : 0;
  }

  // Hands packets to the outside, in order; returns how many it took. The rest stays with the caller.
  virtual std::size_t give(PacketPool& pool, std::span<Packet* const> packets) = 0;

  // Gives back the packets that wait in it for the outside: it is taken away. Nothing else is called after this, and it
  // may then be destroyed by any thread.
  virtual void release_packets(PacketPool& pool) = 0;

  // The NIC's link to the fabric has gone down or come up: the host outside sees that where its kind of port can tell
  // it. At first, links are up. By any of the engine's threads, one at a time.
  virtual void set_carrier(bool up) noexcept { static_cast<void>(up); }

  // A descriptor that is readable (poll(2)) while take() would bring something; -1: there is none, look again and
  // again.
  virtual int readable() const noexcept { return -1; }
};

}  // namespace railyard
