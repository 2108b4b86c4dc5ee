// Collectives between NICs: a step when its data are there, over as many repeats as are wanted, and what is made of
// data that are wrong.
#include "transports/collectives/collective_rank.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/collectives/collective_plan.h"
#include "dataplane/base/rng.h"
#include "tests/transports/roce/collectives/star.h"

namespace railyard::roce {
namespace {

using namespace literals;
using collectives::CollectiveShape;
using collectives::plan_collective;
using collectives::Algorithm;
using collectives::algorithms;
using collectives::Operation;
using Kind = CollectiveStep::Kind;

class BothPayloads : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Payload, BothPayloads, testing::Bool(),
                         [](const auto& c) { return c.param ? "real" : "elided"; });

TEST_P(BothPayloads, EveryAlgorithmEndsVerifiedOnEveryRank) {
  for (const Operation o : collectives::kOperations)
    for (const Algorithm* a : algorithms(o))
      for (const std::uint32_t element : {4u, 8u}) {
        if (a->in_switches) continue;  // tests/scenarios/in_network_test.cc: it needs a fabric
        SCOPED_TRACE(std::string(name(o)) + " " + std::string(a->name));
        CollectiveShape shape{.operation = o, .algorithm = a, .size = 8 * 8 * 300, .element = element, .chunk = 1600,
                              .channels = 2};
        shape.group = {0, 0, 0, 0, 1, 1, 1, 1};
        Star star({.element = element, .repeats = 5, .seed = 9}, plan_collective(shape, 8), GetParam());
        star.run();
        EXPECT_TRUE(star.complete());
        EXPECT_EQ(star.wrong().octets, 0u);
        EXPECT_EQ(star.wrong_messages(), 0u);
        for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->finished().size(), 5u);
      }
}

// A root is done when all is acknowledged, and goes on: nobody is overrun.
TEST_P(BothPayloads, AFastRankIsHeldBackByThoseItSendsTo) {
  for (const Operation o : {Operation::kBroadcast, Operation::kAllGather}) {
    Star star({.repeats = 50, .seed = 1},
              plan_collective({.operation = o, .algorithm = &collectives::kRing, .size = 5 * 4096, .chunk = 2048}, 5),
              GetParam());
    // Rank 3's frames get lost for a while, so that what is behind it falls back.
    star.fate = [](std::size_t from, Instant at) {
      return from == 2 && at > Instant{} + 5_us && at < Instant{} + 300_us ? 0u : 1u;
    };
    star.run();
    EXPECT_TRUE(star.complete());
    EXPECT_EQ(star.wrong().octets, 0u);
    EXPECT_EQ(star.wrong_messages(), 0u);
    for (std::uint32_t k = 1; k < 50; ++k)
      for (const CollectiveRank* r : star.ranks) EXPECT_GE(r->started()[k], r->finished()[k - 1]);
  }
}

// Ranks whose peers are elsewhere, as those with agents, are connected and started when those are ready.
TEST_P(BothPayloads, RanksThatAreConnectedLaterAreTheSame) {
  Star star({.repeats = 4, .seed = 2}, plan_collective({.size = 5 * 9000, .chunk = 2000, .channels = 2}, 5), GetParam(),
            PathMtu::k1024, {}, true);
  star.run();
  EXPECT_TRUE(star.complete());
  EXPECT_EQ(star.wrong().octets, 0u);
  EXPECT_EQ(star.wrong_messages(), 0u);
  for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->started().front(), Instant{} + 3_us);
}

// Whatever goes on is finished by all ranks, also by one that is behind; nothing is lost of what comes after.
TEST_P(BothPayloads, RanksAreHeldAfterARepeatAndGoOn) {
  Star star({.repeats = 30, .seed = 6}, plan_collective({.size = 5 * 9000, .chunk = 2000}, 5), GetParam());
  star.run(Instant{} + 20_us);
  ASSERT_FALSE(star.complete());
  star.hold();
  star.run();
  const std::size_t done = star.ranks[0]->started().size();
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, 30u);
  for (const CollectiveRank* r : star.ranks) {
    EXPECT_EQ(r->started().size(), done);
    EXPECT_NE(r->finished().back(), Instant::never());
  }
  star.go_on(0);
  star.run();
  EXPECT_TRUE(star.complete());
  for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->finished().size(), 30u);
  EXPECT_EQ(star.wrong().octets, 0u);
  EXPECT_EQ(star.wrong_messages(), 0u);
}

