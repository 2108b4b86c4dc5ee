#include "dataplane/fault/link_faults.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "dataplane/packet/fec_table.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using namespace literals;
namespace act = frame_action;

struct Out {
  std::uint64_t offset;
  Duration at;
  std::uint8_t flags;
  std::uint32_t octets;
  std::uint8_t traffic_class_octet;
};

// A stage by itself: frames number 0, 1, 2 ... go in one microsecond apart, or as a test says.
class LinkFaultsTest : public testing::Test {
 protected:
  static constexpr Duration kLatency = 600_ns;

  std::shared_ptr<FrameFault> add(FrameFaultConfig config, const std::string& drawer = "fault/t/leaf1:1") {
    auto fault = std::make_shared<FrameFault>(std::move(config), Seed{1}, drawer);
    stage_.add(fault);
    return fault;
  }
  auto deliver() {
    return [this](Packet* p, Instant at, Instant) {
      out_.push_back({p->offset, at - Instant{}, p->flags, p->frame_octets, p->traffic_class_octet});
      pool().release(p);
    };
  }
  void send(Duration effect, test::FrameSpec spec = {}) {
    spec.offset = sent_++;
    const Instant at = Instant{} + effect;
    stage_.pass(Lane::kData, test::make_frame(pool(), fecs_, spec), at, at - 1_us, at - kLatency, pool(), deliver());
  }
  void send_many(int n, test::FrameSpec spec = {}) {
    for (int i = 0; i < n; ++i) send(1_us * (i + 1), spec);
  }
  void finish() {
    stage_.release(Lane::kData, Instant::never(), deliver());
    EXPECT_EQ(pools_.in_use(), 0u);
    EXPECT_EQ(sent_ + stage_.duplicated(), out_.size() + stage_.lost());
    for (std::size_t i = 1; i < out_.size(); ++i) EXPECT_LE(out_[i - 1].at, out_[i].at);
  }
  std::vector<std::uint64_t> order() const {
    std::vector<std::uint64_t> offsets;
    for (const Out& o : out_) offsets.push_back(o.offset);
    return offsets;
  }
  PacketPool& pool() { return pools_[WorkerId{0}]; }

  PacketPools pools_{1, {.elided_limit = 1u << 16, .real_limit = 1u << 10, .real_octets = 9728}};
  FecTable fecs_;
  LinkFaults stage_;
  std::uint64_t sent_ = 0;
  std::vector<Out> out_;
};

TEST_F(LinkFaultsTest, LossByChance) {
  const auto fault = add({.action = act::Lose{}, .chance = Chance::of(1, 10)});
  send_many(20'000);
  finish();
  EXPECT_NEAR(static_cast<double>(stage_.lost()), 2000, 5 * std::sqrt(20'000 * 0.1 * 0.9));
  EXPECT_EQ(fault->touched(), stage_.lost());
}

TEST_F(LinkFaultsTest, OnlyFramesThatArriveInTheIntervalAreTouched) {
  // Frames arrive kLatency before they take effect: numbers 2, 3 and 4 at 2.4, 3.4 and 4.4 us.
  const auto fault = add({.action = act::Lose{}, .when = {.first = Instant{} + 2400_ns, .lasts = 2_us + 1_ps}});
  send_many(8);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{0, 1, 5, 6, 7}));
  EXPECT_EQ(fault->touched(), 3u);
}

TEST_F(LinkFaultsTest, TheNthThatMatchesInEachOccurrence) {
  const auto fault = add({.action = act::Lose{}, .when = {.every = 5_us, .lasts = 5_us, .count = 2}, .nth = 2});
  send_many(15);  // arriving at 0.4, 1.4, ... 14.4 us: five per occurrence
  finish();
  EXPECT_EQ(fault->touched(), 2u);
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{0, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14}));
  const auto occurrences = fault->touched_by_occurrence();
  ASSERT_EQ(occurrences.size(), 2u);
  EXPECT_EQ(occurrences[1].when.begin, Instant{} + 5_us);
  EXPECT_EQ(occurrences[1].frames, 1u);
}

