// A trunk over ports: two wires at the ends of a cable that does with frames what a test tells it.
#include "dataplane/port/port_wire.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/port/received_packet.h"
#include "dataplane/trunk/trunk_end.h"
#include "dataplane/wire/ethernet.h"
#include "tests/support/wire.h"

namespace railyard {
namespace {

using namespace literals;
using Octets = std::vector<std::byte>;
using Frames = std::vector<Octets>;

// What two or more ports share; a frame that one gives can be taken at all others.
struct Segment {
  class Port;

  std::uint32_t mtu = 1500;
  bool carrier = true;
  std::size_t room = ~std::size_t{0};  // frames that it takes until somebody makes it more
  // What arrives in the place of a frame: nothing, or several.
  std::function<Frames(const Octets&)> fate;
  std::vector<Port*> ports;
  std::vector<Octets> seen;  // as they were sent
};

class Segment::Port final : public OutsidePort {
 public:
  explicit Port(Segment& segment) : segment_(segment) { segment_.ports.push_back(this); }
  ~Port() override { std::erase(segment_.ports, this); }

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !incoming.empty(); ++n) {
      packets[n] = pool.allocate_real();
      if (packets[n] == nullptr) break;
      const std::size_t kept = std::min(incoming.front().size(), pool.real_octets());
      std::copy_n(incoming.front().begin(), kept, packets[n]->header());
      describe_received(*packets[n], static_cast<std::uint32_t>(incoming.front().size()), 0, 0);
      incoming.pop_front();
    }
    return n;
  }
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && segment_.room > 0; ++n, --segment_.room) {
      Packet* const p = packets[n];
      const Octets octets(p->header(), p->header() + p->header_octets + p->payload_octets);
      EXPECT_LE(octets.size(), 14 + segment_.mtu);
      EXPECT_GE(octets.size(), 60u);
      segment_.seen.push_back(octets);
      pool.release(p);
      for (Port* const other : segment_.ports) {
        if (other == this || !segment_.carrier) continue;
        const auto arrive = segment_.fate ? segment_.fate(octets) : Frames{octets};
        other->incoming.insert(other->incoming.end(), arrive.begin(), arrive.end());
      }
    }
    return n;
  }
  void release_packets(PacketPool&) override {}
  OutsidePortCounters counters() const override { return {.host_ring_full = 3, .no_memory = 4, .not_sent = 5}; }
  bool link_up() const override { return segment_.carrier; }
  PortAbilities abilities() const override { return {PortAbilities::Pfc::kYes, segment_.mtu + 18, true}; }

  std::deque<Octets> incoming;

 private:
  Segment& segment_;
};

PortWireConfig port_wire_config(std::uint8_t n) {
  PortWireConfig c;
  c.mac = {{2, 0, 0, 0, 0, n}};
  c.mtu = 9216;
  return c;
}

// Of another length and content each.
std::string port_wire_text(std::size_t n, std::size_t octets) {
  std::string text(octets, ' ');
  for (std::size_t i = 0; i < octets; ++i) text[i] = static_cast<char>('a' + (n * 5 + i) % 23);
  return text;
}

