// Frames of a capture among those of a NIC's own endpoint.
#include "dataplane/port/replay_endpoint.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/pfc.h"
#include "tests/support/frames.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using test::FrameSpec;
using testing::ElementsAre;
using testing::HasSubstr;

// Always has frames of class 3, numbered; counts what arrives.
class Own final : public Endpoint {
 public:
  Readiness ready(Instant) override { return {1 << 3, Instant::never()}; }
  std::size_t send(Instant, Priority priority, std::span<TxFrame> frames) override {
    if (priority != Priority{3}) return 0;
    for (TxFrame& f : frames) f.payload = {kStream, sent++, 0, nullptr};
    return frames.size();
  }
  bool receive(std::span<const RxFrame> frames) override { return received += frames.size(), true; }

  static constexpr std::uint64_t kStream = 99;
  std::uint64_t sent = 0;
  std::size_t received = 0;
};

class ReplayTest : public ::testing::Test {
 protected:
  CapturedFrame frame(Duration when, const FrameSpec& spec = {}) {
    Packet* p = test::make_frame(pools[WorkerId{0}], FecTable{}, spec);
    std::vector<std::byte> octets;
    assemble(*p, octets);
    pools[WorkerId{0}].release(p);
    return {at(when), std::move(octets)};
  }
  std::unique_ptr<ReplayEndpoint> replay(std::vector<CapturedFrame> frames, const ReplayTiming& timing = {},
                                         std::unique_ptr<Endpoint> own = nullptr, Instant begin = Instant{}) {
    auto plan = plan_replay(std::move(frames), nic, test::mac(0x42), timing);
    EXPECT_TRUE(plan) << plan.error();
    auto endpoint = std::make_unique<ReplayEndpoint>(std::make_shared<ReplayPlan>(std::move(*plan)), control);
    endpoint->begin(begin, std::move(own));
    return endpoint;
  }
  // What is sent of class 3 at an instant, at most `most` frames: indices in the plan, -1 for one of its own.
  std::vector<int> send(Endpoint& e, Instant now, std::size_t most = 4, std::uint8_t c = 3) {
    std::vector<std::array<std::byte, kMaxHeaderOctets>> room(most);
    std::vector<TxFrame> frames(most);
    for (std::size_t i = 0; i < most; ++i) frames[i].header = room[i].data();
    frames.resize(e.send(now, Priority{c}, frames));
    std::vector<int> out;
    for (const TxFrame& f : frames)
      out.push_back(f.payload.stream == Own::kStream ? -1 : static_cast<int>(f.payload.offset));
    return out;
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  NicConfig nic;
  std::shared_ptr<ReplayControl> control = std::make_shared<ReplayControl>();
};

TEST_F(ReplayTest, AtTheTimesOfTheFileFromItsBeginning) {
  const auto e = replay({frame(5_us), frame(1_us), frame(8_us)}, {}, nullptr, at(100_us));
  EXPECT_EQ(e->ready(at(99_us)).classes, 0);
  EXPECT_EQ(e->ready(at(99_us)).until, at(100_us)) << "the first one, at 1 us in the file, begins it";
  EXPECT_THAT(send(*e, at(99_us)), ElementsAre());
  EXPECT_EQ(e->ready(at(100_us)).classes, 1 << 3);
  EXPECT_THAT(send(*e, at(100_us)), ElementsAre(0));
  EXPECT_EQ(e->ready(at(100_us)).until, at(104_us));
  EXPECT_THAT(send(*e, at(200_us)), ElementsAre(1, 2)) << "held back by the NIC";
  EXPECT_TRUE(control->finished);
  EXPECT_EQ(control->sent.read(), 3u);
  EXPECT_EQ(e->ready(at(200_us)).classes, 0);
}

TEST_F(ReplayTest, EachInTheClassOfItsCodePoint) {
  const auto e = replay({frame(0_us, {.dscp = 0}), frame(0_us, {.dscp = 48}), frame(0_us)});
  EXPECT_EQ(e->ready(at(0_us)).classes, 1 << 0 | 1 << 3 | 1 << 6);
  EXPECT_THAT(send(*e, at(0_us), 4, 6), ElementsAre(1));
  EXPECT_FALSE(control->finished);
  EXPECT_THAT(send(*e, at(0_us), 4, 0), ElementsAre(0));
  EXPECT_THAT(send(*e, at(0_us), 4, 3), ElementsAre(2));
  EXPECT_TRUE(control->finished);
}

TEST_F(ReplayTest, AtARateItIsThatOnTheWire) {
  const auto e = replay({frame(0_us, {.frame_octets = 1230}), frame(0_us), frame(0_us)}, {.rate = 1_Gbps});
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(0));
  EXPECT_EQ(e->ready(at(0_us)).until, at(10_us)) << "1230 and 20 octets";
}

