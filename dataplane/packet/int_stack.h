// In-band network telemetry of a sampled packet: what each hop has noted about it, newest last.
//
// The metadata is that of INT (P4.org, In-band Network Telemetry Dataplane Specification v2.1): node, level 1 ingress
// and egress interface, hop latency, queue and its occupancy, ingress and egress timestamp; timestamps in picoseconds.
//
// DEVIATION INT v2.1: nothing of it is on the wire. As in its mode INT-XD no packet is changed: there is no shim and no
// INT header behind UDP, which would change length and timing and break the ICRC of RoCEv2. That a packet is sampled is
// known to every hop, as if all had the same flow watchlist; reports do not leave as frames but stay beside the packet
// until a collector fetches them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/packet.h"

namespace railyard {

class StateArchive;
struct IntNodes;

// One hop. Instants that have not come are never().
struct IntHop {
  const std::string* node = nullptr;   // the device's name
  Instant ingress = Instant::never();  // the last octet has arrived (cut-through: the 128th); never(): begins here
  Instant queued = Instant::never();   // admitted to its egress queue
  Instant egress = Instant::never();   // the first octet leaves; never(): ends here, or waits
  std::uint32_t queue_octets = 0;      // found in the egress queue when it was admitted, with the frame in transmission
  std::uint32_t frame_octets = 0;      // as it was queued, or arrived; with FCS (Switch::add_hop() may lengthen it)
  PortIndex in{};                      // if `ingress` is an instant
  PortIndex out{};                     // if `queued` or `egress` is
  Priority priority{};                 // egress queue; of the last hop, class
  DropReason dropped = DropReason::kCount;
  bool marked = false;  // this device set CE on it

  // From admission to departure.
  Duration waited() const noexcept { return egress == Instant::never() ? Duration{} : egress - queued; }
};

// The metadata stack of one packet. Belongs to whoever the packet belongs to; to the collector once it has ended.
class alignas(64) IntStack {
 public:
  // More hops than any path of a fabric has; those of a loop beyond that are counted only.
  static constexpr std::size_t kMostHops = 12;
  enum class End : std::uint8_t { kUnderWay, kArrived, kDropped };

  void begin(const Packet& packet) noexcept {
    stream_ = packet.stream;
    offset_ = packet.offset;
    end_ = End::kUnderWay;
    size_ = not_kept_ = 0;
    open_ = false;
  }

  // What devices say, in this order on each hop. `node` must live as long as the fabric.
  void depart_source(const std::string& node, PortIndex out, Priority priority, Instant now,
                     std::uint32_t octets) noexcept {
    if (IntHop* h = push(node)) {
      h->out = out;
      h->priority = priority;
      h->frame_octets = octets;
      h->queued = h->egress = now;
    }
    open_ = false;
  }
  void arrive(const std::string& node, PortIndex in, Priority priority, Instant ingress,
              std::uint32_t octets) noexcept {
    if (IntHop* h = push(node)) {
      h->in = in;
      h->priority = priority;
      h->ingress = ingress;
      h->frame_octets = octets;
    }
  }
  void queue(PortIndex out, Priority priority, Instant now, std::uint64_t found_octets) noexcept {
    if (!open_) return;
    IntHop& h = hops_[size_ - 1u];
    h.out = out;
    h.priority = priority;
    h.queued = now;
    h.queue_octets = static_cast<std::uint32_t>(found_octets);
  }
  void depart(Instant now, std::uint32_t octets, bool marked) noexcept {
    if (!open_) return;
    IntHop& h = hops_[size_ - 1u];
    h.egress = now;
    h.frame_octets = octets;
    h.marked = marked;
    open_ = false;
  }
  // What has departed is there still: the link has not got it across (LLR).
  void take_back() noexcept {
    if (size_ == 0 || not_kept_ > 0) return;
    hops_[size_ - 1u].egress = Instant::never();
    open_ = true;
  }
  void drop(DropReason reason) noexcept {
    if (open_) hops_[size_ - 1u].dropped = reason;
    end_ = End::kDropped;
  }
  // It has come to its last hop.
  void end() noexcept {
    if (end_ == End::kUnderWay) end_ = End::kArrived;
  }

  std::uint64_t stream() const noexcept { return stream_; }
  std::uint64_t offset() const noexcept { return offset_; }
  End ended() const noexcept { return end_; }
  std::span<const IntHop> hops() const noexcept { return std::span(hops_).first(size_); }
  std::size_t hops_not_kept() const noexcept { return not_kept_; }

  // Told by one process, taken by another. Throws std::runtime_error: what was told is none of a packet in the fabric.
  void exchange(StateArchive& archive, const IntNodes& nodes);

 private:
  IntHop* push(const std::string& node) noexcept {
    open_ = size_ < kMostHops;
    if (!open_) {
      if (not_kept_ < 255) ++not_kept_;
      return nullptr;
    }
    IntHop& h = hops_[size_++];
    h = IntHop{};
    h.node = &node;
    return &h;
  }

  std::uint64_t stream_ = 0;
  std::uint64_t offset_ = 0;
  End end_ = End::kUnderWay;
  std::uint8_t size_ = 0;
  std::uint8_t not_kept_ = 0;
  bool open_ = false;  // the last hop is the present one
  std::array<IntHop, kMostHops> hops_;
};

// The stack of a packet that is sampled; nullptr of any other. Packets have no room for it, so it is found through the
// mbuf, which nobody else looks at while a packet is in the fabric.
IntStack* int_stack_of_sampled(const Packet& packet) noexcept;
inline IntStack* int_stack(const Packet& packet) noexcept {
  return packet.sampled == 0 ? nullptr : int_stack_of_sampled(packet);
}
// Makes `packet` a sampled one.
void sample(Packet& packet, IntStack& stack) noexcept;

}  // namespace railyard
