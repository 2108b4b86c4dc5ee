// A trunk over a port to the outside: Ethernet frames of an EtherType of its own, over a cable or through switches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dataplane/base/counter.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/trunk/fragment.h"
#include "dataplane/trunk/reassembler.h"
#include "dataplane/trunk/trunk_wire.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct PortWireConfig {
  wire::MacAddress mac;   // of this end; no other on the network has it
  std::uint32_t mtu = 0;  // octets that a frame carries behind its Ethernet header; less if the port carries less
  Duration peer_timeout{300'000'000'000};  // modelled time: not heard for so long, another may be the far end
  Duration patience{100'000'000'000};      // modelled time, 100 ms: how long a message waits for its fragments
  Duration carrier_every{50'000'000'000};  // modelled time, 50 ms: how often a silent port is asked for its carrier
};

// One trunk and no other uses the port, and two ends share the network. Frames are broadcast until the far end is
// heard, and then go to its address. Whoever is heard first is the far end until nothing is heard of it for the
// timeout; what comes from others, for others, or is of another EtherType is foreign: counted, and otherwise ignored.
//
// A message that does not fit one frame goes in fragments (trunk/fragment.h). Without a carrier nothing is sent: what
// is to be sent is refused, so that nothing old leaves when it comes back.
class PortWire final : public TrunkWire {
 public:
  // `pool`: what frames are made of, in and out; it outlives the wire. Throws std::runtime_error if the port carries
  // less than the longest message needs.
  PortWire(std::unique_ptr<OutsidePort> port, PacketPool& pool, const PortWireConfig& config);
  ~PortWire() override;
  PortWire(const PortWire&) = delete;
  PortWire& operator=(const PortWire&) = delete;

  // Done with is what is in the port, or waits here for its last fragments to fit in.
  std::size_t send(std::span<const TrunkDatagram> datagrams) override;
  std::size_t receive(Instant now, Duration wall, std::span<TrunkReceived> datagrams) override;
  int readable() const noexcept override { return port_->readable(); }
  TrunkWireCounters counters() const override;
  bool has_carrier() const override { return port_->link_up(); }

  // What a frame carries behind its Ethernet header.
  std::uint32_t mtu() const noexcept { return mtu_; }

 private:
  static constexpr std::size_t kMostWaiting = 2 * kMostTrunkFragments;
  static constexpr unsigned kTakesPerReceive = 8;  // however many fragments and foreign frames there are

  bool make_frames(const TrunkDatagram& datagram);
  bool flush();
  void look_at_carrier(Instant now);
  void look_at_peer(Instant now) noexcept;
  std::span<const std::byte> on_frame(Instant now, const Packet& packet, bool& keep);
  bool is_of_peer(Instant now, const TrunkCarrier& carrier) noexcept;

  std::unique_ptr<OutsidePort> port_;
  PacketPool& pool_;
  PortWireConfig config_;
  std::uint32_t mtu_;
  std::uint64_t stream_;
  Reassembler reassembler_;
  std::array<Packet*, kMostWaiting> waiting_;  // made, and not taken by the port yet
  std::size_t waiting_from_ = 0;
  std::size_t waiting_to_ = 0;
  std::array<Packet*, kBurst> kept_;  // their octets are what the last receive() returned
  std::size_t kept_count_ = 0;
  std::uint32_t next_message_ = 0;
  std::uint64_t next_frame_ = 0;
  bool carrier_ = true;
  Instant carrier_due_{};                        // when the port is asked again
  wire::MacAddress peer_ = wire::kBroadcastMac;  // nobody is heard
  Instant heard_{};

  Counter refused_;
  Counter fragmented_;
  Counter foreign_;
  Counter malformed_;
  Counter other_version_;
};

}  // namespace railyard
