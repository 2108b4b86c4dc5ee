#include "dataplane/port/application_port.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/wire/icrc.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;

constexpr FrameRingPairGeometry kRings{{.slots = 8, .slot_octets = 4416}, {.slots = 8, .slot_octets = 4416}};

bool readable(int fd) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, 0) == 1;
}

// The other end of a process: what a library in it does, or what a hostile one writes.
class Process {
 public:
  explicit Process(std::uint32_t block)
      : fabric(std::make_shared<ApplicationProcess>(kRings, block * ApplicationProcess::kQpnsPerProcess)),
        memory(static_cast<std::byte*>(
            ::mmap(nullptr, kRings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, fabric->memory(), 0))),
        out(kRings.rings_to_fabric(memory), kRings.to_fabric),
        in(kRings.ring_to_host(memory), kRings.to_host) {}
  ~Process() { ::munmap(memory, kRings.octets()); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool send(const std::vector<std::byte>& frame, std::uint32_t flags = 0, Priority priority = Priority{3}) {
    FrameRingProducer& ring = out.of(priority);
    std::byte* const room = ring.next();
    if (room == nullptr) return false;
    std::ranges::copy(frame, room);
    ring.commit(static_cast<std::uint32_t>(frame.size()), flags);
    if (ring.publish()) {
      const std::uint64_t one = 1;
      EXPECT_EQ(::write(fabric->fabric_doorbell(), &one, sizeof one), 8);
    }
    return true;
  }

  std::shared_ptr<ApplicationProcess> fabric;
  std::byte* memory;
  ClassRingsProducer out;
  FrameRingConsumer in;
};

class ApplicationPortTest : public ::testing::Test {
 protected:
  ~ApplicationPortTest() override { EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice"; }

  static FrameSpec spec(std::uint32_t qp) {
    return {.from = test::mac(2), .source = test::ip("10.0.0.1"), .destination_qp = qp, .frame_octets = 1024};
  }
  Packet* frame(const FrameSpec& s) { return test::make_frame(pool, FecTable{}, s); }
  // As an application writes it, with its ICRC.
  std::vector<std::byte> octets(const FrameSpec& s) {
    Packet* const p = frame(s);
    std::vector<std::byte> out;
    assemble(*p, out);
    pool.release(p);
    return out;
  }
  std::size_t take() {
    std::array<Packet*, 16> burst{};
    const std::size_t n = port.take(pool, burst);
    for (std::size_t i = 0; i < n; ++i) pool.release(burst[i]);
    return n;
  }
  // Classes of what came, as the usual map of DSCPs has them, while these have room.
  std::vector<int> take(PriorityMask classes) {
    std::array<Packet*, 32> burst{};
    const std::size_t n = port.take_of(classes, TrustMap{}, pool, burst);
    std::vector<int> out;
    for (std::size_t i = 0; i < n; ++i) {
      const auto view = wire::parse_frame(
          burst[i]->header_span(), burst[i]->header_octets + std::size_t{burst[i]->payload_octets} + wire::kIcrcOctets);
      out.push_back(view ? classify(TrustMap{}, *view).value : -1);
      pool.release(burst[i]);
    }
    return out;
  }
  static PriorityMask but(std::uint8_t priority) {
    return static_cast<PriorityMask>(kAllPriorities & ~bit(Priority{priority}));
  }
  static FrameSpec of_class(std::uint8_t priority) {
    FrameSpec s = spec(7);
    s.dscp = static_cast<std::uint8_t>(priority << 3 | 2);
    return s;
  }
  bool give(const FrameSpec& s) {
    Packet* const p = frame(s);
    if (port.give(pool, {&p, 1}) == 1) return true;
    pool.release(p);
    return false;
  }

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 1024, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  ApplicationPort port{{.name = "h1:1",
                        .mac = test::mac(2),
                        .address_v4 = test::ip("10.0.0.1"),
                        .address_v6 = std::nullopt,
                        .mtu = 9216}};
};

TEST_F(ApplicationPortTest, FramesOfAProcessComeInAsTheyAre) {
  Process a(1);
  port.join(a.fabric);
  const auto sent = octets(spec(7));
  ASSERT_TRUE(a.send(sent));
  std::array<Packet*, 4> burst{};
  ASSERT_EQ(port.take(pool, burst), 1u);
  const Packet& p = *burst[0];
  EXPECT_EQ(p.header_octets + p.payload_octets, sent.size());
  EXPECT_EQ(std::memcmp(p.header(), sent.data(), sent.size()), 0);
  EXPECT_EQ(p.frame_octets, sent.size() + 4);
  pool.release(burst[0]);
  EXPECT_EQ(port.counters().received, 1u);
}

TEST_F(ApplicationPortTest, AnIcrcThatIsNotComputedStaysSo) {
  Process a(1);
  port.join(a.fabric);
  auto sent = octets(spec(7));
  sent.resize(sent.size() - 4);
  ASSERT_TRUE(a.send(sent, kFrameIcrcPending));
  std::array<Packet*, 4> burst{};
  ASSERT_EQ(port.take(pool, burst), 1u);
  EXPECT_TRUE(burst[0]->has(Packet::kIcrcPending));
  EXPECT_EQ(burst[0]->frame_octets, sent.size() + 4 + 4);
  pool.release(burst[0]);
}

TEST_F(ApplicationPortTest, WhatIsNotOfTheNicIsDroppedAndCounted) {
  Process a(1);
  port.join(a.fabric);
  FrameSpec other_mac = spec(7);
  other_mac.from = test::mac(3);
  FrameSpec other_address = spec(7);
  other_address.source = test::ip("10.0.0.2");
  FrameSpec tagged = spec(7);
  tagged.tag = test::VlanTag{};
  for (const FrameSpec& s : {other_mac, other_address, tagged}) ASSERT_TRUE(a.send(octets(s)));
  ASSERT_TRUE(a.send(std::vector<std::byte>(60)));
  ASSERT_TRUE(a.send(std::vector<std::byte>(3)));
  ASSERT_TRUE(a.send({}));
  EXPECT_EQ(take(), 0u);
  EXPECT_EQ(a.fabric->counters().forged.read(), 2u);
  EXPECT_EQ(a.fabric->counters().malformed.read(), 4u);
  EXPECT_FALSE(a.fabric->broken());
  ASSERT_TRUE(a.send(octets(spec(7))));
  EXPECT_EQ(take(), 1u) << "it goes on";
}

TEST_F(ApplicationPortTest, FramesGoToTheProcessThatHasTheQp) {
  Process a(1), b(2);
  port.join(a.fabric);
  port.join(b.fabric);
  EXPECT_TRUE(give(spec(0x1000)));
  EXPECT_TRUE(give(spec(0x2FFF)));
  EXPECT_TRUE(give(spec(0x3000))) << "nobody's: dropped";
  ASSERT_TRUE(a.in.front());
  a.in.pop();
  EXPECT_FALSE(a.in.front());
  const auto frame = b.in.front();
  ASSERT_TRUE(frame);
  auto whole = octets(spec(0x2FFF));
  EXPECT_EQ(frame->octets.size() + ((frame->flags & kFrameIcrcPending) != 0 ? 4 : 0), whole.size());
  EXPECT_EQ(std::memcmp(frame->octets.data(), whole.data(), frame->octets.size()), 0);
  EXPECT_EQ(port.counters().sent, 2u);
  EXPECT_EQ(port.counters().not_sent, 1u);
}

// Says that all frames for QP 1 are for one process, or answers them.
struct FakeSharedQp final : SharedQp {
  Verdict for_frame(std::span<const std::byte> frame, bool) override {
    seen.assign(frame.begin(), frame.end());
    return {.first_qpn = owner, .answer = answer};
  }
  bool may_send(std::uint32_t first_qpn, std::span<const std::byte>, bool) override { return first_qpn == allowed; }

