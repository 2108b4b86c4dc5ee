// Two daemons' ends of one trunk, each at a bare wire in the place of its switch, with clocks that began at different
// times and a network between them that does what a test tells it.
//
//   (a's switch) -- a ~~~~ network ~~~~ b -- (b's switch)
#include "dataplane/trunk/trunk_end.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/packet/trim.h"
#include "tests/support/wire.h"

namespace railyard {
namespace {

using namespace literals;
using test::FrameSpec;
using test::mac;
using test::Sent;
using test::Wire;
using test::WireLink;

constexpr PortIndex kPort{0};
constexpr Duration kDelay = 200_us;
constexpr Duration kSwitchLatency = 600_ns;
constexpr Duration kStep = 10_us;

// Datagrams under way, of both directions; `to` is the side that they go to.
class Network {
 public:
  struct Datagram {
    Duration arrives;
    std::vector<std::byte> octets;
  };
  // What becomes of the n-th frame (not ping) of a direction: how often it arrives, and how much later than usual.
  struct Fate {
    int copies = 1;
    Duration later{};
  };

  void send(std::size_t to, const TrunkDatagram& d) {
    const bool ping = d.body.empty();
    Fate fate;
    if (!ping && fate_of) fate = fate_of(frames[to]++);
    if (cut[to]) fate.copies = 0;
    for (int i = 0; i < fate.copies; ++i) {
      Datagram& sent = under_way[to].emplace_back(now + way + fate.later, std::vector(d.head.begin(), d.head.end()));
      sent.octets.insert(sent.octets.end(), d.body.begin(), d.body.end());
    }
  }

  Duration now{};
  Duration way = 50_us;
  bool cut[2]{};
  bool full = false;  // takes nothing
  std::function<Fate(unsigned)> fate_of;
  unsigned frames[2]{};
  std::vector<Datagram> under_way[2];
};

class MemoryWire final : public TrunkWire {
 public:
  MemoryWire(Network& network, std::size_t side) : network_(network), side_(side) {}

  std::size_t send(std::span<const TrunkDatagram> datagrams) override {
    if (network_.full) return 0;
    for (const TrunkDatagram& d : datagrams) network_.send(1 - side_, d);
    return datagrams.size();
  }
  std::size_t receive(Instant, Duration wall, std::span<TrunkReceived> out) override {
    auto& waiting = network_.under_way[side_];
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
    std::size_t n = 0;
    received_.clear();
    for (; n < out.size() && n < waiting.size() && waiting[n].arrives <= network_.now; ++n)
      received_.push_back(std::move(waiting[n]));
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = 0; i < n; ++i) out[i] = {received_[i].octets, wall - received_[i].arrives};
    return n;
  }
  TrunkWireCounters counters() const override { return {}; }

 private:
  Network& network_;
  std::size_t side_;
  std::vector<Network::Datagram> received_;
};

TrunkEndConfig config_of(std::uint8_t side) {
  TrunkEndConfig c;
  c.terms = {100_Gbps, kDelay, 9216, 1, 1};
  c.mac = mac(static_cast<std::uint8_t>(0xA0 + side));
  c.peer_mac = mac(static_cast<std::uint8_t>(0xB0 + side));
  return c;
}

// One daemon, whose modelled time is the wall's and `ahead`.
struct Daemon {
  Daemon(Network& n, std::uint8_t side, Duration its_ahead, std::uint64_t session)
      : network(n), ahead(its_ahead), end(DeviceId{0}, "t", config_of(side)) {
    const WireLink link{.far_latency = kSwitchLatency, .far_pause_response = kSwitchLatency};
    wire.connect(end, {&link, 1});
    end.connect_outside(std::make_unique<MemoryWire>(n, side), session, [this](Instant at, bool up) {
      link_up = up;
      up ? end.link_up_at(at, kPort) : end.link_down_at(at, kPort);
    });
  }
  Instant now() const { return Instant{} + network.now + ahead; }
  void step() {
    const Duration wall = network.now - looked_before;
    end.poll(Instant{} + wall + ahead, wall);
    end.advance(now());
  }
  // The switch begins to send; returns when that is for it.
  Instant send(const FrameSpec& spec = {}, Duration in = 1_us) {
    const Instant start = now() + in;
    FrameSpec to_trunk = spec;
    to_trunk.to = end.config().mac;
    wire.send(kPort, start, test::make_frame(wire.pool(), FecTable{}, to_trunk));
    return start;
  }
  DeviceCounters books() const { return end.counters(); }
  std::uint64_t drops(DropReason r) const { return books().ports[0].drops[static_cast<std::size_t>(r)]; }

