// Credit at one sender, and the pacer of a receiver (uet §9.6, §9.7), without packets.
#include "transports/uet/congestion/rccc.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "transports/uet/congestion/core_rate.h"
#include "transports/uet/congestion/credit_pacer.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr RcccConfig kSender{.max_credit = 100'000, .packet = 4096};

TEST(Rccc, SpeculatesUntilSomethingIsHeard) {
  Rccc sender(kSender);
  EXPECT_TRUE(sender.speculates());
  for (int i = 0; i < 10; ++i) sender.on_sent(4096);
  EXPECT_EQ(sender.credit(), 100'000 - 40'960);
  sender.on_heard();
  EXPECT_FALSE(sender.allows()) << "what is left may not be used";
  EXPECT_EQ(sender.credit(), 0);
}

TEST(Rccc, AnyCreditLetsAPacketGo) {
  Rccc sender(kSender);
  sender.on_heard();
  EXPECT_TRUE(sender.on_grant(Credit(1)));
  EXPECT_TRUE(sender.allows());
  sender.on_sent(4096);
  EXPECT_EQ(sender.credit(), 256 - 4096) << "and it may go below zero by that";
  EXPECT_TRUE(sender.on_grant(Credit(16)));
  EXPECT_FALSE(sender.allows()) << "15 units more make up for it, and no more";
}

