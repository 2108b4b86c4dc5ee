// A host or network outside, behind a TAP device: an interface of the kernel's own that is made for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "dataplane/base/counter.h"
#include "dataplane/base/units.h"
#include "dataplane/packet/pool.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/port/joined_segments.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/port/staged_packets.h"
#include "dataplane/port/super_frame.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct TapPortConfig {
  std::string interface;   // its name, which is free
  std::string netns = {};  // the network namespace to make it in, as NetworkNamespace takes it; empty: the current one
  std::uint32_t mtu = 9216;                  // of the interface: longest IP packet that the link carries
  std::optional<wire::MacAddress> mac = {};  // of the interface; else the kernel makes one up
  bool up = false;                           // switches it on, where nobody else will
  BitRate rate{};                            // that `ethtool` shows; 0: what the kernel says of its own
};

// The interface lives as long as the port; meanwhile it may be moved to another namespace and renamed. The network
// stack behind it leaves its checksums and the segmentation of TCP and UDP to the port, which takes many frames with
// one call to the kernel so. They come in as they would on a cable all the same. TCP segments that leave together go out
// joined, as the kernel's own GRO would join them.
class TapPort final : public OutsidePort {
 public:
  // Makes the interface. Throws std::runtime_error with the interface and what would help, and leaves none behind then.
  // `pool`: where received packets come from.
  TapPort(const TapPortConfig& config, PacketPool& pool);
  ~TapPort() override;
  TapPort(const TapPort&) = delete;
  TapPort& operator=(const TapPort&) = delete;

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override;
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override;
  // As `ip link` shows it: NO-CARRIER.
  void set_carrier(bool up) noexcept override;
  void release_packets(PacketPool& pool) override { staged_.release(staged_.waiting().size(), pool); }

  // received: super-frames count as the frames they are cut into. host_ring_full: as they were; what the kernel says
  // that the interface has dropped.
  OutsidePortCounters counters() const override;
  bool link_up() const override;
  PortAbilities abilities() const override { return abilities_; }
  int readable() const noexcept override { return tap_.get(); }

 private:
  std::optional<struct InterfaceState> state() const;
  std::uint32_t receive(std::byte* to, std::size_t room) noexcept;
  ssize_t write_frame(Packet& packet) noexcept;
  ssize_t write_joined(std::span<Packet* const> packets) noexcept;
  void send_staged() noexcept;

  std::uint64_t stream_;
  PortAbilities abilities_;
  FileDescriptor tap_;
  std::vector<std::byte> long_frame_;  // what was read last, behind its offload header
  SuperFrame super_;                   // in long_frame_
  StagedPackets staged_;
  JoinedSegments joined_;              // the first of staged_
  PacketPool& pool_;
  Counter received_;
  Counter sent_;
  Counter not_sent_;
  mutable std::atomic<std::uint64_t> host_ring_full_ = 0;  // as far as the kernel told
};

}  // namespace railyard
