// Losses by time (dataplane/device/loss_log.h).
#include "dataplane/device/loss_log.h"

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

TEST(LossLog, LossesLessThanAGapApartAreOneSpan) {
  LossLog log;
  for (const Duration t : {10_us, 60_us, 155_us}) log.note(at(t));
  log.note(at(300_us));
  ASSERT_EQ(log.spans().size(), 2u);
  EXPECT_EQ(log.spans()[0].first, at(10_us));
  EXPECT_EQ(log.spans()[0].last, at(155_us));
  EXPECT_EQ(log.spans()[0].packets, 3u);
  EXPECT_EQ(log.spans()[1].packets, 1u);
}

TEST(LossLog, TheOrderInWhichTheyComeDoesNotMatter) {
  LossLog log;
  for (const Duration t : {300_us, 10_us, 155_us, 60_us, 220_us}) log.note(at(t));
  ASSERT_EQ(log.spans().size(), 1u);
  EXPECT_EQ(log.spans()[0].first, at(10_us));
  EXPECT_EQ(log.spans()[0].last, at(300_us));
  EXPECT_EQ(log.spans()[0].packets, 5u);
}

TEST(LossLog, TheLatestAreKept) {
  LossLog log;
  for (int i = 0; i < 300; ++i) log.note(at(1_ms * i));
  ASSERT_EQ(log.spans().size(), LossLog::kMost);
  EXPECT_EQ(log.spans().back().last, at(1_ms * 299));
  EXPECT_EQ(log.spans().front().first, at(1_ms * 44));
}

TEST(LossLog, IsAboutWaysAndNotAboutRoom) {
  EXPECT_TRUE(LossLog::counts(DropReason::kLinkDown));
  EXPECT_TRUE(LossLog::counts(DropReason::kNoRoute));
  EXPECT_FALSE(LossLog::counts(DropReason::kEgressFull));
  EXPECT_FALSE(LossLog::counts(DropReason::kIcrcError));
}

}  // namespace
}  // namespace railyard