TEST_F(LinkFaultsTest, SoManyAtMost) {
  add({.action = act::Lose{}, .most = 3});
  send_many(5);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{3, 4}));
}

TEST_F(LinkFaultsTest, NothingIsTouchedOnceItHasEnded) {
  add({.action = act::Lose{}})->end_at(Instant{} + 2_us);
  send_many(4);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{2, 3}));  // the first two arrived at 0.4 and 1.4 us
  EXPECT_TRUE(stage_.all_ended(Instant{} + 2_us));
}

TEST_F(LinkFaultsTest, BitErrorsAreForTheNextMacToFind) {
  add({.action = act::BitError{BitErrors(1, 10'000)}});
  send_many(5000, {.frame_octets = 1024});
  finish();
  const auto bad = std::ranges::count_if(out_, [](const Out& o) { return (o.flags & Packet::kFcsBad) != 0; });
  const double p = 1 - std::pow(1 - 1e-4, 8 * 1024);
  EXPECT_NEAR(static_cast<double>(bad), 5000 * p, 5 * std::sqrt(5000 * p * (1 - p)));
}

TEST_F(LinkFaultsTest, DuplicatesComeRightBehind) {
  add({.action = act::Duplicate{}, .nth = 2});
  send_many(3, {.real = true});
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{0, 1, 1, 2}));
  EXPECT_EQ(out_[1].at, out_[2].at);
  EXPECT_EQ(stage_.duplicated(), 1u);
}

TEST_F(LinkFaultsTest, TruncationLeavesAWrongFcsAndTheHeaders) {
  add({.action = act::Truncate{256}, .nth = 1});
  add({.action = act::Truncate{10}, .nth = 2});
  send_many(3, {.frame_octets = 1024});
  finish();
  EXPECT_EQ(out_[0].octets, 256u);
  EXPECT_EQ(out_[1].octets, 64u);
  EXPECT_EQ(out_[2].octets, 1024u);
  EXPECT_NE(out_[0].flags & Packet::kFcsBad, 0);
  EXPECT_EQ(out_[2].flags & Packet::kFcsBad, 0);
}

TEST_F(LinkFaultsTest, OnlyEcnCapablePacketsAreMarked) {
  const auto fault = add({.action = act::Mark{}});
  send(1_us, {.ecn = wire::Ecn::kEct0});
  send(2_us, {.ecn = wire::Ecn::kNotEct});
  send(3_us, {.ecn = wire::Ecn::kCe});
  finish();
  EXPECT_EQ(wire::ecn_of(out_[0].traffic_class_octet), wire::Ecn::kCe);
  EXPECT_EQ(wire::ecn_of(out_[1].traffic_class_octet), wire::Ecn::kNotEct);
  EXPECT_EQ(fault->touched(), 1u);
}

TEST_F(LinkFaultsTest, ALongerCableKeepsOrderAlsoWhenItEnds) {
  add({.action = act::Delay{10_us, {}, true}, .when = {.lasts = 2_us}});  // numbers 0 and 1
  send_many(20);
  finish();
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(out_[i].offset, i);
  EXPECT_EQ(out_[0].at, 11_us);
  EXPECT_EQ(out_[1].at, 12_us);
  EXPECT_EQ(out_[2].at, 12_us) << "behind those that were delayed";
  EXPECT_EQ(out_[13].at, 14_us);
}

TEST_F(LinkFaultsTest, JitterIsEvenAndWithinItsBounds) {
  add({.action = act::Delay{1_us, 400_ns, true}});
  double sum = 0;
  for (int i = 0; i < 2000; ++i) send(10_us * (i + 1));
  finish();
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const Duration extra = out_[i].at - 10_us * static_cast<std::int64_t>(i + 1);
    EXPECT_GE(extra, 1_us);
    EXPECT_LE(extra, 1400_ns);
    sum += static_cast<double>(extra.ps);
  }
  EXPECT_NEAR(sum / 2000 * 1e-3, 1200, 5 * 400 / std::sqrt(12.0 * 2000));
}

// Uniform over [least, least + spread], whatever the gap between frames: the k-th tenth of the range has a tenth of them.
// Frames stay in order.
TEST_F(LinkFaultsTest, JitterIsUniformAtAnyRateOfFramesAndKeepsOrder) {
  constexpr Duration kLeast = 40_us;
  constexpr Duration kSpread = 20_us;
  for (const Duration gap : {4_us, 9_us, 100_us}) {
    out_.clear();
    LinkFaults stage;
    stage.add(std::make_shared<FrameFault>(FrameFaultConfig{.action = act::Delay{kLeast, kSpread, true}}, Seed{3},
                                           "fault/t/leaf1:1"));
    constexpr int kFrames = 40'000;
    std::vector<Instant> arrivals;
    std::array<int, 10> tenths{};
    std::uint64_t next = 0;
    const auto take = [&](Packet* p, Instant at, Instant) {
      EXPECT_EQ(p->offset, next++) << "in order";
      const Duration extra = at - arrivals[p->offset];
      EXPECT_GE(extra, kLeast);
      EXPECT_LE(extra, kLeast + kSpread);
      ++tenths[std::min<std::size_t>(9, static_cast<std::size_t>((extra - kLeast).ps / (kSpread.ps / 10)))];
      pool().release(p);
    };
    for (int i = 0; i < kFrames; ++i) {
      const Instant at = arrivals.emplace_back(Instant{} + gap * (i + 1));
      test::FrameSpec spec;
      spec.offset = static_cast<std::uint64_t>(i);
      stage.pass(Lane::kData, test::make_frame(pool(), fecs_, spec), at, at, at, pool(), take);
    }
    stage.release(Lane::kData, Instant::never(), take);
    EXPECT_EQ(next, static_cast<std::uint64_t>(kFrames));
    // The walk forgets in about (spread / gap)^2 frames; 25 at 4 us. Five standard deviations.
    const double effective = kFrames / std::max(1.0, std::pow(20.0 / (static_cast<double>(gap.ps) / 1e6), 2));
    for (const int n : tenths) EXPECT_NEAR(n / double{kFrames}, 0.1, 5 * std::sqrt(0.09 / effective)) << gap.ps;
  }
}

// As netem does: what would be earlier than without a delay is not.
TEST_F(LinkFaultsTest, ADelayBelowNothingIsNone) {
  add({.action = act::Delay{Duration{} - 1_us, 4_us, false}});
  int none = 0;
  for (int i = 0; i < 4000; ++i) send(10_us * (i + 1));
  finish();
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const Duration extra = out_[i].at - 10_us * static_cast<std::int64_t>(i + 1);
    EXPECT_GE(extra, Duration{});
    EXPECT_LE(extra, 3_us);
    none += extra == Duration{};
  }
  EXPECT_NEAR(none / 4000.0, 0.25, 5 * std::sqrt(0.25 * 0.75 / 4000)) << "drawn from -1..3 us";
}

