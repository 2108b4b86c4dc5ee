// A port to a host or network outside: what it tells besides carrying packets.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/device/attachment.h"
#include "dataplane/port/port_abilities.h"

namespace railyard {

// Every frame that the host behind the port has sent is in `received`, in `host_ring_full`, in `no_memory`, or still in
// the ring. What was given to the port and is neither in `sent` nor in `not_sent` waits in it.
struct OutsidePortCounters {
  std::uint64_t received = 0;        // frames taken from the outside
  std::uint64_t sent = 0;            // frames handed to the outside
  std::uint64_t host_ring_full = 0;  // sent by the host and lost: the ring between was full before the fabric took them
  std::uint64_t no_memory = 0;       // sent by the host and lost for want of packet memory
  std::uint64_t not_sent = 0;        // for the outside, which refused them for good: longer than it carries
};

class OutsidePort : public Attachment {
 public:
  // What has been counted so far. Any thread, also while another one takes and gives.
  virtual OutsidePortCounters counters() const = 0;

  // Whether frames can pass. Any thread.
  virtual bool link_up() const = 0;

  // For how much wall time a packet that the last take() brought had lain in this machine by then; 0: the port does not
  // know. By the thread that takes.
  virtual Duration waited(const Packet& packet) const { return static_cast<void>(packet), Duration{}; }

  // What passes, as it was when the port was made. Any thread.
  virtual PortAbilities abilities() const = 0;
};

}  // namespace railyard
