// Collectives between UET NICs: the same programs as over QPs, with messages that overtake each other, are lost, cut
// and doubled.
#include "transports/uet/collectives/uet_rank.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/collectives/collective_plan.h"
#include "dataplane/base/rng.h"
#include "tests/transports/uet/collectives/star.h"

namespace railyard::uet {
namespace {

using namespace literals;
using collectives::CollectiveShape;
using collectives::plan_collective;
using collectives::Algorithm;
using collectives::algorithms;
using Collective = collectives::Operation;

void expect_right(Star& star) {
  EXPECT_TRUE(star.complete());
  EXPECT_EQ(star.wrong_octets(), 0u);
  EXPECT_EQ(star.wrong_messages(), 0u);
  for (std::size_t r = 0; r < star.ranks.size() && star.ranks[r]->program().rank == r; ++r) {
    const Counters& c = star.engine(r).counters();
    EXPECT_EQ(c.received_packets.read(), c.taken_packets.read() + c.all_drops()) << r;
    EXPECT_EQ(c.pdcs_opened.read(), c.pdcs_closed.read()) << r;
    EXPECT_EQ(star.engine(r).pdcs(), 0u) << r;
    EXPECT_EQ(star.engine(r).open_messages(), 0u) << r;
  }
}

struct RankCase {
  bool real;
  DeliveryMode mode;
};
class RanksOverPdcs : public testing::TestWithParam<RankCase> {
 protected:
  static StarConfig star() { return {.real = GetParam().real, .mode = GetParam().mode}; }
};
INSTANTIATE_TEST_SUITE_P(All, RanksOverPdcs,
                         testing::Values(RankCase{false, DeliveryMode::kRud}, RankCase{true, DeliveryMode::kRud},
                                         RankCase{false, DeliveryMode::kRod}, RankCase{true, DeliveryMode::kRod}),
                         [](const auto& c) {
                           return std::string(c.param.real ? "real" : "elided") +
                                  (c.param.mode == DeliveryMode::kRud ? "_rud" : "_rod");
                         });

TEST_P(RanksOverPdcs, EveryAlgorithmEndsVerifiedOnEveryRank) {
  for (const Collective o : collectives::kOperations)
    for (const Algorithm* a : algorithms(o))
      for (const std::uint32_t element : {4u, 8u}) {
        if (a->in_switches) continue;  // tests/scenarios/in_network_test.cc: it needs a fabric
        SCOPED_TRACE(std::string(name(o)) + " " + std::string(a->name));
        CollectiveShape shape{.operation = o, .algorithm = a, .size = 8 * 8 * 300, .element = element, .chunk = 1600,
                              .channels = 2};
        shape.group = {0, 0, 0, 0, 1, 1, 1, 1};
        Star s({.element = element, .repeats = 5, .seed = 9}, plan_collective(shape, 8), star());
        s.run();
        expect_right(s);
        for (const UetRank* r : s.ranks) EXPECT_EQ(r->finished().size(), 5u);
        EXPECT_EQ(s.retransmitted(), 0u);
      }
}

// What can become of a frame, each once in a while.
Fate any_fate(RngStream& rng) {
  switch (rng.below(40)) {
    case 0:
      return {.lost = true};
    case 1:
      return {.trimmed = true};
    case 2:
      return {.copies = 2, .copy_late = Duration{static_cast<std::int64_t>(rng.below(20'000'000))}};
    case 3:
    case 4:
    case 5:
      return {.late = Duration{static_cast<std::int64_t>(rng.below(8'000'000))}};
    default:
      return {};
  }
}

TEST_P(RanksOverPdcs, LossTrimmingReorderingAndDuplicatesAreMadeGood) {
  for (const Collective o : {Collective::kAllReduce, Collective::kAllGather, Collective::kAllToAll})
    for (const Algorithm* a : algorithms(o))
      for (const std::uint32_t ranks : {4u, 8u}) {
        if (a == &collectives::kHierarchicalRing || a == &collectives::kHierarchicalTree || a->in_switches) continue;
        SCOPED_TRACE(std::string(name(o)) + " " + std::string(a->name) + " " + std::to_string(ranks));
        RngStream rng(Seed{ranks}, a->name);
        Star s({.repeats = 4, .seed = 1},
               plan_collective({.operation = o, .algorithm = a, .size = ranks * 24'000, .chunk = 8000, .channels = 2},
                               ranks),
               star());
        s.fate = [&](std::size_t, Instant) { return any_fate(rng); };
        s.run();
        expect_right(s);
        EXPECT_GT(s.retransmitted(), 10u);
      }
}

// Each frame takes its own time, so most overtake others; credits and messages of the next repeat among them.
TEST_P(RanksOverPdcs, MessagesOfTwoRepeatsComeInAnyOrder) {
  RngStream rng(Seed{7}, "late");
  Star s({.repeats = 30, .seed = 1}, plan_collective({.size = 4 * 9000, .chunk = 1500, .channels = 3}, 4), star());
  s.fate = [&](std::size_t, Instant) {
    return Fate{.late = Duration{static_cast<std::int64_t>(rng.below(6'000'000))}};
  };
  s.run();
  expect_right(s);
}

// A root is done when all is acknowledged, and goes on: nobody is overrun.
TEST_P(RanksOverPdcs, AFastRankIsHeldBackByThoseItSendsTo) {
  Star s({.repeats = 30, .seed = 1},
         plan_collective({.operation = Collective::kBroadcast, .algorithm = &collectives::kRing, .size = 5 * 4096,
                          .chunk = 2048},
                         5),
         star());
  // Rank 2's frames get lost for a while, so that what is behind it falls back.
  s.fate = [](std::size_t from, Instant at) {
    return Fate{.lost = from == 2 && at > Instant{} + 5_us && at < Instant{} + 300_us};
  };
  s.run();
  expect_right(s);
}

// Two jobs at the same NICs share addresses and PDCs' table, and nothing else.
TEST_P(RanksOverPdcs, JobsAtTheSameNicsDoNotSeeEachOther) {
  RngStream rng(Seed{3}, "jobs");
  const auto ring = [] { return plan_collective({.size = 4 * 8000, .chunk = 2000, .channels = 2}, 4); };
  Star s({.repeats = 5, .seed = 1}, std::vector{ring(), ring()}, star());
  s.fate = [&](std::size_t, Instant) { return any_fate(rng); };
  s.run();
  expect_right(s);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(s.ranks[r]->octets(), s.ranks[r + 4]->octets());
}

TEST_P(RanksOverPdcs, RanksOfOneHostReachEachOtherWithoutPackets) {
  for (const bool pxn : {false, true}) {
    CollectiveShape shape{.operation = Collective::kAllToAll, .size = 8 * 8 * 300, .chunk = 1600, .channels = 2,
                          .pxn = pxn};
    shape.host = shape.group = {0, 0, 1, 1, 2, 2, 3, 3};
    shape.rail = {1, 2, 1, 2, 1, 2, 1, 2};
    StarConfig config = star();
    config.host = shape.host;
    Star s({.repeats = 5, .seed = 9}, plan_collective(shape, 8), config);
    s.run();
    expect_right(s);
    for (const UetRank* r : s.ranks) {
      ASSERT_TRUE(r->scale_up().has_value());
      EXPECT_GT(r->scale_up()->octets, 0u);
    }
  }
}

// Slips planted into one rank's program: what is wrong is found, and whose input is missing said.
TEST(UetRank, AWrongReductionIsFound) {
  auto programs = plan_collective({.size = 4 * 4000, .chunk = 1000}, 4);
  for (CollectiveStep& s : programs[2].steps)
    if (s.kind == CollectiveStep::Kind::kReduce) {
      CollectiveStep& peer = programs[programs[2].connections[s.connection].peer].steps[s.peer_step];
      s.kind = CollectiveStep::Kind::kCopy;
      peer.place = s.place = s.offset;
      break;
    }
  Star s({.repeats = 2, .seed = 5}, std::move(programs), StarConfig{});
  s.run();
  EXPECT_TRUE(s.complete());
  EXPECT_GT(s.wrong_octets(), 0u);
  const auto wrong = std::ranges::find_if(s.ranks, [](const UetRank* r) { return r->wrong().octets > 0; });
  ASSERT_NE(wrong, s.ranks.end());
  EXPECT_EQ((*wrong)->wrong().has, 0b1011u);
  EXPECT_EQ((*wrong)->wrong().expected, 0b1111u);
}

// 2 (n - 1) rounds of a message each, the last octet of which takes a wire's length.
TEST(UetRank, ARingTakesTwiceItsRoundsTimesAMessage) {
  constexpr std::uint32_t kRanks = 4, kMessage = 1024;
  Star s({.seed = 1}, plan_collective({.size = kRanks * kMessage, .chunk = kMessage}, kRanks), StarConfig{});
  s.run();
  expect_right(s);
  // Headers and what stands around them are at most 150 octets, of an acknowledgement, which may be in the way, 110.
  const Duration least = Bytes{kMessage} / BitRate{100'000'000'000} + 1_us;
  const Duration most = Bytes{kMessage + 150 + 110} / BitRate{100'000'000'000} + 1_us;
  EXPECT_GT(s.time(0), least * (2 * (kRanks - 1)));
  EXPECT_LT(s.time(0), most * (2 * (kRanks - 1)));
}

// What is said of a rank adds up to what its NIC's engine says of all.
TEST(UetRank, ItsTrafficIsCounted) {
  RngStream rng(Seed{2}, "traffic");
  Star s({.repeats = 3, .seed = 1}, plan_collective({.size = 4 * 24'000, .chunk = 8000}, 4), StarConfig{});
  s.fate = [&](std::size_t, Instant) {
    Fate f = any_fate(rng);
    f.copies = 1;
    return f;
  };
  s.run();
  expect_right(s);
  std::uint64_t again = 0;
  for (const UetRank* r : s.ranks) {
    EXPECT_GE(r->traffic().packets, 3u * 6 * 6 + r->traffic().retransmitted_packets);
    again += r->traffic().retransmitted_packets;
  }
  EXPECT_GT(again, 3u);
  EXPECT_LE(again, s.retransmitted());
}

TEST(UetRank, APeerThatIsGoneLeavesItsNeighboursWaitingAndSaysWhy) {
  Star s({.seed = 1}, plan_collective({.size = 4 * 8000, .chunk = 8000}, 4), StarConfig{});
  s.fate = [](std::size_t from, Instant) { return Fate{.lost = from == 1}; };
  s.run();
  EXPECT_FALSE(s.complete());
  for (const UetRank* r : s.ranks) EXPECT_EQ(r->finished()[0], Instant::never());
  ASSERT_TRUE(s.ranks[0]->failure().has_value());
  EXPECT_EQ(s.ranks[0]->failure()->what, "PDC");
  EXPECT_EQ(s.ranks[0]->failure()->status, name(Status::kRetryExceeded));
  EXPECT_EQ(s.ranks[0]->program().connections[s.ranks[0]->failure()->connection].peer, 1u);
  EXPECT_FALSE(s.ranks[3]->failure().has_value());
}


}  // namespace
}  // namespace railyard::uet
