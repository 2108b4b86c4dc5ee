#include "dataplane/switch/ecn_marking.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using namespace literals;
using wire::Ecn;

constexpr double kOne = 4294967296.0;

// roce-and-lossless.md §9.2, in octets.
double law(const EcnConfig& c, double q) {
  const auto kmin = static_cast<double>(c.kmin.n);
  const auto kmax = static_cast<double>(c.kmax.n);
  if (q <= kmin) return 0;
  if (q > kmax) return 1;
  return c.pmax_ppm * 1e-6 * (q - kmin) / (kmax - kmin);
}

// The rows of §9.3: DCQCN, HPCC at 100G, SimAI at 400G and 200G, SONiC, DCTCP's step, and a certain mark at Kmax.
const EcnConfig kConfigs[] = {
    {.enabled = true, .kmin = 5_KB, .kmax = 200_KB, .pmax_ppm = 10'000},
    {.enabled = true, .kmin = 400_KB, .kmax = 1600_KB, .pmax_ppm = 200'000},
    {.enabled = true, .kmin = 800_KB, .kmax = 3200_KB, .pmax_ppm = 200'000},
    {.enabled = true, .kmin = 300_KB, .kmax = 1200_KB, .pmax_ppm = 800'000},
    {.enabled = true, .kmin = {1'048'576}, .kmax = {2'097'152}, .pmax_ppm = 50'000},
    {.enabled = true, .kmin = 30_KB, .kmax = 30_KB, .pmax_ppm = 1'000'000},
    {.enabled = true, .kmin = 0_KB, .kmax = 100_KB, .pmax_ppm = 1'000'000},
    {.enabled = true, .kmin = 100_KB, .kmax = 200_KB, .pmax_ppm = 0},
};

// Kmin and Kmax are rounded down to cells; within that the law holds to a millionth.
TEST(MarkingLaw, FollowsTheFormula) {
  for (const EcnConfig& c : kConfigs) {
    for (const std::int64_t cell : {64, 256, 4096}) {
      const MarkingLaw marking(c, {cell});
      EcnConfig in_cells = c;
      in_cells.kmin.n = c.kmin.n / cell * cell;
      in_cells.kmax.n = c.kmax.n / cell * cell;
      for (std::uint32_t depth = 0; depth < 2 * c.kmax.n / cell; depth += 7) {
        const double expected = law(in_cells, static_cast<double>(depth * cell));
        ASSERT_NEAR(static_cast<double>(marking.probability(depth)) / kOne, expected, 1e-6)
            << "pmax " << c.pmax_ppm << " ppm, depth " << depth << " cells of " << cell;
      }
    }
  }
}

TEST(MarkingLaw, NothingUpToKminEverythingAboveKmax) {
  for (const EcnConfig& c : kConfigs) {
    const Bytes cell{100};
    const MarkingLaw marking(c, cell);
    const auto kmin = static_cast<std::uint32_t>(c.kmin.n / cell.n);
    const auto kmax = static_cast<std::uint32_t>(c.kmax.n / cell.n);
    EXPECT_EQ(marking.probability(0), 0u);
    EXPECT_EQ(marking.probability(kmin), 0u);
    EXPECT_FALSE(marking.may_mark(kmin));
    EXPECT_TRUE(marking.may_mark(kmin + 1));
    EXPECT_EQ(marking.probability(kmax + 1), MarkingLaw::kCertain) << "the jump at Kmax is intended";
    EXPECT_EQ(marking.probability(~0u), MarkingLaw::kCertain);
    if (kmax > kmin && c.pmax_ppm < 1'000'000) {
      EXPECT_LT(marking.probability(kmax), MarkingLaw::kCertain);
    }
  }
}

TEST(MarkingLaw, NeverFallsAsTheQueueGrows) {
  for (const EcnConfig& c : kConfigs) {
    const MarkingLaw marking(c, {256});
    std::uint64_t last = 0;
    for (std::uint32_t depth = 0; depth < 20'000; ++depth) {
      ASSERT_GE(marking.probability(depth), last) << depth;
      last = marking.probability(depth);
    }
  }
}

TEST(MarkingLaw, ThresholdsBeyondAllQueuesAreNeverReached) {
  constexpr Bytes kHuge{std::int64_t{1} << 40};  // 2^32 cells
  const MarkingLaw far(EcnConfig{.enabled = true, .kmin = kHuge, .kmax = kHuge}, {256});
  EXPECT_FALSE(far.may_mark(1'000'000'000));
  const MarkingLaw flat(EcnConfig{.enabled = true, .kmin = {}, .kmax = kHuge}, {256});
  EXPECT_LT(flat.probability(1'000'000), MarkingLaw::kCertain / 1000);
}

TEST(MarkingLaw, DisabledItNeverMarks) {
  for (const MarkingLaw& marking :
       {MarkingLaw{}, MarkingLaw(EcnConfig{.enabled = false, .kmin = {}, .kmax = {}}, {256})})
    for (const std::uint32_t depth : {0u, 1u, 1'000'000u, 0xFFFF'FFFEu}) {
      EXPECT_EQ(marking.probability(depth), 0u);
      EXPECT_FALSE(marking.may_mark(depth));
    }
}

// RFC 3168 §5, and roce-and-lossless.md §9.1: 01 and 10 become 11 and nothing else; 11 stays.
TEST(Mark, OnlyEctBecomesCe) {
  for (const std::uint32_t draw : {0u, 99u, 0xFFFF'FFFFu}) {
    for (const std::uint64_t p : {std::uint64_t{0}, std::uint64_t{100}, MarkingLaw::kCertain}) {
      EXPECT_EQ(mark(Ecn::kNotEct, p, draw), Ecn::kNotEct);
      EXPECT_EQ(mark(Ecn::kCe, p, draw), Ecn::kCe);
      for (const Ecn ect : {Ecn::kEct0, Ecn::kEct1}) EXPECT_EQ(mark(ect, p, draw), draw < p ? Ecn::kCe : ect);
    }
  }
}

// Along the ramp, 200,000 draws each: at p = 1 % a standard deviation is 2.2 % of p, at 20 % it is 0.4 %.
TEST(Mark, HappensAsOftenAsTheRampSays) {
  const EcnConfig c{.enabled = true, .kmin = 400_KB, .kmax = 1600_KB, .pmax_ppm = 200'000};
  const MarkingLaw marking(c, {100});
  RngStream rng(Seed{1}, "ecn_marking_test");
  for (const std::uint32_t depth : {4'600u, 7'000u, 10'000u, 13'000u, 16'000u}) {
    constexpr int kDraws = 200'000;
    int marked = 0;
    for (int i = 0; i < kDraws; ++i) marked += mark(Ecn::kEct0, marking.probability(depth), rng.next32()) == Ecn::kCe;
    const double expected = law(c, depth * 100.0);
    EXPECT_NEAR(static_cast<double>(marked) / kDraws / expected, 1.0, 0.05) << depth;
  }
}

TEST(EcnConfig, EachMistakeIsNamed) {
  const auto error_of = [](const EcnConfig& c) {
    const auto ok = validate(c, "port 0 class 3.ecn");
    return ok ? "" : ok.error();
  };
  EXPECT_EQ(error_of({}), "");
  for (const EcnConfig& c : kConfigs) EXPECT_EQ(error_of(c), "");
  EXPECT_EQ(error_of({.enabled = true, .kmin = {-1}}).find("port 0 class 3.ecn.kmin: "), 0u);
  EXPECT_EQ(error_of({.enabled = true, .kmin = {2}, .kmax = {1}}).find("port 0 class 3.ecn.kmin: "), 0u);
  EXPECT_EQ(error_of({.enabled = true, .pmax_ppm = 1'000'001}).find("port 0 class 3.ecn.pmax: "), 0u);
  EXPECT_EQ(error_of({.enabled = false, .kmin = {2}, .kmax = {1}}), "") << "what is not used is not looked at";
}

}  // namespace
}  // namespace railyard
