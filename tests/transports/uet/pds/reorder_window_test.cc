// How long a packet is waited for (RFC 8985 §6.2).
#include "transports/uet/pds/reorder_window.h"

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

using namespace literals;

Instant after(Duration d) { return Instant{} + d; }

TEST(ReorderWindow, BeforeAnythingWasHeardItIsThreeRoundTripsOfAnEmptyNetwork) {
  EXPECT_EQ(ReorderWindow(10_us).patience(), 30_us);
  EXPECT_EQ(ReorderWindow(10_us, true).patience(), 60_us) << "where congestion is told of, silence is not hurried";
  EXPECT_FALSE(ReorderWindow(10_us).known());
  EXPECT_GT(ReorderWindow().patience(), 1000_s) << "nothing is known: the timer's";
}

TEST(ReorderWindow, ItIsTheLongestLatelyAndAsLongAgain) {
  for (const bool told : {false, true}) {
    ReorderWindow w({}, told);
    for (const Duration took : {12_us, 10_us, 31_us, 11_us}) w.heard(after(1_us), took);
    EXPECT_EQ(w.patience(), 31_us * (told ? 4 : 2)) << "what congestion takes is told where switches trim";
  }
}

TEST(ReorderWindow, APathThatWasNotTakenYetMayBeTheLongest) {
  ReorderWindow w(20_us);
  w.heard(after(1_us), 5_us);
  EXPECT_EQ(w.patience(), 40_us);
}

TEST(ReorderWindow, WhatWasLongAgoIsForgottenAfterTwoPeriods) {
  ReorderWindow w;
  w.heard(after(0_us), 10_us);
  w.heard(after(1_us), 90_us);
  EXPECT_EQ(w.patience(), 180_us);
  w.heard(after(170_us), 12_us);
  EXPECT_EQ(w.patience(), 180_us) << "the period before counts";
  w.heard(after(340_us), 12_us);
  EXPECT_EQ(w.patience(), 24_us);
}

TEST(ReorderWindow, WhatCameAfterAllIsWaitedForUntilSixteenLossesWereSome) {
  ReorderWindow w;
  w.heard(after(0_us), 10_us);
  ASSERT_EQ(w.patience(), 20_us);
  w.came_after_all(50_us);
  for (int i = 0; i < 15; ++i) w.lost();
  EXPECT_EQ(w.patience(), 100_us);
  w.came_after_all(40_us);
  for (int i = 0; i < 15; ++i) w.lost();
  EXPECT_EQ(w.patience(), 100_us);
  w.lost();
  EXPECT_EQ(w.patience(), 20_us);
}

TEST(ReorderWindow, AnAnswerSoonerThanTheShortestIsOfAnEarlierOne) {
  ReorderWindow w;
  w.heard(after(0_us), 10_us);
  EXPECT_TRUE(w.is_too_soon(9_us));
  EXPECT_FALSE(w.is_too_soon(10_us));
}

}  // namespace
}  // namespace railyard::uet
