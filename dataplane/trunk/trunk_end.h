// The far end of a link whose other half is in another daemon: frames leave for it and come from it with the instants
// at which they were sent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/ring_queue.h"
#include "dataplane/base/units.h"
#include "dataplane/device/classify.h"
#include "dataplane/device/device.h"
#include "dataplane/device/drop_counters.h"
#include "dataplane/packet/edge.h"
#include "dataplane/trunk/resequencer.h"
#include "dataplane/trunk/session.h"
#include "dataplane/trunk/trunk_wire.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct TrunkEndConfig {
  TrunkTerms terms;           // terms.delay: propagation from switch to switch
  wire::MacAddress mac;       // what the switch sends frames to
  wire::MacAddress peer_mac;  // of the switch port
  TrustMap trust;             // for the counters by class
  std::shared_ptr<const FecTable> fecs;
  Duration ping_every{10'000'000'000};  // 10 ms
  Duration timeout{300'000'000'000};    // 300 ms
  Duration reorder_wait{100'000'000};   // 100 us: how long a frame that is due waits for one before it
  std::uint32_t window = 1u << 14;      // frames that may be under way, a power of two
};

// What a trunk has counted besides the books of its device, for any thread.
struct TrunkCounters {
  TrunkSession::State state = TrunkSession::State::kSilent;
  std::uint64_t sent = 0;         // frames handed to the network
  std::uint64_t received = 0;     // frames that came from it, each once
  std::uint64_t lost = 0;         // frames of the far end that did not
  std::uint64_t discarded = 0;    // ... that came twice, or too late to be put in order (those are in `lost`)
  std::uint64_t unconfirmed = 0;  // sent to a life of the far end that ended before it said that it was done with them
  std::uint64_t stale = 0;        // messages of an earlier session
  std::uint64_t malformed = 0;    // messages that are none, or none that can be
  std::uint64_t other_version = 0;  // messages of another version of this protocol
  TrunkWireCounters wire;           // its malformed ones and those of another version are in those above, too
  bool has_carrier = true;          // as far as what carries it can tell
  std::uint64_t downs = 0;          // how often the link went down because of the far end
  std::uint64_t late = 0;           // frames delivered later than the link says
  std::uint64_t round_trip_ps = 0;
  std::int64_t clock_offset_ps = 0;  // the far end's modelled time minus ours, to within half the round trip
  std::uint64_t lateness_p50_ps = 0;  // of all frames; now and then
  std::uint64_t lateness_p99_ps = 0;
  std::uint64_t lateness_max_ps = 0;
  std::uint64_t clock_jumps = 0;  // one of the two clocks slipped or was held
};

// One port, whose link has no propagation of its own: a frame is here when its last octet has left the switch, and goes
// out at once with the instant at which its first did. The far end hands it to its switch when the link's propagation
// has passed since then, which is exact as long as the network is quicker than that; otherwise at once, and counts how
// late that was. MAC control frames cross like all others, so PFC of the far switch pauses this one's port.
//
// The link is up only while both ends hear each other. Frames keep their headers but for the two MAC addresses, which
// mean something on their own link only: here, as on every hop, they become those of the port they are received by.
class TrunkEnd final : public Device {
 public:
  // Throws std::invalid_argument.
  TrunkEnd(DeviceId id, std::string name, TrunkEndConfig config);
  ~TrunkEnd() override;

  // Puts the network under it, and says what the link's state depends on from then on. `session`: as in
  // TrunkSessionConfig. `set_link(at, up)` takes the link of this port up or down at both its ends; it is called
  // between windows. Only while the engine rests; nullptr takes the network away.
  using SetLink = std::function<void(Instant at, bool up)>;
  void connect_outside(std::unique_ptr<TrunkWire> wire, std::uint64_t session, SetLink set_link);

  static constexpr Duration kLatency{1'000'000};  // from the last octet of a frame until it goes out
  Duration data_latency() const noexcept override { return kLatency; }
  Duration pause_response(BitRate) const noexcept override { return kLatency; }

  bool polled() const noexcept override { return wire_ != nullptr; }
  Instant poll(Instant now, Duration wall) override;
  bool readable(std::vector<int>& descriptors) const override;
  void give_outside(Instant now) override;

  void for_each_held(const std::function<void(const Packet&)>& see) const override;

  // Any thread.
  TrunkCounters trunk_counters() const;
  // How late frames were, ps. While the engine rests.
  const Histogram& lateness() const noexcept { return lateness_; }
  const TrunkEndConfig& config() const noexcept { return config_; }

 protected:
  Instant run(Instant until) override;
  void connected(PortIndex port, Channel& out, BitRate rate) override;
  void on_link_down(Instant now, PortIndex port) override;
  void on_link_up(Instant now, PortIndex port) override;
  void on_new_key_base() override {}
  void count_live(DeviceCounters& counters) const override;
  void count_rest(DeviceCounters& counters) const override;

 private:
  static constexpr PortIndex kPort{0};
  // Frames that wait for the network to take them; then they are dropped (trunk_full).
  static constexpr std::size_t kMostWaiting = 4096;
  static constexpr unsigned kBurstsPerPoll = 8;
  // Headers that a packet without room for payload holds.
  static constexpr std::size_t kMostElidedHeader = 192;

  struct Outgoing {
    Packet* packet;
    Instant start;
  };
  using Head = std::array<std::byte, kTrunkFrameOctets>;

  // To the far end.
  void on_from_switch(Instant now, Packet* packet, bool control);
  void send_outgoing(Instant now);
  void send_ping(Instant now);
  // From the far end.
  void receive(Instant now, Duration wall);
  void on_message(Instant now, const TrunkReceived& message);
  void on_ping(Instant now, Duration age, const TrunkHead& head, const TrunkPing& ping);
  void begin_at(Instant now, std::uint64_t sequence);
  void on_frame(Instant now, const TrunkHead& head, const TrunkFrame& frame);
  Packet* make_packet(const TrunkFrame& frame);
  Instant next_release() const noexcept;
  void release(Instant now);
  void write_off();
  Duration lead_of(const Packet& packet) const noexcept;

  void settle_link(Instant now);
  void drop(Instant now, Packet* packet, DropReason reason);
  void count_lateness();

  TrunkEndConfig config_;
  std::unique_ptr<TrunkWire> wire_;
  SetLink set_link_;
  TrunkSession session_;
  Resequencer incoming_;
  RingQueue<Outgoing> outgoing_;
  std::vector<Head> heads_;  // of the burst that is being sent
  AddressMemo addresses_;
  Channel* channel_ = nullptr;
  OctetTime octet_time_;
  std::uint32_t seen_at_most_ = ~std::uint32_t{0};  // of a frame, before the switch acts on it
  std::uint64_t next_sequence_ = 0;
  std::uint64_t begins_ = 0;     // the first for this life of the far end
  std::uint64_t confirmed_ = 0;  // the far end is done with all below
  Instant free_at_{};            // the link as modelled has no room for another frame to start before
  Instant released_{};           // when the last frame was

  // The link's state: the two reasons for which it can be down.
  bool up_ = true;
  bool taken_down_ = false;  // by somebody here
  bool asked_up_ = true;     // what set_link_ was last told
  bool new_life_ = false;    // the far end has forgotten everything: the link has to go down, if only for a moment
  bool own_change_ = false;  // the change that is being done is what set_link_ asked for

  std::array<Counter, kPriorities> rx_packets_;
  std::array<Counter, kPriorities> rx_octets_;
  std::array<Counter, kPriorities> tx_packets_;
  std::array<Counter, kPriorities> tx_octets_;
  Counter rx_control_;
  Counter tx_control_;
  Counter generated_;
  Counter consumed_;
  DropCounters drops_;
  std::array<DropCounters, kPriorities> class_drops_;

  Counter state_;
  Counter received_;
  Counter lost_;
  Counter discarded_;
  Counter unconfirmed_;
  Counter stale_;
  Counter malformed_;
  Counter other_version_;
  Counter downs_;
  Counter late_;
  Counter round_trip_ps_;
  Counter clock_offset_ps_;  // two's complement
  Counter clock_jumps_;
  Histogram lateness_;
  std::array<Counter, 3> lateness_ps_;  // p50, p99, max
  unsigned pings_ = 0;
};

}  // namespace railyard