  Network& network;
  Duration ahead;
  Duration looked_before{};  // between the moment of looking and that at which the trunk has its turn
  bool link_up = true;
  TrunkEnd end;
  Wire wire;
};

class Trunk : public testing::Test {
 protected:
  Trunk() { run(50_ms); }
  void run(Duration d) {
    for (const Duration until = network.now + d; network.now < until; network.now += kStep)
      for (Daemon* daemon : {a.get(), b.get()})
        if (daemon != nullptr) daemon->step();
  }
  // `n` frames of a thousand octets back to back, which are numbered by their PSN.
  void burst(Daemon& from, unsigned n) {
    for (unsigned i = 0; i < n; ++i) from.send({.psn = i, .frame_octets = 1000}, 1_us + 81'600_ps * i);
  }
  static std::vector<std::uint32_t> numbers(const std::vector<Sent>& sent) {
    std::vector<std::uint32_t> psns;
    for (const Sent& s : sent) psns.push_back(s.view().psn);
    return psns;
  }
  static std::vector<std::uint32_t> all_but(unsigned n, const std::vector<std::uint32_t>& missing) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < n; ++i)
      if (std::ranges::find(missing, i) == missing.end()) all.push_back(i);
    return all;
  }

  Network network;
  std::unique_ptr<Daemon> a = std::make_unique<Daemon>(network, std::uint8_t{0}, Duration{}, std::uint64_t{5});
  std::unique_ptr<Daemon> b = std::make_unique<Daemon>(network, std::uint8_t{1}, 7_s, std::uint64_t{6});
};

TEST_F(Trunk, AFrameActsAtTheFarSwitchExactlyWhenTheLinkSays) {
  EXPECT_TRUE(a->link_up);
  const Instant start = a->send({.frame_octets = 1000});
  run(1_ms);
  const auto sent = b->wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 1u);
  const Duration serialization = b->wire.serialization(kPort, 1000);
  EXPECT_EQ(sent[0].effect, start + b->ahead + serialization + kDelay + kSwitchLatency);
  EXPECT_EQ(a->end.trunk_counters().sent, 1u);
  EXPECT_EQ(b->end.trunk_counters().received, 1u);
  EXPECT_EQ(b->end.trunk_counters().late, 0u);
  EXPECT_EQ(b->end.trunk_counters().round_trip_ps, static_cast<std::uint64_t>((100_us).ps));
}

TEST_F(Trunk, WhatWasTrimmedBeforeIsTrimmedAtTheFarEndToo) {
  for (const bool real : {false, true}) {
    FrameSpec spec{.frame_octets = 4000, .real = real};
    spec.to = a->end.config().mac;
    Packet* const p = test::make_frame(a->wire.pool(), FecTable{}, spec);
    ASSERT_TRUE(trim(*p, 128, 9));
    a->wire.send(kPort, a->now() + 1_us, p);
    run(1_ms);
    const auto sent = b->wire.sent_data(kPort);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].packet.trimmed, 1u) << "nobody trims it again";
    EXPECT_EQ(sent[0].packet.frame_octets, 128 + wire::kFcsOctets);
    EXPECT_EQ(sent[0].view().traffic_class_octet >> 2, 9);
    EXPECT_TRUE(sent[0].view().trimmed);
  }
  EXPECT_EQ(b->end.trunk_counters().malformed, 0u);
}

TEST_F(Trunk, TheWayIsNeverShorterThanItIsHoweverLongALookTakes) {
  for (int i = 0; i < 20'000; ++i) {
    a->looked_before = 1_us * (i * 7 % 10);
    b->looked_before = 1_us * (i * 3 % 10);
    run(kStep);
    for (Daemon* d : {a.get(), b.get()})
      ASSERT_GE(d->end.trunk_counters().round_trip_ps, static_cast<std::uint64_t>((100_us).ps));
  }
  for (Daemon* d : {a.get(), b.get()}) {
    EXPECT_LE(d->end.trunk_counters().round_trip_ps, static_cast<std::uint64_t>((118_us).ps)) << "a look each";
    EXPECT_EQ(d->end.trunk_counters().clock_jumps, 0u);
  }
}