class PortWires : public testing::Test {
 protected:
  PortWires() { connect(); }
  ~PortWires() override {
    a.reset();
    b.reset();
    EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice";
  }
  void connect() {
    a = wire(1);
    b = wire(2);
  }
  std::unique_ptr<PortWire> wire(std::uint8_t n) {
    return std::make_unique<PortWire>(std::make_unique<Segment::Port>(segment), pools[WorkerId{0}],
                                      port_wire_config(n));
  }
  // In two pieces, as a trunk's end does.
  static std::size_t send(PortWire& from, const std::vector<std::string>& messages) {
    std::vector<TrunkDatagram> datagrams;
    for (const std::string& m : messages) {
      const auto octets = std::as_bytes(std::span(m));
      const std::size_t head = std::min<std::size_t>(80, octets.size());
      datagrams.push_back({octets.first(head), octets.subspan(head)});
    }
    return from.send(datagrams);
  }
  std::vector<std::string> received(PortWire& at) {
    std::vector<std::string> out;
    std::array<TrunkReceived, TrunkWire::kBurst> in;
    for (;;) {
      const std::size_t n = at.receive(now, {}, in);
      for (std::size_t i = 0; i < n; ++i)
        out.emplace_back(reinterpret_cast<const char*>(in[i].octets.data()), in[i].octets.size());
      if (n == 0) return out;
    }
  }
  // Both know each other.
  void meet() {
    send(*a, {"hello"});
    EXPECT_THAT(received(*b), testing::ElementsAre("hello"));
    send(*b, {"hello"});
    EXPECT_THAT(received(*a), testing::ElementsAre("hello"));
    segment.seen.clear();
  }
  static wire::MacAddress destination(const Octets& frame) {
    return wire::read<wire::Ethernet::Destination>(frame.data());
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 1024, .real_octets = 9728}};
  Segment segment;
  Instant now = Instant{} + 1_s;
  std::unique_ptr<PortWire> a;
  std::unique_ptr<PortWire> b;
};

TEST_F(PortWires, MessagesGoWholeBothWaysWhateverTheFramesCarry) {
  for (const std::uint32_t mtu : {kLeastTrunkMtu, 576u, 1500u, 4000u, 9216u}) {
    a.reset();
    b.reset();
    segment.mtu = mtu;
    connect();
    std::vector<std::string> messages;
    for (std::size_t n = 0; n < 32; ++n)
      messages.push_back(port_wire_text(n, 1 + n * (kMostTrunkMessageOctets - 1) / 31));
    EXPECT_EQ(send(*a, messages), 32u);
    EXPECT_TRUE(received(*b) == messages) << mtu;
    EXPECT_EQ(send(*b, messages), 32u);
    EXPECT_TRUE(received(*a) == messages) << mtu;
    const auto longer = static_cast<std::uint64_t>(
        std::ranges::count_if(messages, [&](const std::string& m) { return m.size() + 12 > mtu; }));
    EXPECT_EQ(a->counters().fragmented, longer);
    EXPECT_EQ(b->counters().incomplete + b->counters().foreign + b->counters().malformed, 0u);
  }
}

TEST_F(PortWires, NoFrameIsLongerThanThePacketsOrWhatIsSaidOfTheWay) {
  PortWireConfig config = port_wire_config(3);
  segment.mtu = 9216;
  PacketPools small{1, {.elided_limit = 64, .real_limit = 256, .real_octets = 1664}};
  EXPECT_EQ(PortWire(std::make_unique<Segment::Port>(segment), small[WorkerId{0}], config).mtu(), 1650u);
  config.mtu = 1400;
  EXPECT_EQ(PortWire(std::make_unique<Segment::Port>(segment), small[WorkerId{0}], config).mtu(), 1400u);
  config.mtu = kLeastTrunkMtu - 1;
  EXPECT_THROW(PortWire(std::make_unique<Segment::Port>(segment), small[WorkerId{0}], config), std::runtime_error);
}

TEST_F(PortWires, FramesAreBroadcastUntilTheFarEndIsHeard) {
  send(*a, {"hello"});
  EXPECT_EQ(destination(segment.seen.back()), wire::kBroadcastMac);
  received(*b);
  send(*b, {"hello"});
  EXPECT_EQ(destination(segment.seen.back()), port_wire_config(1).mac);
  received(*a);
  send(*a, {"you"});
  EXPECT_EQ(destination(segment.seen.back()), port_wire_config(2).mac);
  EXPECT_THAT(received(*b), testing::ElementsAre("you"));
}

