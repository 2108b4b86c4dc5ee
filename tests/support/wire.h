// A device under test between bare channels: a test pushes packets at chosen instants and reads what comes out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "dataplane/device/channel.h"
#include "dataplane/device/device.h"
#include "dataplane/packet/packet.h"
#include "dataplane/packet/pool.h"
#include "dataplane/wire/pfc.h"
#include "tests/support/frames.h"

namespace railyard::test {

// The link of one port, and what stands at its far end.
struct WireLink {
  BitRate rate{100'000'000'000};
  Duration propagation{};
  Duration far_latency{};  // of data at the far end
  Duration far_pause_response{};
  bool far_cuts_through = false;
};

// A frame that the device has sent.
struct Sent {
  Instant start;   // of its transmission
  Instant effect;  // at the far end
  Packet packet;   // a copy of the metadata; its header() is not valid
  std::vector<std::byte> octets;

  bool control() const noexcept { return packet.kind == FrameKind::kMacControl; }
  // What the headers say; fails the test if they say nothing.
  wire::FrameView view() const;
  // Of a PFC frame.
  wire::PfcFrame pfc() const;
};

// When it goes out of scope the books are checked: of the device, of each channel, and of the packet pool.
class Wire {
 public:
  // Frames come as from the device's own worker, or through rings as from others.
  enum class Way : std::uint8_t { kNear, kRings };
  explicit Wire(Way way = Way::kNear);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Connects port i of `device` to links[i]. The device outlives the Wire.
  void connect(Device& device, std::span<const WireLink> links);

  Device& device() noexcept { return *device_; }
  PacketPool& pool() noexcept { return pools_[WorkerId{0}]; }
  PacketPools& pools() noexcept { return pools_; }

  // The far end begins to send `packet` at `start`: it takes effect after serialization (of the header only, if the
  // device cuts through), propagation and the device's latency. Returns that instant.
  Instant send(PortIndex port, Instant start, Packet* packet);
  // The far end begins to send a PFC frame at `start`. Returns when it takes effect.
  Instant send_pfc(PortIndex port, Instant start, PriorityMask enable,
                   const std::array<std::uint16_t, kPriorities>& quanta);
  // A MAC control frame of any content.
  Instant send_control(PortIndex port, Instant start, Packet* packet);

  // Everything the device has sent by `port` since the last call, in order of transmission.
  std::vector<Sent> sent(PortIndex port);
  // The same, without the PFC frames, or only those.
  std::vector<Sent> sent_data(PortIndex port);
  std::vector<Sent> sent_control(PortIndex port);

  // How long the first `octets` of a frame take on this port's link, preamble included.
  Duration serialization(PortIndex port, std::uint32_t octets) const;

  void expect_books_balance();

 private:
  struct Port {
    Port(DeviceId device, PortIndex port) : in(device, port), out(DeviceId{1u << 20}, port) {}
    Channel in;
    Channel out;
    WireLink link;
    std::uint64_t pushed = 0;
    std::uint64_t read = 0;
    std::vector<Sent> unread;
  };
  void read(PortIndex port);

  Way way_;
  PacketPools pools_;
  WorkerContext context_;
  Device* device_ = nullptr;
  std::deque<Port> ports_;
};

}  // namespace railyard::test