  std::optional<std::uint32_t> owner;
  std::vector<std::byte> answer;
  std::uint32_t allowed = 0;
  std::vector<std::byte> seen;
};

TEST_F(ApplicationPortTest, FramesForQp1GoToWhomTheirContentsName) {
  Process a(1), b(2);
  port.join(a.fabric);
  port.join(b.fabric);
  FrameSpec to_qp1 = spec(1);
  to_qp1.real = true;
  EXPECT_TRUE(give(to_qp1)) << "nobody's without an agent: dropped";
  const auto shared = std::make_shared<FakeSharedQp>();
  port.share_qp(shared);
  shared->owner = 0x2000;
  EXPECT_TRUE(give(to_qp1));
  ASSERT_TRUE(b.in.front());
  EXPECT_FALSE(a.in.front());
  const auto whole = octets(to_qp1);
  ASSERT_LE(shared->seen.size(), whole.size());
  EXPECT_TRUE(std::equal(shared->seen.begin(), shared->seen.end(), whole.begin()));
  shared->owner = 0x3000;
  EXPECT_TRUE(give(to_qp1)) << "who has gone: dropped";
  FrameSpec elided = spec(1);
  shared->owner = 0x2000;
  EXPECT_TRUE(give(elided)) << "a datagram without octets is none: dropped";
  EXPECT_EQ(port.counters().not_sent, 3u);
}

TEST_F(ApplicationPortTest, WhatNobodyTakesIsAnswered) {
  const auto shared = std::make_shared<FakeSharedQp>();
  port.share_qp(shared);
  FrameSpec to_qp1 = spec(1);
  to_qp1.real = true;
  shared->answer = octets(to_qp1);
  shared->answer.resize(shared->answer.size() - 4);
  EXPECT_FALSE(readable(port.readable()));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(give(to_qp1));
  EXPECT_TRUE(readable(port.readable())) << "the fabric is woken";
  std::array<Packet*, 1> one{};
  ASSERT_EQ(port.take(pool, one), 1u);
  EXPECT_EQ(std::memcmp(one[0]->header(), shared->answer.data(), shared->answer.size()), 0);
  EXPECT_TRUE(one[0]->has(Packet::kIcrcPending));
  EXPECT_EQ(one[0]->frame_octets, shared->answer.size() + 4 + 4);
  pool.release(one[0]);
  std::size_t n = 1;
  while (const std::size_t more = take()) n += more;
  EXPECT_EQ(n, 64u) << "a flood of questions is not answered without end";
  EXPECT_FALSE(readable(port.readable()));
}

// Frames of the only process fill what answers have left of the room, and no more.
TEST_F(ApplicationPortTest, AnswersAndFramesShareTheRoomThatThereIs) {
  Process a(1);
  port.join(a.fabric);
  const auto shared = std::make_shared<FakeSharedQp>();
  port.share_qp(shared);
  FrameSpec to_qp1 = spec(1);
  to_qp1.real = true;
  shared->answer = octets(to_qp1);
  shared->answer.resize(shared->answer.size() - 4);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(give(to_qp1));
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(a.send(octets(spec(7))));
  std::array<Packet*, 8> burst{};
  const std::size_t n = port.take(pool, std::span(burst).first(4));
  EXPECT_EQ(n, 4u);
  for (std::size_t i = 4; i < burst.size(); ++i) EXPECT_EQ(burst[i], nullptr) << i;
  for (Packet* const p : burst)
    if (p != nullptr) pool.release(p);
  EXPECT_EQ(take(), 4u) << "the others come next";
}

TEST_F(ApplicationPortTest, AProcessSendsToQp1WhatItMay) {
  Process a(1);
  port.join(a.fabric);
  const auto shared = std::make_shared<FakeSharedQp>();
  port.share_qp(shared);
  ASSERT_TRUE(a.send(octets(spec(1))));
  EXPECT_EQ(take(), 0u);
  EXPECT_EQ(a.fabric->counters().forged.read(), 1u);
  shared->allowed = 0x1000;
  ASSERT_TRUE(a.send(octets(spec(1))));
  EXPECT_EQ(take(), 1u);
}

TEST_F(ApplicationPortTest, AFullRingHoldsTheNicBackAndThenCostsItsProcessOnly) {
  Process a(1);
  port.join(a.fabric);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(give(spec(0x1000)));
  EXPECT_FALSE(give(spec(0x1000))) << "it waits, so that the fabric is paused";
  ASSERT_TRUE(a.in.front());
  a.in.pop();
  a.in.release();
  EXPECT_TRUE(give(spec(0x1000)));
  EXPECT_FALSE(give(spec(0x1000)));
  const timespec patience{.tv_sec = 0, .tv_nsec = ApplicationPort::kPatienceNs + 20'000'000};
  ::nanosleep(&patience, nullptr);
  EXPECT_TRUE(give(spec(0x1000))) << "dropped";
  EXPECT_EQ(a.fabric->counters().ring_full.read(), 1u);
}

// A NIC whose class 3 is full takes what is of other classes.
TEST_F(ApplicationPortTest, AClassThatIsHeldBackHoldsBackNoOther) {
  Process a(1);
  port.join(a.fabric);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(a.send(octets(of_class(3)), 0, Priority{3}));
  EXPECT_FALSE(a.send(octets(of_class(3)), 0, Priority{3})) << "its ring is full";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a.send(octets(of_class(0)), 0, Priority{0}));
  EXPECT_EQ(take(but(3)), (std::vector<int>{0, 0}));
  EXPECT_EQ(take(but(3)), std::vector<int>{});
  ASSERT_TRUE(a.send(octets(of_class(6)), 0, Priority{6}));
  EXPECT_EQ(take(but(3)), std::vector<int>{6});
  EXPECT_EQ(take(kAllPriorities), (std::vector<int>(8, 3))) << "in order, and none is lost";
}

TEST_F(ApplicationPortTest, ClassesOfAProcessTakeTurns) {
  Process a(1), b(2);
  port.join(a.fabric);
  port.join(b.fabric);
  for (int i = 0; i < 8; ++i)
    for (const Priority c : {Priority{3}, Priority{5}, Priority{6}})
      ASSERT_TRUE(a.send(octets(of_class(c.value)), 0, c));
  std::vector<int> all = take(kAllPriorities);  // not more than 16 of one process at once
  EXPECT_EQ(std::ranges::count(all, 3), 8);
  EXPECT_EQ(std::ranges::count(all, 5), 8);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(a.send(octets(of_class(3)), 0, Priority{3}));
  all = take(kAllPriorities);
  EXPECT_EQ(std::ranges::count(all, 6), 8) << "though class 3 has more to send";
}

// What a frame says of itself counts, whatever ring it lies in: a process cannot send past a pause.
TEST_F(ApplicationPortTest, AFrameInTheRingOfAnotherClassWaitsForItsOwn) {
  Process a(1), b(2);
  port.join(a.fabric);
  port.join(b.fabric);
  ASSERT_TRUE(a.send(octets(of_class(3)), 0, Priority{0}));
  ASSERT_TRUE(a.send(octets(of_class(0)), 0, Priority{0}));
  ASSERT_TRUE(b.send(octets(of_class(0)), 0, Priority{0}));
  EXPECT_EQ(take(but(3)), std::vector<int>{0}) << "the other process's";
  for (int i = 0; i < 200; ++i) ASSERT_EQ(take(but(3)), std::vector<int>{}) << "only the liar waits";
  EXPECT_EQ(take(kAllPriorities), (std::vector<int>{3, 0}));
}

// The class of a frame is what the NIC trusts, as for any host outside.
TEST_F(ApplicationPortTest, ANicThatDoesNotTrustDscpsHasOneClassForAllFrames) {
  Process a(1);
  port.join(a.fabric);
  TrustMap trust;
  trust.trust = Trust::kPcp;
  trust.default_class = 4;
  ASSERT_TRUE(a.send(octets(of_class(3)), 0, Priority{3}));
  std::array<Packet*, 4> burst{};
  EXPECT_EQ(port.take_of(but(4), trust, pool, burst), 0u);
  ASSERT_EQ(port.take_of(static_cast<PriorityMask>(but(3) & but(4)), trust, pool, burst), 0u);
  ASSERT_EQ(port.take_of(kAllPriorities, trust, pool, burst), 1u);
  pool.release(burst[0]);
}

TEST_F(ApplicationPortTest, AProcessRingsForEachClassWhileTheFabricSleeps) {
  Process a(1);
  port.join(a.fabric);
  ASSERT_TRUE(a.send(octets(of_class(3)), 0, Priority{3}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(take(but(3)), std::vector<int>{});
  EXPECT_FALSE(readable(port.readable())) << "what is held back does not wake the fabric again and again";
  ASSERT_TRUE(a.send(octets(of_class(0)), 0, Priority{0}));
  EXPECT_TRUE(readable(port.readable()));
  EXPECT_EQ(take(but(3)), std::vector<int>{0});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(take(but(3)), std::vector<int>{});
  EXPECT_FALSE(readable(port.readable()));
  EXPECT_EQ(take(kAllPriorities), std::vector<int>{3}) << "seen when the pause ends, without a signal";
}

TEST_F(ApplicationPortTest, AnAnswerWaitsWhileItsClassIsHeldBack) {
  const auto shared = std::make_shared<FakeSharedQp>();
  port.share_qp(shared);
  FrameSpec to_qp1 = spec(1);
  to_qp1.real = true;
  to_qp1.dscp = 26;
  shared->answer = octets(to_qp1);
  shared->answer.resize(shared->answer.size() - 4);
  ASSERT_TRUE(give(to_qp1));
  EXPECT_EQ(take(but(3)), std::vector<int>{});
  EXPECT_EQ(take(kAllPriorities), std::vector<int>{3});
}

TEST_F(ApplicationPortTest, AProcessThatLiesIsCutOff) {
  Process a(1), b(2);
  port.join(a.fabric);
  port.join(b.fabric);
  EXPECT_FALSE(readable(port.attention()));
  reinterpret_cast<FrameRingHeader*>(kRings.rings_to_fabric(a.memory) + 5 * kRings.to_fabric.octets())->tail = 1000;
  ASSERT_TRUE(b.send(octets(spec(7))));
  std::size_t n = take();
  n += take();
  EXPECT_EQ(n, 1u);
  EXPECT_TRUE(a.fabric->broken());
  EXPECT_FALSE(b.fabric->broken());
  EXPECT_TRUE(readable(port.attention()));
  EXPECT_TRUE(give(spec(0x1000))) << "dropped";
  EXPECT_EQ(port.counters().not_sent, 1u);
}

TEST_F(ApplicationPortTest, TheDoorbellRingsOnlyWhenTheFabricSleeps) {
  Process a(1);
  port.join(a.fabric);
  ASSERT_TRUE(a.send(octets(spec(7))));
  EXPECT_FALSE(readable(port.readable())) << "the fabric did not ask for it";
  EXPECT_EQ(take(), 1u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(take(), 0u);
  EXPECT_FALSE(readable(port.readable()));
  ASSERT_TRUE(a.send(octets(spec(7))));
  EXPECT_TRUE(readable(port.readable()));
  EXPECT_EQ(take(), 1u);
  EXPECT_FALSE(readable(port.readable()));
}

TEST_F(ApplicationPortTest, AProcessSeesItsLink) {
  Process a(1);
  const auto up = [&] { return FrameRingPairGeometry::state(a.memory).link_up.load(); };
  port.set_carrier(false);
  port.join(a.fabric);
  EXPECT_EQ(up(), 0u);
  port.set_carrier(true);
  EXPECT_EQ(up(), 1u);
  EXPECT_TRUE(readable(a.fabric->host_doorbell()));
}

TEST_F(ApplicationPortTest, AProcessThatHasLeftGetsNothing) {
  Process a(1);
  port.join(a.fabric);
  EXPECT_TRUE(port.link_up());
  EXPECT_EQ(port.leave(*a.fabric), a.fabric);
  EXPECT_EQ(port.leave(*a.fabric), nullptr);
  EXPECT_FALSE(port.link_up());
  EXPECT_TRUE(give(spec(0x1000)));
  EXPECT_EQ(port.counters().not_sent, 1u);
  ASSERT_TRUE(a.send(octets(spec(7))));
  EXPECT_EQ(take(), 0u);
}

// A NIC sends what it has told to be done, though the program ends at once.
TEST_F(ApplicationPortTest, TheLastFramesOfAProcessAreSent) {
  Process a(1);
  port.join(a.fabric);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(a.send(octets(of_class(3))));
  ASSERT_TRUE(a.send(octets(of_class(5)), 0, Priority{5}));
  EXPECT_FALSE(port.has_ended(*a.fabric));
  EXPECT_TRUE(give(spec(0x1000)));
  EXPECT_EQ(a.fabric->counters().sent.read(), 0u) << "nothing goes to it any more";
  EXPECT_EQ(take(but(5)).size(), 3u);
  EXPECT_FALSE(port.has_ended(*a.fabric)) << "one is held back";
  EXPECT_EQ(take(kAllPriorities).size(), 1u);
  EXPECT_TRUE(port.has_ended(*a.fabric));
  EXPECT_EQ(port.leave(*a.fabric), a.fabric);
  EXPECT_EQ(a.fabric->counters().left.read(), 0u);
}

TEST_F(ApplicationPortTest, LastFramesThatFindNoRoomAreCounted) {
  Process a(1);
  port.join(a.fabric);
  ASSERT_TRUE(a.send(octets(spec(7))));
  ASSERT_TRUE(a.send(octets(of_class(5)), 0, Priority{5}));
  EXPECT_FALSE(port.has_ended(*a.fabric));
  EXPECT_EQ(port.leave(*a.fabric), a.fabric);
  EXPECT_EQ(a.fabric->counters().left.read(), 2u);
  EXPECT_EQ(take(), 0u);
}

// The fabric sleeps until it rings; one that was killed between the two does not ring.
TEST_F(ApplicationPortTest, TheLastFrameOfAProcessThatCouldNotRingIsSent) {
  Process a(1);
  port.join(a.fabric);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(take(), 0u);
  FrameRingProducer& ring = a.out.of(Priority{3});
  const std::vector<std::byte> last = octets(spec(7));
  std::ranges::copy(last, ring.next());
  ring.commit(static_cast<std::uint32_t>(last.size()), 0);
  reinterpret_cast<FrameRingHeader*>(kRings.rings_to_fabric(a.memory) + 3 * kRings.to_fabric.octets())->tail.store(1);
  EXPECT_EQ(take(), 0u);
  EXPECT_FALSE(port.has_ended(*a.fabric));
  EXPECT_EQ(take(), 1u);
  EXPECT_TRUE(port.has_ended(*a.fabric));
}

}  // namespace
}  // namespace railyard
