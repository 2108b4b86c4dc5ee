#include "dataplane/trunk/session.h"

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using State = TrunkSession::State;
using Heard = TrunkSession::Heard;

TrunkSessionConfig config(std::uint64_t session) { return {session, {25_Gbps, 200_us, 9000, 1, 1}, 10_ms, 300_ms}; }

// `from` says a ping at `now`, and `to` hears it 50 us later. Both have one clock.
Heard say(TrunkSession& from, TrunkSession& to, Duration now, bool link_up = true) {
  const TrunkPing ping = from.ping(at(now), 0, 0, link_up);
  return to.on_ping(at(now + 50_us), at(now + 50_us), from.head(at(now), 0), ping);
}

void shake_hands(TrunkSession& a, TrunkSession& b, Duration now) {
  for (int i = 0; i < 3; ++i, now += 1_ms) {
    say(a, b, now);
    say(b, a, now + 100_us);
  }
}

TEST(TrunkSession, IsUpWhenBothDirectionsAreKnownToWork) {
  TrunkSession a(config(5)), b(config(6));
  EXPECT_EQ(a.state(at(1_ms)), State::kSilent);
  say(a, b, 1_ms);
  EXPECT_EQ(b.state(at(2_ms)), State::kUnheard);
  EXPECT_FALSE(a.up(at(2_ms)));
  say(b, a, 2_ms);
  EXPECT_TRUE(a.up(at(3_ms)));
  EXPECT_EQ(a.clocks().offset(), 0_ms);
  EXPECT_EQ(a.clocks().round_trip(), 100_us);
  say(a, b, 3_ms);
  EXPECT_TRUE(b.up(at(4_ms)));
}

TEST(TrunkSession, SilenceInOneDirectionIsKnownAtBothEnds) {
  TrunkSession a(config(5)), b(config(6));
  shake_hands(a, b, 1_ms);
  EXPECT_TRUE(a.up(at(200_ms)));
  Duration now = 10_ms;
  for (; now < 350_ms; now += 10_ms) say(b, a, now);  // a hears b; what a says is lost
  EXPECT_EQ(b.state(at(now)), State::kSilent);
  EXPECT_EQ(a.state(at(now)), State::kUnheard);
  shake_hands(a, b, now);
  EXPECT_TRUE(a.up(at(now + 10_ms)));
  EXPECT_TRUE(b.up(at(now + 10_ms)));
}

TEST(TrunkSession, ALaterLifeTakesThePlaceOfAnEarlierOneAndNotTheOtherWayRound) {
  TrunkSession a(config(5)), old_b(config(6)), new_b(config(7));
  shake_hands(a, old_b, 1_ms);
  const TrunkHead old_frame = old_b.head(at(10_ms), 0);
  EXPECT_TRUE(a.accepts(old_frame));
  EXPECT_EQ(say(new_b, a, 10_ms), Heard::kNewLife);
  EXPECT_FALSE(a.up(at(11_ms))) << "it has not heard us yet";
  EXPECT_FALSE(a.accepts(old_frame));
  EXPECT_EQ(say(old_b, a, 12_ms), Heard::kStale);
  say(a, new_b, 13_ms);
  EXPECT_FALSE(a.met());
  EXPECT_EQ(say(new_b, a, 14_ms), Heard::kMet);
  EXPECT_TRUE(a.met());
  EXPECT_TRUE(a.up(at(15_ms)));
}

TEST(TrunkSession, TheLinkMustBeTheSameAtBothEnds) {
  TrunkSessionConfig other = config(6);
  other.terms.delay = 100_us;
  TrunkSession a(config(5)), b(other);
  shake_hands(a, b, 1_ms);
  EXPECT_EQ(a.state(at(5_ms)), State::kMismatch);
  EXPECT_EQ(b.state(at(5_ms)), State::kMismatch);
}

TEST(TrunkSession, ALinkTakenDownAtOneEndIsDownAtTheOther) {
  TrunkSession a(config(5)), b(config(6));
  shake_hands(a, b, 1_ms);
  say(b, a, 10_ms, false);
  EXPECT_EQ(a.state(at(11_ms)), State::kPeerDown);
}

TEST(TrunkSession, ItsOwnWordsAreNotTheFarEnds) {
  TrunkSession a(config(5));
  EXPECT_EQ(say(a, a, 1_ms), Heard::kStale);
  EXPECT_EQ(a.state(at(2_ms)), State::kSilent);
}

}  // namespace
}  // namespace railyard