TEST(Rccc, GrantsAreCountedUpAndThoseThatWereOvertakenSayNothing) {
  Rccc sender(kSender);
  sender.on_heard();
  EXPECT_TRUE(sender.on_grant(Credit(20)));
  EXPECT_FALSE(sender.on_grant(Credit(10)));
  EXPECT_FALSE(sender.on_grant(Credit(20)));
  EXPECT_EQ(sender.credit(), 20 * 256);
  EXPECT_TRUE(sender.on_grant(Credit(10'000)));
  EXPECT_EQ(sender.credit(), 100'000) << "no more than that in hand";
}

TEST(Rccc, GrantsWrapAfter24Bits) {
  Rccc sender({.max_credit = std::int64_t{1} << 40, .packet = 4096});
  sender.on_heard();
  std::uint32_t granted = 0;
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(sender.on_grant(Credit(granted = (granted + 4'000'000) & 0xFF'FFFF)));
  EXPECT_EQ(sender.credit(), std::int64_t{24'000'000} * 256);
}

TEST(Rccc, AsksForWhatItWantsBesideWhatItHas) {
  Rccc sender(kSender);
  EXPECT_EQ(sender.ask(1'000, 1).value(), 16u) << "a packet at least while it speculates";
  sender.on_heard();
  EXPECT_EQ(sender.ask(1'000, 1).value(), 4u);
  EXPECT_TRUE(sender.waits());
  EXPECT_EQ(sender.ask(1'000'000, 1).value(), 391u) << "no more than may be in hand";
  EXPECT_EQ(sender.ask(1'000'000, 4).value(), 98u) << "a share of it for each receiver";
  sender.on_grant(Credit(100));
  EXPECT_EQ(sender.ask(30'000, 1).value(), 100u + 18u) << "25,600 octets are here";
  sender.on_grant(Credit(118));
  EXPECT_FALSE(sender.waits());
  EXPECT_EQ(sender.ask(0, 1).value(), 118u);
}

// A pacer at 100 Gb/s that grants 4 KiB at a time.
class Pacer : public testing::Test {
 protected:
  static constexpr CreditPacerConfig kConfig{
      .rate = 100_Gbps, .rate_share = 1, .grant = 4096, .max_ahead = 20'480, .on_wire = 1};

  void wants(Instant now, std::uint32_t id, std::uint32_t units) {
    pacer.on_demand(now, id, lines[id], Credit(units));
  }
  // Whoever has a turn until `end`, in order.
  std::vector<std::uint32_t> turns(Instant end) {
    std::vector<std::uint32_t> granted;
    while (pacer.next() <= end) {
      const Instant at = pacer.next();
      const std::uint32_t id = pacer.take();
      if (pacer.grant(at, id, lines[id])) granted.push_back(id);
    }
    return granted;
  }

  CreditPacer pacer{kConfig, RngStream(Seed{1}, "pacer")};
  std::map<std::uint32_t, CreditLine> lines;
};

using V = std::vector<std::uint32_t>;

TEST_F(Pacer, GrantsInTurnAtTheRateOfItsLink) {
  for (std::uint32_t id = 1; id <= 3; ++id) wants(Instant{}, id, 32);
  // 4,096 octets take 327.68 ns.
  EXPECT_EQ(turns(Instant{} + 700_ns), (V{1, 2, 3}));
  EXPECT_EQ(turns(Instant{} + 1_us), (V{1}));
  EXPECT_EQ(lines[1].granted.value(), 32u);
  EXPECT_EQ(lines[2].granted.value(), 16u);
}

TEST_F(Pacer, NobodyGetsMoreThanHeAskedForWhileOthersWait) {
  wants(Instant{}, 1, 4);
  wants(Instant{}, 2, 40);
  EXPECT_EQ(turns(Instant{} + 900_ns), (V{1, 2, 2, 2})) << "the small grant takes a quarter of the time";
  EXPECT_EQ(lines[1].granted.value(), 4u);
  EXPECT_EQ(lines[2].granted.value(), 40u);
}

TEST_F(Pacer, WhoHasAllThatHeWantedGetsSomeInAdvanceAndThenRests) {
  wants(Instant{}, 1, 16);
  EXPECT_EQ(turns(Instant{} + 100_us).size(), 6u);
  EXPECT_EQ(lines[1].granted.value(), 16u + 80u) << "20,480 octets ahead";
  EXPECT_EQ(pacer.next(), Instant::never());
  // Somebody else does not wait for that.
  wants(Instant{} + 200_us, 2, 16);
  EXPECT_EQ(pacer.next(), Instant{} + 200_us);
}

TEST_F(Pacer, ADemandIsCappedAndOneOfLongAgoIsIgnored) {
  wants(Instant{}, 1, 5'000'000);
  EXPECT_EQ(lines[1].owed(), 80) << "max_ahead";
  turns(Instant{} + 10_us);
  const std::int32_t owed = lines[1].owed();
  wants(Instant{} + 10_us, 1, 3);
  EXPECT_EQ(lines[1].owed(), owed);
}

TEST_F(Pacer, WhoLiesAboutItsDemandGainsNothing) {
  for (Instant at; at < Instant{} + 6_us; at = at + 100_ns) {
    wants(at, 1, lines[1].granted.value() + 8'000'000);
    wants(at, 2, lines[2].granted.value() + 17);
    turns(at);
  }
  EXPECT_NEAR(lines[1].granted.value(), lines[2].granted.value(), 16u);
}

TEST_F(Pacer, WhoAsksWhileSomethingIsGrantedWaitsUntilThatIsOver) {
  wants(Instant{}, 1, 16);
  EXPECT_EQ(turns(Instant{}), (V{1}));
  wants(Instant{} + 10_ns, 2, 16);
  EXPECT_EQ(pacer.next(), Instant{Duration{327'680}.ps});
}

// ---- CoreRate: round trips of 10 us, a packet each microsecond; looked at every 11 to 19 us ----

CoreRate core_rate(double oversubscription) { return {10_us, oversubscription, RngStream(Seed{1}, "core")}; }

double after(CoreRate& core, Instant& now, int looks, int marked_of_ten, int trimmed_of_ten, bool last_hop = false) {
  for (int i = 0; i < looks * 15; ++i, now = now + 1_us)
    core.on_packet(now, i % 10 < marked_of_ten, i % 10 >= 10 - trimmed_of_ten, last_hop);
  return core.share();
}

TEST(CoreRate, FallsByTheShareOfWhatIsTrimmedBeforeTheLastHop) {
  CoreRate core = core_rate(4);
  Instant now{1};
  EXPECT_EQ(after(core, now, 5, 0, 0), 1);
  for (int i = 0; i < 25 && core.share() == 1; ++i) after(core, now, 1, 0, 3);
  EXPECT_NEAR(core.share(), 0.7, 0.2);
  CoreRate at_last_hop = core_rate(4);
  EXPECT_EQ(after(at_last_hop, now, 5, 0, 3, true), 1);
  EXPECT_NEAR(after(core, now, 50, 0, 9), 0.9 / 4, 1e-9) << "and not below what is its own";
}

TEST(CoreRate, FallsWhileMoreThanThreeInTenAreMarked) {
  CoreRate core = core_rate(100);
  Instant now{1};
  EXPECT_EQ(after(core, now, 20, 2, 0), 1);
  EXPECT_LT(after(core, now, 20, 8, 0), 0.1);
}

TEST(CoreRate, GrowsFasterAndFasterWhileNothingIsMarked) {
  CoreRate core = core_rate(100);
  Instant now{1};
  after(core, now, 10, 0, 9);
  EXPECT_NEAR(core.share(), 0.01, 1e-9);
  const double soon = after(core, now, 4, 0, 0);
  EXPECT_GT(soon, 0.02);
  EXPECT_LT(soon, 0.4);
  EXPECT_EQ(after(core, now, 10, 0, 0), 1);
  CoreRate marked = core_rate(100);
  after(marked, now, 10, 0, 9);
  EXPECT_LT(after(marked, now, 14, 1, 0), 0.25) << "by 0.01 each time";
}

}  // namespace
}  // namespace railyard::uet