TEST_F(Trunk, HeadersAndPayloadAreTheSameButForTheMacAddresses) {
  for (const bool real : {false, true}) {
    const FrameSpec spec{.dscp = 11,
                         .ecn = wire::Ecn::kCe,
                         .tag = test::VlanTag{7, 5},
                         .frame_octets = 1500,
                         .real = real,
                         .stream = 77,
                         .offset = 4096};
    Packet* const copy = test::make_frame(a->wire.pool(), FecTable{}, spec);
    std::vector<std::byte> expected = test::octets_of(*copy);
    a->wire.pool().release(copy);
    a->send(spec);
    run(1_ms);
    const auto sent = b->wire.sent_data(kPort);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].view().traffic_class_octet, 11 << 2 | 3);
    EXPECT_EQ(sent[0].view().vid, 7);
    EXPECT_EQ(sent[0].packet.vid, 7);
    EXPECT_EQ(sent[0].packet.stream, 77u);
    EXPECT_EQ(sent[0].packet.offset, 4096u);
    EXPECT_EQ(sent[0].packet.frame_octets, 1500u);
    EXPECT_EQ(sent[0].packet.has(Packet::kElided), !real);
    ASSERT_EQ(sent[0].octets.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin() + 12, expected.end(), sent[0].octets.begin() + 12));
    EXPECT_EQ(wire::read<wire::Ethernet::Destination>(sent[0].octets.data()), b->end.config().peer_mac);
  }
}

TEST_F(Trunk, PfcOfTheFarSwitchReachesThisOne) {
  const Instant start = a->now() + 1_us;
  a->wire.send_pfc(kPort, start, 1 << 3, {0, 0, 0, 500});
  run(1_ms);
  const auto sent = b->wire.sent_control(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].pfc(), (wire::PfcFrame{1 << 3, {0, 0, 0, 500}}));
  EXPECT_EQ(sent[0].effect, start + b->ahead + b->wire.serialization(kPort, 64) + kDelay + kSwitchLatency);
}

TEST_F(Trunk, WhatOvertakesIsPutInOrderAndStaysInTime) {
  network.fate_of = [](unsigned n) { return Network::Fate{1, n % 3 == 0 ? 60_us : 0_us}; };
  burst(*a, 100);
  run(2_ms);
  EXPECT_EQ(numbers(b->wire.sent_data(kPort)), all_but(100, {}));
  EXPECT_EQ(b->end.trunk_counters().late, 0u);
  EXPECT_EQ(b->end.trunk_counters().lost, 0u);
}

TEST_F(Trunk, WhatIsLostIsCountedInTheBooks) {
  network.fate_of = [](unsigned n) { return Network::Fate{n == 3 || n == 4 || n == 99 ? 0 : 1, {}}; };
  burst(*a, 100);  // the last one is missed only because a ping tells of it
  run(50_ms);
  EXPECT_EQ(numbers(b->wire.sent_data(kPort)), all_but(100, {3, 4, 99}));
  EXPECT_EQ(b->end.trunk_counters().lost, 3u);
  EXPECT_EQ(b->drops(DropReason::kTrunkLost), 3u);
  EXPECT_EQ(b->end.trunk_counters().received, 97u);
  EXPECT_EQ(a->end.trunk_counters().sent, 100u);
  EXPECT_TRUE(b->books().balanced());
  EXPECT_EQ(b->books().generated, 100u);
}

TEST_F(Trunk, WhatComesTwiceIsDeliveredOnce) {
  network.fate_of = [](unsigned) { return Network::Fate{2, {}}; };
  burst(*a, 10);
  run(2_ms);
  EXPECT_EQ(numbers(b->wire.sent_data(kPort)), all_but(10, {}));
  EXPECT_EQ(b->end.trunk_counters().discarded, 10u);
  EXPECT_EQ(b->end.trunk_counters().lost, 0u);
}