// With one repeat there is memory for one.
TEST_P(BothPayloads, RanksThatAreDoneGoOnForMoreRepeats) {
  for (const std::uint32_t repeats : {1u, 2u, 7u}) {
    SCOPED_TRACE(repeats);
    Star star({.repeats = repeats, .seed = 6}, plan_collective({.size = 5 * 9000, .chunk = 2000}, 5), GetParam());
    for (std::uint32_t times = 1; times <= 3; ++times) {
      star.run();
      ASSERT_TRUE(star.complete());
      for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->finished().size(), times * repeats);
      star.go_on(repeats);
    }
    EXPECT_EQ(star.wrong().octets, 0u);
    EXPECT_EQ(star.wrong_messages(), 0u);
  }
}

TEST_P(BothPayloads, LossIsMadeGood) {
  RngStream rng(Seed{3}, "loss");
  Star star({.repeats = 3, .seed = 1}, plan_collective({.size = 6 * 40'000, .chunk = 8000}, 6), GetParam());
  star.fate = [&](std::size_t, Instant) { return rng.below(50) == 0 ? 0u : 1u; };
  star.run();
  EXPECT_TRUE(star.complete());
  EXPECT_EQ(star.wrong().octets, 0u);
  std::uint64_t again = 0;
  for (const CollectiveRank* r : star.ranks) again += r->traffic().retransmitted_packets;
  EXPECT_GT(again, 10u);
}

// Slips of a reduction, planted into one step of one rank's program.
TEST_P(BothPayloads, AWrongReductionIsFound) {
  const auto ring = [] { return plan_collective({.size = 4 * 4000, .chunk = 1000}, 4); };
  const auto run = [](std::vector<RankProgram> programs) {
    Star star({.repeats = 2, .seed = 5}, std::move(programs), GetParam());
    star.run();
    EXPECT_TRUE(star.complete());
    return star.wrong();
  };
  EXPECT_EQ(run(ring()).octets, 0u);
  const auto find = [](RankProgram& p, Kind kind) -> CollectiveStep& {
    for (CollectiveStep& s : p.steps)
      if (s.kind == kind) return s;
    throw std::logic_error("no such step");
  };
  {
    SCOPED_TRACE("what came takes the place of what was there");
    auto programs = ring();
    CollectiveStep& s = find(programs[2], Kind::kReduce);
    CollectiveStep& peer = programs[programs[2].connections[s.connection].peer].steps[s.peer_step];
    s.kind = Kind::kCopy;
    peer.place = s.place = s.offset;
    const WrongData wrong = run(std::move(programs));
    EXPECT_GT(wrong.octets, 0u);
    if (!GetParam()) {
      // Rank 2's input is missing, and nobody else's.
      EXPECT_EQ(wrong.has, 0b1011u);
      EXPECT_EQ(wrong.expected, 0b1111u);
    }
  }
  {
    SCOPED_TRACE("added in another place");
    auto programs = ring();
    CollectiveStep& s = find(programs[1], Kind::kReduce);
    s.offset = s.offset == 0 ? 4000 : 0;
    s.first_cut = s.offset == 0 ? 0 : 4;
    s.end_cut = s.first_cut + 1;
    EXPECT_GT(run(std::move(programs)).octets, 0u);
  }
  {
    SCOPED_TRACE("added where it should be copied");
    auto programs = ring();
    CollectiveStep& s = find(programs[3], Kind::kCopy);
    CollectiveStep& peer = programs[programs[3].connections[s.connection].peer].steps[s.peer_step];
    s.kind = Kind::kReduce;
    peer.place = s.place = programs[3].data_octets + programs[3].staging_octets;
    programs[3].staging_octets += s.octets;
    EXPECT_GT(run(std::move(programs)).octets, 0u);
  }
}

// Four hosts of two ranks, each on one of two rails.
CollectiveShape in_hosts(CollectiveShape shape) {
  shape.host = shape.group = {0, 0, 1, 1, 2, 2, 3, 3};
  shape.rail = {1, 2, 1, 2, 1, 2, 1, 2};
  return shape;
}

TEST_P(BothPayloads, RanksOfOneHostReachEachOtherWithoutPackets) {
  for (const Operation o : collectives::kOperations)
    for (const Algorithm* a : algorithms(o))
      for (const bool pxn : {false, true}) {
        if (a->in_switches) continue;
        SCOPED_TRACE(std::string(name(o)) + " " + std::string(a->name));
        const CollectiveShape shape = in_hosts({.operation = o, .algorithm = a, .size = 8 * 8 * 300, .chunk = 1600,
                                                .channels = 2, .pxn = pxn});
        Star star({.repeats = 5, .seed = 9}, plan_collective(shape, 8), GetParam(), PathMtu::k1024, shape.host);
        star.run();
        EXPECT_TRUE(star.complete());
        EXPECT_EQ(star.wrong().octets, 0u);
        EXPECT_EQ(star.wrong_messages(), 0u);
        std::uint64_t in_hosts = 0;
        for (const CollectiveRank* r : star.ranks) in_hosts += r->scale_up() ? r->scale_up()->octets : 0;
        EXPECT_GT(in_hosts, 0u);
      }
}

TEST_P(BothPayloads, ARelayThatSendsOnTheWrongOctetsIsFound) {
  const CollectiveShape shape =
      in_hosts({.operation = Operation::kAllToAll, .algorithm = &collectives::kDirect, .size = 8 * 800, .pxn = true});
  auto programs = plan_collective(shape, 8);
  CollectiveStep* first = nullptr;
  for (CollectiveStep& s : programs[1].steps) {
    if (s.relays == CollectiveStep::kNone) continue;
    if (first == nullptr) {
      first = &s;
      continue;
    }
    // Each sends what the other should.
    std::swap(first->offset, s.offset);
    std::swap(first->relays, s.relays);
    std::swap(first->identity, s.identity);
    break;
  }
  ASSERT_NE(first, nullptr);
  Star star({.seed = 9}, std::move(programs), GetParam(), PathMtu::k1024, shape.host);
  star.run();
  EXPECT_GT(star.wrong().octets + star.wrong_messages(), 0u);
}

// Two ranks that each send 1000 octets to the other, twice: 300 ns, and 10 ns for the octets.
TEST(CollectiveRank, APipeTakesItsLatencyAndItsOctetsTime) {
  Star star({.start = Instant{} + 5_us},
            plan_collective({.size = 2000, .host = {0, 0}, .rail = {1, 2}}, 2), false, PathMtu::k1024, {0, 0});
  star.run();
  EXPECT_EQ(star.time(0), 2 * (300_ns + 10_ns));
  EXPECT_EQ(star.ranks[0]->traffic().packets, 0u);
  EXPECT_EQ(star.ranks[0]->scale_up()->messages, 2u);
  EXPECT_EQ(star.ranks[0]->scale_up()->busy, 20_ns);
}

TEST_P(BothPayloads, ASendThatDoesNotWaitForItsDataIsFound) {
  auto programs = plan_collective({.size = 4 * 4000, .chunk = 1000}, 4);
  for (CollectiveStep& s : programs[0].steps)
    if (s.kind == Kind::kReduce) {
      const std::uint32_t after = programs[0].after[s.first_after];
      programs[0].steps[after].waits_for = 0;  // it goes at the start
      s.end_after = s.first_after;
      break;
    }
  Star star({.seed = 5}, std::move(programs), GetParam());
  star.run();
  EXPECT_GT(star.wrong().octets, 0u);
}

TEST(CollectiveRank, ARingTakesTwiceItsRoundsTimesAMessage) {
  // One message of 1000 octets each: 1 us of way, and what it takes on the wire.
  Star star({.start = Instant{} + 5_us}, plan_collective({.size = 8 * 1000}, 8), false);
  star.run();
  const Duration hop = 1_us + Bytes{14 + 20 + 8 + 12 + 16 + 4 + 1000 + 4 + 4 + 20} / BitRate{100'000'000'000};
  EXPECT_EQ(star.ranks[0]->started()[0], Instant{} + 5_us);
  // Acknowledgements are in the way now and then.
  EXPECT_NEAR(static_cast<double>(star.time(0).ps), static_cast<double>((14 * hop).ps), 14 * 10e3);
}

TEST(CollectiveRank, AdditionsTakeTheirTime) {
  const auto time = [](BitRate rate) {
    Star star({.reduce_rate = rate}, plan_collective({.size = 4 * 1000}, 4), true);
    star.run();
    EXPECT_EQ(star.wrong().octets, 0u);
    return star.time(0);
  };
  // Three additions of 1000 octets in a row, each 8 us.
  EXPECT_NEAR(static_cast<double>((time(1_Gbps) - time({})).ps), 24e6, 0.1e6);
}

// A ring of four ranks: six messages one after the other.
TEST_P(BothPayloads, EveryMessageAndEveryStartHaveAFixedCost) {
  const auto time = [&](Duration launch, Duration step, BitRate rate = {}) {
    Star star({.repeats = 3, .reduce_rate = rate, .launch_cost = launch, .step_cost = step, .seed = 3},
              plan_collective({.size = 4 * 1000}, 4), GetParam());
    star.run();
    EXPECT_TRUE(star.complete());
    EXPECT_EQ(star.wrong().octets, 0u);
    EXPECT_EQ(star.wrong_messages(), 0u);
    for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->computed(), Duration{}) << "it is no computing";
    return static_cast<double>(star.time(0).ps);
  };
  const double free = time({}, {});
  EXPECT_NEAR(time(5_us, {}) - free, 5e6, 0.1e6);
  EXPECT_NEAR(time({}, 2_us) - free, 6 * 2e6, 0.1e6);
  EXPECT_NEAR(time(5_us, 2_us, 1_Gbps) - free, 5e6 + 6 * 2e6 + 3 * 8e6, 0.1e6);
}

// One that is launched later than the others has messages of theirs already.
TEST_P(BothPayloads, MessagesMayComeBeforeTheLaunch) {
  Star star({.repeats = 5, .launch_cost = 10_us, .seed = 3}, plan_collective({.size = 5 * 9000, .chunk = 2000}, 5),
            GetParam());
  star.ranks[2]->start_at(Instant{} + 100_us);
  star.run();
  EXPECT_TRUE(star.complete());
  EXPECT_EQ(star.wrong().octets, 0u);
  EXPECT_EQ(star.wrong_messages(), 0u);
}

TEST_P(BothPayloads, BucketsAreReducedWhileTheNextOnesAreComputed) {
  const auto time = [](std::uint32_t buckets, std::uint32_t jitter) {
    Star star({.repeats = 2, .seed = 4, .jitter_ppm = jitter},
              plan_collective({.size = 4 * 40'000, .chunk = 8000, .forward = 10_us, .backward = 40_us,
                               .buckets = buckets},
                              4),
              GetParam());
    star.run();
    EXPECT_TRUE(star.complete());
    EXPECT_EQ(star.wrong().octets, 0u);
    for (const CollectiveRank* r : star.ranks) {
      EXPECT_GE(r->computed(), 100_us);
      EXPECT_LE(r->computed(), 110_us);
      EXPECT_EQ(r->computed() == 100_us, jitter == 0);
    }
    return star.time(0);
  };
  // 160,000 octets take some 22 us; of four buckets all but the last are under way before the backward pass ends.
  EXPECT_GT(time(1, 0), 70_us);
  EXPECT_LT(time(4, 0), 62_us);
  // The slowest rank is waited for.
  EXPECT_GT(time(4, 100'000), time(4, 0) + 1_us);
}

TEST(CollectiveRank, RepeatsHaveTheGapBetweenThem) {
  Star star({.repeats = 3, .gap = 50_us}, plan_collective({.size = 4 * 1000}, 4), false);
  star.run();
  for (const CollectiveRank* r : star.ranks)
    for (std::uint32_t k = 1; k < 3; ++k) {
      EXPECT_GE(r->started()[k] - r->finished()[k - 1], 50_us);
      EXPECT_LT(r->started()[k] - r->finished()[k - 1], 55_us);
    }
}

TEST(CollectiveRank, APeerThatIsGoneLeavesItsNeighboursWaitingAndSaysWhy) {
  Star star({}, plan_collective({.size = 4 * 100'000, .chunk = 10'000}, 4), false);
  star.fate = [](std::size_t from, Instant at) { return from == 1 && at > Instant{} + 5_us ? 0u : 1u; };
  star.run();
  EXPECT_FALSE(star.complete());
  for (const CollectiveRank* r : star.ranks) EXPECT_EQ(r->finished()[0], Instant::never());
  // Rank 1's own messages are not acknowledged, as it seems, and rank 0's are not, either.
  ASSERT_TRUE(star.ranks[0]->failure().has_value());
  EXPECT_EQ(star.ranks[0]->failure()->status, name(WcStatus::kRetryExcErr));
  EXPECT_FALSE(star.ranks[3]->failure().has_value());
}

// Of those that were given up nothing comes any more, be they in the middle or without an answer; some are in one host.
TEST_P(BothPayloads, WhatHasFailedIsCarriedOutAnew) {
  for (const bool in_hosts : {false, true})
    for (const bool waits : {false, true}) {
      SCOPED_TRACE(testing::Message() << in_hosts << waits);
      CollectiveShape shape{.size = 6 * 40'000, .chunk = 8000};
      std::vector<std::uint32_t> host;
      if (in_hosts) {
        shape.host = host = {0, 0, 1, 1, 2, 2};
        shape.rail = {0, 1, 0, 1, 0, 1};
      }
      Star star({.repeats = 3, .reduce_rate = 100_Gbps, .seed = 1}, plan_collective(shape, 6), GetParam(),
                PathMtu::k1024, host);
      star.fate = [](std::size_t from, Instant at) { return from == 1 && at > Instant{} + 10_us ? 0u : 1u; };
      star.run(Instant{} + (waits ? 20_ms : 15_us));
      EXPECT_FALSE(star.complete());
      star.fate = [](std::size_t, Instant) { return 1u; };
      star.again();
      star.run();
      EXPECT_TRUE(star.complete());
      EXPECT_EQ(star.wrong().octets, 0u);
      EXPECT_EQ(star.wrong_messages(), 0u);
    }
}

TEST(CollectiveRank, MoreRanksThanASetHoldsAreToldApartByHashes) {
  auto programs = plan_collective({.algorithm = &collectives::kTree, .size = 4}, 70);
  Star good({}, programs, false);
  good.run();
  EXPECT_TRUE(good.complete());
  EXPECT_EQ(good.wrong().octets, 0u);
  for (CollectiveStep& s : programs[3].steps)
    if (s.kind == Kind::kReduce) s.kind = Kind::kCopy;
  Star bad({}, std::move(programs), false);
  bad.run();
  EXPECT_EQ(bad.wrong().octets, 70u * 4);
}

// As it was made to, or as its NIC is told while it goes on.
TEST(CollectiveRank, NoneIsStartedAfterTheStop) {
  for (const bool told : {false, true}) {
    SCOPED_TRACE(told);
    Star star({.repeats = 1000, .stop = told ? Instant::never() : Instant{} + 100_us},
              plan_collective({.size = 4 * 1000}, 4), false);
    if (told) {
      star.run(Instant{} + 50_us);
      star.stop_at(Instant{} + 100_us);
    }
    star.run();
    EXPECT_FALSE(star.complete());
    for (const CollectiveRank* r : star.ranks) {
      EXPECT_LT(r->started().back(), Instant{} + 100_us);
      EXPECT_GT(r->repeat(), 3u);
    }
  }
}

}  // namespace
}  // namespace railyard::roce