TEST_F(LinkFaultsTest, ADelayOfOneFrameLetsOthersPass) {
  add({.action = act::Delay{2500_ns, {}, false}, .nth = 1});
  send_many(5);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{1, 2, 0, 3, 4}));
  EXPECT_EQ(out_[2].at, 3500_ns);
}

TEST_F(LinkFaultsTest, AHeldFrameGoesBeforeOneThatTakesEffectAtTheSameInstant) {
  add({.action = act::Delay{2_us, {}, false}, .nth = 1});
  send_many(4);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{1, 0, 2, 3}));
}

TEST_F(LinkFaultsTest, ReorderingBehindSoManyFrames) {
  add({.action = act::Reorder{3, 1_ms}, .nth = 2});
  send_many(7);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{0, 2, 3, 4, 1, 5, 6}));
  EXPECT_EQ(out_[4].at, 5_us) << "with the third that passed it";
}

TEST_F(LinkFaultsTest, ReorderingEndsWhenNothingFollows) {
  add({.action = act::Reorder{3, 10_us}, .nth = 2});
  send_many(3);
  finish();
  EXPECT_EQ(order(), (std::vector<std::uint64_t>{0, 2, 1}));
  EXPECT_EQ(out_[2].at, 12_us);
}

TEST_F(LinkFaultsTest, PortionsOfTimeDoNotShow) {
  const auto run = [&](Duration slice) {
    LinkFaults stage;
    std::vector<std::pair<std::uint64_t, std::int64_t>> out;
    const auto deliver = [&](Packet* p, Instant at, Instant) {
      out.push_back({p->offset, at.ps});
      pool().release(p);
    };
    int n = 0;
    for (const FrameAction& a :
         {FrameAction{act::Lose{}}, FrameAction{act::Duplicate{}}, FrameAction{act::Delay{3_us, 5_us, false}},
          FrameAction{act::Reorder{2, 20_us}}, FrameAction{act::Delay{1_us, 1_us, true}}})
      stage.add(std::make_shared<FrameFault>(FrameFaultConfig{.action = a, .chance = Chance::of(1, 5)}, Seed{1},
                                             "fault/" + std::to_string(n++)));
    Instant done{};
    for (int i = 0; i < 500; ++i) {
      const Instant at = Instant{} + 700_ns * (i / 2 + 1);
      for (; slice > Duration{} && done + slice <= at; done = done + slice)
        stage.release(Lane::kData, done + slice, deliver);
      stage.pass(Lane::kData, test::make_frame(pool(), fecs_, {.offset = static_cast<std::uint64_t>(i)}), at, at, at,
                 pool(), deliver);
    }
    stage.release(Lane::kData, Instant::never(), deliver);
    return out;
  };
  const auto whole = run({});
  EXPECT_EQ(run(1_us), whole);
  EXPECT_EQ(run(70_ns), whole);
  EXPECT_EQ(pools_.in_use(), 0u);
}

