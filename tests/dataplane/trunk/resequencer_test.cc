#include "dataplane/trunk/resequencer.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

class ResequencerTest : public testing::Test {
 protected:
  Resequencer::Put put(std::uint64_t number, Duration due, Duration give_up) {
    return r.put(number, {&packets[number % packets.size()], {}, at(due), at(give_up)});
  }
  std::uint64_t release() {
    const Resequencer::Held h = r.release();
    return h.packet == nullptr ? ~std::uint64_t{0} : static_cast<std::uint64_t>(h.packet - packets.data());
  }
  std::array<Packet, 64> packets{};
  Resequencer r{16};
};

TEST_F(ResequencerTest, FramesThatOvertakeEachOtherComeOutInOrder) {
  put(0, 10_us, 100_us);
  put(2, 12_us, 102_us);
  put(1, 11_us, 103_us);
  for (std::uint64_t n = 0; n < 3; ++n) {
    EXPECT_EQ(r.next(), at(10_us + 1_us * static_cast<std::int64_t>(n)));
    EXPECT_EQ(release(), n);
  }
  EXPECT_EQ(r.next(), Instant::never());
  EXPECT_EQ(r.take_lost(), 0u);
}

TEST_F(ResequencerTest, AMissingOneIsWaitedForAndThenLost) {
  put(1, 11_us, 102_us);
  EXPECT_EQ(r.next(), at(102_us));
  put(0, 10_us, 105_us);
  EXPECT_EQ(r.next(), at(10_us)) << "it came after all";
  EXPECT_EQ(release(), 0u);
  EXPECT_EQ(release(), 1u);
  put(4, 20_us, 120_us);
  EXPECT_EQ(release(), 4u);
  EXPECT_EQ(r.take_lost(), 2u);
  EXPECT_EQ(put(3, 30_us, 130_us), Resequencer::Put::kOld);
  EXPECT_EQ(r.take_lost(), 0u) << "it is lost once";
}

TEST_F(ResequencerTest, OneThatComesTwiceIsHeldOnce) {
  EXPECT_EQ(put(0, 1_us, 2_us), Resequencer::Put::kHeld);
  EXPECT_EQ(put(0, 1_us, 2_us), Resequencer::Put::kOld);
  EXPECT_EQ(r.held(), 1u);
}

TEST_F(ResequencerTest, TheLastBeforeASilenceAreMissedToo) {
  put(0, 1_us, 2_us);
  release();
  r.expect(3, at(50_us));
  r.expect(5, at(60_us));
  EXPECT_EQ(r.next(), at(50_us)) << "the first deadline stands";
  release();
  EXPECT_EQ(r.take_lost(), 2u);
  EXPECT_EQ(r.base(), 3u);
  EXPECT_EQ(r.next(), Instant::never());
}

TEST_F(ResequencerTest, AfterALongOutageItGoesOnWhereTheFarEndIs) {
  EXPECT_EQ(put(1000, 1_us, 2_us), Resequencer::Put::kHeld);
  EXPECT_EQ(r.take_lost(), 1000u);
  EXPECT_EQ(put(1016, 1_us, 2_us), Resequencer::Put::kTooFar);
  release();
  EXPECT_EQ(r.base(), 1001u);
}

TEST_F(ResequencerTest, AnotherLifeBeginsAtItsOwnNumber) {
  put(1, 1_us, 2_us);
  unsigned dropped = 0;
  r.reset(7, [&](Packet*) { ++dropped; });
  EXPECT_EQ(dropped, 1u);
  EXPECT_EQ(r.base(), 7u);
  EXPECT_EQ(r.held(), 0u);
  EXPECT_EQ(r.next(), Instant::never());
  EXPECT_EQ(put(7, 5_us, 6_us), Resequencer::Put::kHeld);
  EXPECT_EQ(r.next(), at(5_us));
}

}  // namespace
}  // namespace railyard