TEST_F(Trunk, ANetworkSlowerThanTheLinkMakesFramesLateByThatMuch) {
  network.way = 500_us;
  run(1_s);  // until the clocks are aligned by the slower way alone
  const Instant start = a->send();
  run(2_ms);
  const auto sent = b->wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 1u);
  const Duration late =
      sent[0].effect - (start + b->ahead + b->wire.serialization(kPort, 1024) + kDelay + kSwitchLatency);
  EXPECT_GE(late, 299_us);
  EXPECT_LE(late, 300_us + 3 * kStep);
  EXPECT_EQ(b->end.trunk_counters().late, 1u);
  EXPECT_EQ(b->end.lateness().max(), static_cast<std::uint64_t>(late.ps));
}

TEST_F(Trunk, LateFramesComeNoFasterThanTheLinkCarriesThem) {
  network.way = 500_us;
  burst(*a, 20);
  run(2_ms);
  const auto sent = b->wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 20u);
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_GE(sent[i].effect - sent[i - 1].effect, 81'600_ps);
}

TEST_F(Trunk, ADeadNetworkTakesTheLinkDownAndBringsItBack) {
  network.cut[0] = network.cut[1] = true;
  burst(*a, 10);  // into the void, before anybody knows
  run(100_ms);
  EXPECT_TRUE(a->link_up);
  run(250_ms);
  EXPECT_FALSE(a->link_up);
  EXPECT_FALSE(b->link_up);
  EXPECT_EQ(a->end.trunk_counters().state, TrunkSession::State::kSilent);
  burst(*a, 5);
  run(10_ms);
  EXPECT_EQ(a->drops(DropReason::kLinkDown), 5u);

  network.cut[0] = network.cut[1] = false;
  run(50_ms);
  EXPECT_TRUE(a->link_up);
  EXPECT_TRUE(b->link_up);
  EXPECT_EQ(b->end.trunk_counters().lost, 10u) << "the same session goes on: what it sent meanwhile is missed";
  EXPECT_EQ(b->end.trunk_counters().downs, 2u) << "at the beginning, and now";
  burst(*a, 5);
  run(2_ms);
  EXPECT_EQ(b->wire.sent_data(kPort).size(), 5u);
}

TEST_F(Trunk, OneDirectionAloneIsNoLink) {
  network.cut[1] = true;
  run(400_ms);
  EXPECT_FALSE(a->link_up);
  EXPECT_FALSE(b->link_up);
}

TEST_F(Trunk, ARestartOfTheFarEndIsSurvived) {
  burst(*a, 10);
  run(30_ms);
  burst(*a, 7);  // for the life that ends now
  a->step();
  b.reset();
  network.now += 1_ms;
  b = std::make_unique<Daemon>(network, std::uint8_t{1}, Duration{} - network.now, std::uint64_t{9});
  const std::uint64_t downs = a->end.trunk_counters().downs;
  run(50_ms);
  EXPECT_EQ(a->end.trunk_counters().downs, downs + 1) << "that is another one, which knows of no pause";
  EXPECT_TRUE(a->link_up);
  EXPECT_TRUE(b->link_up);
  EXPECT_EQ(a->end.trunk_counters().unconfirmed + a->drops(DropReason::kLinkDown), 7u);
  EXPECT_TRUE(a->books().balanced());
  const Instant start = a->send();
  run(2_ms);
  const auto sent = b->wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].effect - (start + b->ahead), b->wire.serialization(kPort, 1024) + kDelay + kSwitchLatency);
  EXPECT_EQ(b->end.trunk_counters().lost, 0u);
}

TEST_F(Trunk, ALinkTakenDownByHandStaysDownAtBothEndsUntilItIsTakenUp) {
  a->end.link_down_at(a->now(), kPort);
  run(50_ms);
  EXPECT_FALSE(b->link_up);
  EXPECT_EQ(b->end.trunk_counters().state, TrunkSession::State::kPeerDown);
  network.cut[0] = network.cut[1] = true;
  run(400_ms);
  network.cut[0] = network.cut[1] = false;
  run(50_ms);
  EXPECT_FALSE(a->end.link_up(kPort)) << "the network is back, but nobody has taken it up";
  a->end.link_up_at(a->now(), kPort);
  run(50_ms);
  EXPECT_TRUE(a->end.link_up(kPort));
  EXPECT_TRUE(b->end.link_up(kPort));
}