TEST_F(ReplayTest, ALoopGoesOnUntilItIsStopped) {
  const auto e = replay({frame(0_us), frame(2_us), frame(4_us)}, {.loop = true});
  EXPECT_THAT(send(*e, at(6_us), 8), ElementsAre(0, 1, 2, 0)) << "a round takes 6 us";
  EXPECT_THAT(send(*e, at(60_us), 5), ElementsAre(1, 2, 0, 1, 2));
  control->stop = true;
  EXPECT_EQ(e->ready(at(61_us)).classes, 0);
  EXPECT_THAT(send(*e, at(61_us)), ElementsAre());
  EXPECT_FALSE(control->finished);
  EXPECT_EQ(control->sent.read(), 9u);

  control = std::make_shared<ReplayControl>();
  const auto fast = replay({frame(0_us), frame(1_s)}, {.as_fast_as_possible = true, .loop = true});
  EXPECT_THAT(send(*fast, at(0_us), 5), ElementsAre(0, 1, 0, 1, 0));
}

TEST_F(ReplayTest, WithTheNicsOwnEndpointItTakesTurnsAndWhatArrivesIsIts) {
  auto own = std::make_unique<Own>();
  Own& there = *own;
  const auto e =
      replay({frame(0_us), frame(0_us), frame(0_us), frame(0_us), frame(0_us), frame(9_us)}, {}, std::move(own));
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(4, -1, -1, -1));
  EXPECT_EQ(e->ready(at(0_us)).until, at(9_us));
  const RxFrame arrived{};
  EXPECT_TRUE(e->receive({&arrived, 1}));
  EXPECT_EQ(there.received, 1u);
  const std::unique_ptr<Endpoint> back = e->take_own();
  EXPECT_EQ(back.get(), &there);
}

TEST_F(ReplayTest, PfcFramesGoAtTheirTimes) {
  std::array<std::byte, wire::kMinFrameOctets> pause{};
  wire::write_pfc(pause, test::mac(1), {.enable = 8, .quanta = {0, 0, 0, 77}});
  const CapturedFrame pfc{at(2_us), {pause.begin(), pause.end()}};
  const auto e = replay({frame(0_us), pfc});
  std::array<std::byte, kControlOctets> out{};
  EXPECT_THAT(send(*e, at(0_us)), ElementsAre(0));
  EXPECT_FALSE(e->take_control(at(1_us), out));
  EXPECT_EQ(e->ready(at(1_us)).until, at(2_us));
  EXPECT_FALSE(control->finished);
  EXPECT_TRUE(e->ready(at(2_us)).control);
  ASSERT_TRUE(e->take_control(at(2_us), out));
  EXPECT_EQ(out, pause);
  EXPECT_TRUE(control->finished);
  EXPECT_EQ(control->sent.read(), 2u);
  // In rounds, with a gap behind the last one like the others.
  const auto again = replay({frame(0_us), pfc}, {.loop = true});
  ASSERT_TRUE(again->take_control(at(2_us), out));
  EXPECT_EQ(again->ready(at(2_us)).classes, 1 << 3);
  EXPECT_FALSE(again->take_control(at(5_us), out));
  EXPECT_TRUE(again->take_control(at(6_us), out)) << "2 us into the round that began at 4 us";
}

TEST_F(ReplayTest, MacControlThatIsNotPfcIsLeftOut) {
  std::array<std::byte, wire::kMinFrameOctets> pause{};
  wire::write_pfc(pause, test::mac(1), {.enable = 8, .quanta = {}});
  wire::write<wire::MacControl::Opcode>(pause.data() + wire::Ethernet::kOctets, wire::mac_control_opcode::kPause);
  const auto plan = plan_replay({frame(0_us), {at(1_us), {pause.begin(), pause.end()}}}, nic, test::mac(0x42), {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->not_sendable, 1u);
  EXPECT_EQ(plan->not_pfc, 1u);
  EXPECT_TRUE(plan->controls.empty());
}

TEST_F(ReplayTest, WhatNoNicWouldSendIsCounted) {
  nic.mtu = 1500;
  auto bad = frame(0_us);
  bad.octets.resize(20);
  auto plan = plan_replay({bad, frame(0_us, {.frame_octets = 4096}), frame(3_us)}, nic, test::mac(0x42), {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->not_sendable, 2u);
  ASSERT_EQ(plan->frames.size(), 1u);
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(plan->frames[0].octets.data()), test::mac(0x42));
  EXPECT_THAT(plan_replay({bad}, nic, test::mac(0x42), {}).error(), HasSubstr("it has no frames"));
  EXPECT_THAT(plan_replay({}, nic, test::mac(0x42), {}).error(), HasSubstr("it has no frames"));
  EXPECT_THAT(plan_replay({frame(1_us), frame(1_us)}, nic, test::mac(0x42), {.loop = true}).error(),
              HasSubstr("cannot loop"));
}

}  // namespace
}  // namespace railyard