TEST_F(LinkFaultsTest, AnotherFaultLeavesTheDrawsAsTheyWere) {
  const auto lost = [&](bool another) {
    LinkFaults stage;
    std::vector<std::uint64_t> arrived;
    if (another)
      stage.add(std::make_shared<FrameFault>(FrameFaultConfig{.action = act::Duplicate{}, .chance = Chance::of(1, 3)},
                                             Seed{1}, "fault/other/leaf1:1"));
    stage.add(std::make_shared<FrameFault>(FrameFaultConfig{.action = act::Lose{}, .chance = Chance::of(1, 3)}, Seed{1},
                                           "fault/t/leaf1:1"));
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Instant at = Instant{} + 1_us * static_cast<std::int64_t>(i + 1);
      stage.pass(Lane::kData, test::make_frame(pool(), fecs_, {.offset = i}), at, at, at, pool(),
                 [&](Packet* p, Instant, Instant) {
                   if (arrived.empty() || arrived.back() != p->offset) arrived.push_back(p->offset);
                   pool().release(p);
                 });
    }
    return arrived;
  };
  EXPECT_EQ(lost(true), lost(false));
}

TEST_F(LinkFaultsTest, CorruptionOfRealOctetsIsOneBit) {
  add({.action = act::Corrupt{}});
  Packet* p = test::make_frame(pool(), fecs_, {.real = true});
  const auto before = test::octets_of(*p);
  stage_.pass(Lane::kData, p, Instant{5}, Instant{}, Instant{5}, pool(), [&](Packet* q, Instant, Instant) {
    const auto after = test::octets_of(*q);
    int bits = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      bits += std::popcount(std::to_integer<unsigned>(before[i] ^ after[i]));
    EXPECT_EQ(bits, 1);
    EXPECT_TRUE(q->has(Packet::kCorrupted));
    pool().release(q);
  });
}

}  // namespace
}  // namespace railyard
