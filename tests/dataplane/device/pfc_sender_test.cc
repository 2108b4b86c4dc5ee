#include "dataplane/device/pfc_sender.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

constexpr Priority kThree{3};
constexpr Priority kFour{4};
constexpr Duration kQuantum = 5120_ps;          // 100 Gb/s
constexpr Duration kHalf = 51'200_ps * 10 / 2;  // of 100 quanta

class PfcSenderTest : public ::testing::Test {
 protected:
  PfcSenderTest() { pfc.configure(100, kQuantum); }

  struct Frame {
    PriorityMask enable;
    std::array<std::uint16_t, kPriorities> quanta;
  };
  Frame take(Duration now) {
    Frame f{};
    f.quanta.fill(0xDEAD);
    f.enable = pfc.take(at(now), f.quanta);
    return f;
  }
  PfcSender pfc;
};

TEST_F(PfcSenderTest, NothingToSayAtFirst) {
  EXPECT_EQ(pfc.pending(), 0);
  EXPECT_EQ(pfc.refresh_due(), Instant::never());
}

TEST_F(PfcSenderTest, XoffThenXon) {
  pfc.want(kThree, true);
  EXPECT_TRUE(pfc.wants_xoff(kThree));
  EXPECT_EQ(pfc.pending(), bit(kThree));
  const Frame xoff = take(1_us);
  EXPECT_EQ(xoff.enable, bit(kThree));
  EXPECT_EQ(xoff.quanta[3], 100);
  EXPECT_EQ(pfc.pending(), 0) << "said once";
  pfc.want(kThree, true);
  EXPECT_EQ(pfc.pending(), 0);

  pfc.want(kThree, false);
  EXPECT_FALSE(pfc.wants_xoff(kThree));
  const Frame xon = take(2_us);
  EXPECT_EQ(xon.enable, bit(kThree));
  EXPECT_EQ(xon.quanta[3], 0);
  EXPECT_EQ(pfc.refresh_due(), Instant::never());
  EXPECT_EQ(pfc.xoff_sent(kThree), 1u);
  EXPECT_EQ(pfc.xon_sent(kThree), 1u);
}

// engine.md §5: the frame's content is taken at its start.
TEST_F(PfcSenderTest, AnXoffThatIsTakenBackBeforeItWasSaidIsNotSaid) {
  pfc.want(kThree, true);
  pfc.want(kThree, false);
  EXPECT_EQ(pfc.pending(), 0);
  // The same the other way round: the peer is paused and stays so.
  pfc.want(kThree, true);
  take(0_us);
  pfc.want(kThree, false);
  pfc.want(kThree, true);
  EXPECT_EQ(pfc.pending(), 0);
  EXPECT_EQ(pfc.xon_sent(kThree), 0u);
}

TEST_F(PfcSenderTest, OneFrameSaysAllThatIsPending) {
  pfc.want(kThree, true);
  take(0_us);
  pfc.want(kThree, false);
  pfc.want(kFour, true);
  const Frame f = take(1_us);
  EXPECT_EQ(f.enable, bit(kThree) | bit(kFour));
  EXPECT_EQ(f.quanta[3], 0);
  EXPECT_EQ(f.quanta[4], 100);
  EXPECT_EQ(f.quanta[0], 0xDEAD) << "nothing about the others";
}

// roce-and-lossless.md §10.2: refresh every half of the advertised time.
TEST_F(PfcSenderTest, AStandingXoffIsRepeatedAfterHalfItsTime) {
  pfc.want(kThree, true);
  take(1_us);
  EXPECT_EQ(pfc.refresh_due(), at(1_us + kHalf));
  pfc.refresh();
  EXPECT_EQ(pfc.pending(), bit(kThree));
  EXPECT_EQ(pfc.refresh_due(), Instant::never()) << "until the frame starts";
  const Frame again = take(1_us + kHalf + 30_ns);  // the port was busy
  EXPECT_EQ(again.enable, bit(kThree));
  EXPECT_EQ(again.quanta[3], 100);
  EXPECT_EQ(pfc.refresh_due(), at(1_us + kHalf + 30_ns + kHalf));
  EXPECT_EQ(pfc.xoff_sent(kThree), 2u) << "refreshes included";
}

TEST_F(PfcSenderTest, ALaterXoffIsRepeatedWithTheFirst) {
  pfc.want(kThree, true);
  take(0_us);
  pfc.want(kFour, true);
  EXPECT_EQ(take(100_ns).enable, bit(kFour));
  EXPECT_EQ(pfc.refresh_due(), at(kHalf)) << "class 3 must not run out";
  pfc.refresh();
  EXPECT_EQ(take(kHalf).enable, bit(kThree) | bit(kFour));
}

TEST_F(PfcSenderTest, WhatWasLetGoMeanwhileIsNotRepeated) {
  pfc.want(kThree, true);
  pfc.want(kFour, true);
  take(0_us);
  pfc.refresh();
  pfc.want(kThree, false);
  const Frame f = take(kHalf);
  EXPECT_EQ(f.quanta[3], 0) << "an XON";
  EXPECT_EQ(f.quanta[4], 100);
  EXPECT_EQ(pfc.refresh_due(), at(kHalf + kHalf)) << "for class 4";
  pfc.want(kFour, false);
  take(kHalf + 1_ns);
  EXPECT_EQ(pfc.refresh_due(), Instant::never());
}

// A port that something holds up, a long frame or a retry of the link: XON is wanted meanwhile, then XOFF again, and
// nothing has been said since the first XOFF, whose time runs.
TEST_F(PfcSenderTest, AnXoffIsRepeatedThoughXonWasWantedWhenThatWasDue) {
  pfc.want(kThree, true);
  take(0_us);
  pfc.want(kThree, false);
  pfc.refresh();
  EXPECT_EQ(pfc.pending(), bit(kThree)) << "the XON";
  pfc.want(kThree, true);
  EXPECT_EQ(pfc.pending(), bit(kThree)) << "its pause is about to run out";
  const Frame again = take(kHalf + 30_ns);
  EXPECT_EQ(again.enable, bit(kThree));
  EXPECT_EQ(again.quanta[3], 100);
  EXPECT_EQ(pfc.refresh_due(), at(kHalf + 30_ns + kHalf));
  EXPECT_EQ(pfc.xon_sent(kThree), 0u);
}

TEST_F(PfcSenderTest, AnXonThatWasSaidAfterTheRefreshLeavesNothingToRepeat) {
  pfc.want(kThree, true);
  take(0_us);
  pfc.want(kThree, false);
  pfc.refresh();
  EXPECT_EQ(take(kHalf).quanta[3], 0);
  EXPECT_EQ(pfc.pending(), 0);
  EXPECT_EQ(pfc.refresh_due(), Instant::never());
}

TEST_F(PfcSenderTest, AfterTheLinkWasDownStandingXoffsAreSaidAgainAndXonsNeedNot) {
  pfc.want(kThree, true);
  pfc.want(kFour, true);
  take(0_us);
  pfc.forget();
  EXPECT_EQ(pfc.refresh_due(), Instant::never());
  EXPECT_EQ(pfc.pending(), bit(kThree) | bit(kFour));
  pfc.want(kFour, false);
  EXPECT_EQ(pfc.pending(), bit(kThree));
  EXPECT_EQ(take(1_us).enable, bit(kThree));
  EXPECT_EQ(pfc.refresh_due(), at(1_us + kHalf));
}

}  // namespace
}  // namespace railyard