TEST_F(PortWires, AThirdOneIsForeignUntilTheFarEndIsGoneForLong) {
  meet();
  const auto c = wire(3);
  send(*c, {"me too", "and again"});
  EXPECT_TRUE(received(*a).empty());
  EXPECT_EQ(a->counters().foreign, 2u);
  send(*a, {"for b"});
  EXPECT_TRUE(received(*c).empty()) << "it is not to it";
  EXPECT_EQ(c->counters().foreign, 1u);
  EXPECT_THAT(received(*b), testing::ElementsAre("for b"));
  now = now + port_wire_config(1).peer_timeout;
  send(*c, {"not yet"});
  EXPECT_TRUE(received(*a).empty());
  now = now + 1_us;
  send(*c, {"now"});
  EXPECT_THAT(received(*a), testing::ElementsAre("now"));
}

TEST_F(PortWires, ForeignFramesAreCountedAndIgnored) {
  meet();
  Segment::Port host(segment);
  Octets arp(60);
  wire::write<wire::Ethernet::EtherType>(arp.data(), wire::ether_type::kArp);
  Octets giant(12'000, std::byte{0x55});
  Octets version = segment.seen.emplace_back(trunk_carrier_octets(5));
  write_trunk_carrier(version, {port_wire_config(1).mac, port_wire_config(2).mac, {0, {5, 5}, 0, {}}},
                      {std::as_bytes(std::span("hello", 5)), {}});
  Octets malformed = version;
  Octets own = version;
  wire::write<TrunkFragmentHeader::Version>(version.data() + 14, 9);
  wire::write<TrunkFragmentHeader::Piece>(malformed.data() + 14, 0);
  wire::write<wire::Ethernet::Source>(own.data(), port_wire_config(1).mac);  // ours, come back by a loop
  segment.ports.front()->incoming = {arp, giant, Octets(3), own, version, malformed};
  EXPECT_TRUE(received(*a).empty());
  const TrunkWireCounters c = a->counters();
  EXPECT_EQ(c.foreign, 4u);
  EXPECT_EQ(c.other_version, 1u);
  EXPECT_EQ(c.malformed, 1u);
  EXPECT_EQ(c.overrun, 7u) << "what the port says";
  EXPECT_EQ(c.refused, 5u) << "what the port says";
}

TEST_F(PortWires, AFloodOfForeignFramesDoesNotKeepItForLong) {
  meet();
  Octets arp(60);
  segment.ports.front()->incoming.assign(1000, arp);
  std::array<TrunkReceived, TrunkWire::kBurst> in;
  EXPECT_EQ(a->receive(now, {}, in), 0u);
  EXPECT_EQ(a->counters().foreign, 8 * TrunkWire::kBurst);
  segment.ports.front()->incoming.clear();
}

TEST_F(PortWires, FragmentsMayBeShuffledAndDoubledButNotLost) {
  meet();
  Octets held;
  segment.fate = [&](const Octets& frame) {  // each second one comes after the next, twice
    if (held.empty()) {
      held = frame;
      return Frames{};
    }
    return Frames{frame, std::exchange(held, {}), frame};
  };
  const std::vector<std::string> messages{port_wire_text(1, 9000), port_wire_text(2, 8000), port_wire_text(3, 3000)};
  ASSERT_EQ(send(*a, messages), 3u);  // 7, 6 and 3 fragments
  EXPECT_THAT(received(*b), testing::UnorderedElementsAreArray(messages));

  unsigned frames = 0;
  segment.fate = [&](const Octets& frame) { return ++frames == 3 ? Frames{} : Frames{frame}; };
  send(*a, messages);
  EXPECT_THAT(received(*b), testing::ElementsAre(messages[1], messages[2]));
  EXPECT_EQ(b->counters().incomplete, 0u);
  now = now + port_wire_config(2).patience;
  EXPECT_TRUE(received(*b).empty());
  EXPECT_EQ(b->counters().incomplete, 1u);
}

TEST_F(PortWires, FragmentsThatWaitForADaemonThatWasAwayAreNotMissing) {
  meet();
  const std::string message = port_wire_text(1, 9000);
  Frames later;
  unsigned frames = 0;
  segment.fate = [&](const Octets& frame) {
    if (++frames <= 3) return Frames{frame};
    later.push_back(frame);
    return Frames{};
  };
  ASSERT_EQ(send(*a, {message}), 1u);
  EXPECT_TRUE(received(*b).empty());
  // They come at once, but the daemon has no processor until long after.
  Segment::Port& at_b = *segment.ports.back();
  at_b.incoming.insert(at_b.incoming.end(), later.begin(), later.end());
  now = now + 2 * port_wire_config(2).patience;
  EXPECT_THAT(received(*b), testing::ElementsAre(message));
  EXPECT_EQ(b->counters().incomplete, 0u);
}

TEST_F(PortWires, CutShortFragmentsAreNone) {
  meet();
  segment.fate = [](const Octets& frame) { return Frames{Octets(frame.begin(), frame.end() - 1)}; };
  send(*a, {port_wire_text(0, 200), port_wire_text(0, 4000)});
  EXPECT_TRUE(received(*b).empty());
  EXPECT_EQ(b->counters().malformed, 4u);
}

TEST_F(PortWires, WhatThePortDoesNotTakeWaitsAndGoesInOrder) {
  meet();
  segment.room = 9;
  std::vector<std::string> messages;
  for (std::size_t n = 0; n < 32; ++n) messages.push_back(port_wire_text(n, 9000));  // 7 fragments each
  const std::size_t done = send(*a, messages);
  EXPECT_GT(done, 1u);
  EXPECT_LT(done, 32u) << "what waits is bounded";
  EXPECT_THAT(received(*b), testing::ElementsAre(messages[0]));
  EXPECT_EQ(send(*a, {"later"}), 0u) << "not before those";
  segment.room = 1000;
  EXPECT_EQ(send(*a, std::vector(messages.begin() + static_cast<std::ptrdiff_t>(done), messages.end())), 32 - done);
  EXPECT_TRUE(received(*b) == std::vector(messages.begin() + 1, messages.end()));
}

TEST_F(PortWires, WithoutPacketMemoryNothingIsSentInPart) {
  PacketPools few{1, {.elided_limit = 64, .real_limit = 5, .real_octets = 9728}};
  PortWire poor(std::make_unique<Segment::Port>(segment), few[WorkerId{0}], port_wire_config(3));
  EXPECT_EQ(send(poor, {port_wire_text(1, 9000)}), 0u) << "seven fragments";
  EXPECT_EQ(few.in_use(), 0u);
  EXPECT_EQ(send(poor, {port_wire_text(1, 6000), port_wire_text(2, 100)}), 1u);
  EXPECT_EQ(send(poor, {port_wire_text(2, 100)}), 1u);
  EXPECT_THAT(received(*b), testing::ElementsAre(port_wire_text(1, 6000), port_wire_text(2, 100)));
}

TEST_F(PortWires, WithoutACarrierMessagesAreRefusedAndNothingOldGoesLater) {
  meet();
  segment.room = 0;
  EXPECT_EQ(send(*a, {"waits"}), 1u);
  segment.carrier = false;
  EXPECT_FALSE(a->has_carrier());
  now = now + port_wire_config(1).carrier_every;
  EXPECT_TRUE(received(*a).empty());
  EXPECT_EQ(send(*a, {"one", "two"}), 2u);
  EXPECT_EQ(a->counters().refused, 5u + 2);
  segment.carrier = true;
  segment.room = 1000;
  now = now + port_wire_config(1).carrier_every;
  EXPECT_TRUE(received(*a).empty());
  EXPECT_EQ(send(*a, {"three"}), 1u);
  EXPECT_THAT(received(*b), testing::ElementsAre("three"));
}

// A trunk's two ends over such wires, each at a bare wire in the place of its switch.
struct PortTrunkEnd {
  PortTrunkEnd(Segment& segment, std::uint8_t n) : end(DeviceId{0}, "t", config_of(n)) {
    const test::WireLink link{.far_latency = 600_ns, .far_pause_response = 600_ns};
    bare.connect(end, {&link, 1});
    PortWireConfig config = port_wire_config(n);
    end.connect_outside(std::make_unique<PortWire>(std::make_unique<Segment::Port>(segment), bare.pool(), config), n,
                        [this](Instant at, bool up) {
                          link_up = up;
                          up ? end.link_up_at(at, PortIndex{0}) : end.link_down_at(at, PortIndex{0});
                        });
  }
  ~PortTrunkEnd() { end.connect_outside(nullptr, 1, nullptr); }
  static TrunkEndConfig config_of(std::uint8_t n) {
    TrunkEndConfig c;
    c.terms = {100_Gbps, 200_us, 9000, 1, 1};
    c.mac = test::mac(static_cast<std::uint8_t>(0xA0 + n));
    c.peer_mac = test::mac(static_cast<std::uint8_t>(0xB0 + n));
    return c;
  }
  void step(Instant now) {
    end.poll(now, {});
    end.advance(now);
  }

  TrunkEnd end;
  test::Wire bare;
  bool link_up = true;
};

class TrunkOverPorts : public testing::Test {
 protected:
  void run(Duration d) {
    for (const Instant until = now + d; now < until; now = now + 10_us) {
      a.step(now);
      b.step(now);
    }
  }
  // Frames of 9018 octets, back to back.
  void burst(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      test::FrameSpec spec{.psn = i, .frame_octets = 9018, .real = true};
      spec.to = a.end.config().mac;
      a.bare.send(PortIndex{0}, now + 1_us + 723'040_ps * i, test::make_frame(a.bare.pool(), FecTable{}, spec));
    }
  }

  Segment segment;
  PortTrunkEnd a{segment, 1};
  PortTrunkEnd b{segment, 2};
  Instant now{};
};

TEST_F(TrunkOverPorts, ALostFragmentIsALostFrameAndTheBooksBalance) {
  run(50_ms);
  ASSERT_TRUE(a.link_up && b.link_up);
  burst(50);
  run(5_ms);
  EXPECT_EQ(b.bare.sent_data(PortIndex{0}).size(), 50u);
  unsigned frames = 0;
  segment.fate = [&](const Octets& frame) {
    return frame.size() > 1000 && ++frames % 10 == 0 ? Frames{} : Frames{frame};
  };
  burst(50);  // 350 fragments, of which 35 do not arrive
  run(150_ms);
  segment.fate = {};
  const TrunkCounters sent = a.end.trunk_counters();
  const TrunkCounters received = b.end.trunk_counters();
  EXPECT_EQ(sent.sent, 100u);
  EXPECT_EQ(received.lost, 35u);
  EXPECT_EQ(received.received, 65u);
  EXPECT_EQ(received.wire.incomplete, 35u);
  const DeviceCounters books = b.end.counters();
  EXPECT_EQ(books.ports[0].drops[static_cast<std::size_t>(DropReason::kTrunkLost)], 35u);
  EXPECT_EQ(books.generated, 100u);
  EXPECT_EQ(books.ports[0].tx_packets(), 65u);
}

TEST_F(TrunkOverPorts, ItGoesDownWithItsCarrierAndComesBack) {
  run(50_ms);
  ASSERT_TRUE(a.link_up && b.link_up);
  segment.carrier = false;
  run(400_ms);
  EXPECT_FALSE(a.link_up || b.link_up);
  EXPECT_FALSE(a.end.trunk_counters().has_carrier);
  EXPECT_EQ(a.end.trunk_counters().state, TrunkSession::State::kSilent);
  segment.carrier = true;
  run(150_ms);
  EXPECT_TRUE(a.link_up && b.link_up);
  burst(5);
  run(5_ms);
  EXPECT_EQ(b.bare.sent_data(PortIndex{0}).size(), 5u);
  EXPECT_EQ(b.end.trunk_counters().lost, 0u);
}

}  // namespace
}  // namespace railyard