TEST_F(Trunk, TakenUpByHandWithoutAFarEndItGoesDownAgain) {
  a->end.link_down_at(a->now(), kPort);
  network.cut[0] = network.cut[1] = true;
  run(400_ms);
  a->end.link_up_at(a->now(), kPort);
  run(1_ms);
  EXPECT_FALSE(a->end.link_up(kPort));
  network.cut[0] = network.cut[1] = false;
  run(50_ms);
  EXPECT_TRUE(a->end.link_up(kPort));
}

TEST_F(Trunk, AClockThatSlipsIsFollowed) {
  a->ahead = a->ahead - 3_ms;  // modelled time stands until the wall is there again
  network.now += 3_ms;
  run(30_ms);
  EXPECT_GE(b->end.trunk_counters().clock_jumps, 1u);
  const Instant start = a->send();
  run(2_ms);
  const auto sent = b->wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].effect - (start + (b->ahead - a->ahead)),
            b->wire.serialization(kPort, 1024) + kDelay + kSwitchLatency);
}

TEST_F(Trunk, ANetworkThatTakesNothingIsWaitedForAndThenCosts) {
  network.full = true;
  burst(*a, 5000);
  run(1_ms);
  EXPECT_EQ(a->books().queued, 4096u);
  EXPECT_EQ(a->drops(DropReason::kTrunkFull), 5000u - 4096u);
  network.full = false;
  run(2_ms);
  EXPECT_EQ(b->wire.sent_data(kPort).size(), 4096u);
  EXPECT_TRUE(a->books().balanced());
}

TEST_F(Trunk, WhatIsNoMessageOfThisSessionIsIgnoredAndCounted) {
  network.under_way[1].push_back({network.now, std::vector<std::byte>(100, std::byte{0x55})});
  burst(*a, 1);
  run(40_us);
  ASSERT_FALSE(network.under_way[1].empty());
  std::vector<std::byte> old = network.under_way[1].back().octets;
  wire::write<TrunkHeader::Session>(old.data(), 4);
  network.under_way[1].push_back({network.now, old});
  wire::write<TrunkHeader::Version>(old.data(), 2);
  network.under_way[1].push_back({network.now, old});
  run(2_ms);
  EXPECT_EQ(b->end.trunk_counters().malformed, 1u);
  EXPECT_EQ(b->end.trunk_counters().stale, 1u);
  EXPECT_EQ(b->end.trunk_counters().other_version, 1u);
  EXPECT_EQ(b->wire.sent_data(kPort).size(), 1u);
}

// Whatever the network does, nothing is delivered twice or out of order, and every frame is somewhere in the books.
TEST_F(Trunk, AnyNetworkLeavesTheBooksInBalance) {
  RngStream rng(Seed{3}, "trunk/network");
  network.fate_of = [&](unsigned) {
    return Network::Fate{static_cast<int>(rng.below(20) == 0 ? rng.below(3) : 1),
                         rng.below(4) == 0 ? 1_us * static_cast<std::int64_t>(rng.below(600)) : 0_us};
  };
  unsigned sent = 0;
  for (int round = 0; round < 200; ++round) {
    for (unsigned n = static_cast<unsigned>(rng.below(40)), i = 0; i < n; ++i, ++sent)
      a->send({.psn = sent, .frame_octets = 1000}, 1_us + 81'600_ps * i);
    run(10_us * static_cast<std::int64_t>(1 + rng.below(30)));
  }
  run(100_ms);
  const TrunkCounters c = b->end.trunk_counters();
  EXPECT_EQ(a->end.trunk_counters().sent, sent);
  EXPECT_EQ(c.received + c.lost, sent);
  EXPECT_GT(c.lost, 0u);
  EXPECT_GT(c.discarded, 0u);
  const std::vector<std::uint32_t> psns = numbers(b->wire.sent_data(kPort));
  EXPECT_EQ(psns.size(), c.received);
  EXPECT_TRUE(std::ranges::is_sorted(psns, std::less_equal<>{}));
}

}  // namespace
}  // namespace railyard
