#include "control/hunt/fluid.h"

#include <gmock/gmock.h>

namespace railyard::hunt {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// One link of 10 octets a ns.
FluidFlow over_link(double octets, double start = 0, double most = 100, double wire = 1) {
  return {octets, start, most, wire, {{0, 1}}};
}

TEST(Fluid, OneFlowHasTheLink) { EXPECT_THAT(fluid_times({10}, {over_link(1000)}), ElementsAre(DoubleNear(100, 0.1))); }

TEST(Fluid, TwoShareItAndTheRestHasItAlone) {
  // Both have 5 until the small one is done at 200; the other has 500 left then, at 10.
  EXPECT_THAT(fluid_times({10}, {over_link(1000), over_link(1500)}),
              ElementsAre(DoubleNear(200, 0.2), DoubleNear(250, 0.2)));
}

TEST(Fluid, ALaterFlowTakesItsShareFromItsStart) {
  EXPECT_THAT(fluid_times({10}, {over_link(1000), over_link(500, 50)}),
              ElementsAre(DoubleNear(150, 0.2), DoubleNear(100, 0.2)));
}

TEST(Fluid, AFlowHasNoMoreThanItsOwnRateAndFramingCounts) {
  EXPECT_THAT(fluid_times({10}, {over_link(1000, 0, 2)}), ElementsAre(DoubleNear(500, 0.5)));
  EXPECT_THAT(fluid_times({10}, {over_link(1000, 0, 100, 2)}), ElementsAre(DoubleNear(200, 0.2)));
}

}  // namespace
}  // namespace railyard::hunt
