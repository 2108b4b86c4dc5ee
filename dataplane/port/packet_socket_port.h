// A host or network outside, behind an existing network interface of the kernel: one end of a veth pair, a NIC, ...
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/packet/pool.h"
#include "dataplane/port/joined_segments.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/port/staged_packets.h"
#include "dataplane/port/super_frame.h"

struct tpacket2_hdr;

namespace railyard {

struct PacketSocketPortConfig {
  std::string interface;     // an Ethernet interface that exists
  std::string netns = {};    // the network namespace it is in, as NetworkNamespace takes it; empty: the current one
  std::uint32_t mtu = 9216;  // longest IP packet that the link carries; the interface's is no shorter
  // Nobody else uses it, as with one end of a veth pair: it goes down and up with the NIC's link, for the host at the
  // other end to see. Others' interfaces are left as they are.
  bool ours = false;
  std::uint32_t ring_octets = 8 << 20;  // memory between the kernel and the fabric, in units of 128 KiB
};

// Takes every frame that comes in through the interface, and sends through it, by packet(7) sockets. The kernel's own
// use of the interface goes on beside it; what the kernel sends through it is not seen.
//
// Frames come in as they would on a cable: tags that the kernel keeps apart are put back, checksums and segmentation
// that the sender left to its NIC are done. TCP segments that leave together go out joined where a kernel is at the
// other end (a veth pair), as its own GRO would join them. The interface may go down or away and come back under the same name:
// meanwhile nothing is taken, and what is to be sent waits.
class PacketSocketPort final : public OutsidePort {
 public:
  // Throws std::runtime_error with the interface and what would help. `pool`: where received packets come from.
  PacketSocketPort(const PacketSocketPortConfig& config, PacketPool& pool);
  ~PacketSocketPort() override;
  PacketSocketPort(const PacketSocketPort&) = delete;
  PacketSocketPort& operator=(const PacketSocketPort&) = delete;

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override;
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override;
  void set_carrier(bool up) noexcept override;
  void release_packets(PacketPool& pool) override { staged_.release(staged_.waiting().size(), pool); }

  // received: super-frames count as the frames they are cut into. host_ring_full: as they were.
  OutsidePortCounters counters() const override;
  bool link_up() const override;
  // Of one of the last kStamps packets.
  Duration waited(const Packet& packet) const override;
  PortAbilities abilities() const override { return abilities_; }
  int readable() const noexcept override { return in_.get(); }

 private:
  static constexpr std::size_t kStamps = 64;  // more than anybody takes at once and asks about

  // A frame as the kernel hands it over, the tag put back.
  struct Frame {
    std::byte* at;
    std::uint32_t kept;    // octets that are there
    std::uint32_t octets;  // of the whole frame
    OffloadHeader offload;
  };

  void map_ring(const PacketSocketPortConfig& config);
  bool bind_to(int index) noexcept;
  void look_after_interface() noexcept;
  tpacket2_hdr* slot() const noexcept;
  void next_slot() noexcept;
  Frame whole(tpacket2_hdr& header, std::uint32_t status) noexcept;
  bool receive(Packet& packet, tpacket2_hdr& header, std::uint32_t status, std::size_t room) noexcept;
  void send_staged() noexcept;

  std::string name_;
  bool ours_;
  PortAbilities abilities_;
  std::uint64_t stream_;
  FileDescriptor in_;   // with the ring
  FileDescriptor out_;  // apart: nothing comes in by it
  std::byte* ring_ = nullptr;
  std::size_t ring_octets_ = 0;
  std::uint32_t slot_octets_ = 0;
  std::uint32_t slots_per_block_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint32_t block_ = 0;            // where the next frame comes
  std::uint32_t slot_ = 0;             // in that block
  std::uint32_t idle_ = 0;             // takes in a row that found nothing
  std::vector<std::byte> long_frame_;  // what does not fit a slot, or is to be cut
  SuperFrame super_;                   // in long_frame_
  StagedPackets staged_;
  std::array<JoinedSegments, StagedPackets::kBurst> outgoing_;  // of staged_, in a call to the kernel
  bool joins_ = false;                                          // the kernel at the other end takes super-frames
  PacketPool& pool_;
  // When the kernel took in what was received last, by CLOCK_REALTIME; 0: not known.
  std::array<std::int64_t, kStamps> stamps_ns_{};
  Counter received_;
  Counter sent_;
  Counter not_sent_;
  mutable std::atomic<std::uint64_t> host_ring_full_ = 0;  // the kernel's count starts anew when it is read
};

}  // namespace railyard
