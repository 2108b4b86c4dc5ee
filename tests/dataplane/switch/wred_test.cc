#include "dataplane/switch/wred.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;
using wire::Ecn;

constexpr double kOne = 4294967296.0;

double ramp(const DropRamp& r, double depth) {
  if (!r.enabled || depth <= static_cast<double>(r.min.n)) return 0;
  if (depth > static_cast<double>(r.max.n)) return 1;
  return r.probability_ppm * 1e-6 * (depth - static_cast<double>(r.min.n)) / static_cast<double>((r.max - r.min).n);
}

const DropRamp kRamps[] = {{true, 800_KB, 1600_KB, 100'000},
                           {true, 0_KB, 100_KB, 1'000'000},
                           {true, 100_KB, 100_KB, 500'000},
                           {true, 5_KB, 5_MB, 0},
                           {}};

// Each codepoint by its own ramp, to a millionth. The thresholds are multiples of the cell.
TEST(DropLaw, FollowsTheRampOfTheCodepoint) {
  constexpr Bytes kCell{100};
  for (const DropRamp& ect : kRamps)
    for (const DropRamp& not_ect : kRamps) {
      const DropLaw law({.ect = ect, .not_ect = not_ect}, kCell);
      for (std::uint32_t depth = 0; depth < 60'000; depth += 37) {
        const double octets = static_cast<double>(depth) * 100;
        ASSERT_NEAR(static_cast<double>(law.probability(Ecn::kNotEct, depth)) / kOne, ramp(not_ect, octets), 1e-6);
        for (const Ecn ecn : {Ecn::kEct0, Ecn::kEct1, Ecn::kCe})
          ASSERT_NEAR(static_cast<double>(law.probability(ecn, depth)) / kOne, ramp(ect, octets), 1e-6);
      }
    }
}

TEST(DropLaw, WithoutARampNothingIsDropped) {
  EXPECT_FALSE(WredConfig{}.any());
  EXPECT_EQ(DropLaw().probability(Ecn::kNotEct, ~std::uint32_t{0} - 1), 0u);
  EXPECT_EQ(DropLaw(WredConfig{}, {256}).probability(Ecn::kEct0, 1u << 31), 0u);
}

TEST(DropLaw, WhatCannotBeIsNamed) {
  const DropRamp upside_down{true, 2_KB, 1_KB, 100'000};
  EXPECT_EQ(validate(WredConfig{.ect = upside_down}, "drop").error(), "drop.ect.min: 2000 octets is above max (1000 octets)");
  EXPECT_EQ(validate(WredConfig{.not_ect = {true, 1_KB, 2_KB, 1'000'001}}, "drop").error(),
            "drop.not-ect.probability: 1.000001 is above 1");
  EXPECT_TRUE(validate(WredConfig{.ect = {false, 2_KB, 1_KB, 0}}, "drop").has_value()) << "it is off";
}

}  // namespace
}  // namespace railyard
