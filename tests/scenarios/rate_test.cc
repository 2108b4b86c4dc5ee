// The traffic generator keeps its rate over ten seconds of modelled time.
#include <cstdint>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

struct RateCase {
  const char* name;
  const char* rate;
  double bps;
  const char* more;  // of the flow
  double duty = 1;   // of the time that it sends
  int payload = 4096;
  int headers = 54;
};

void PrintTo(const RateCase& c, std::ostream* os) { *os << c.name; }

class Rate : public testing::TestWithParam<RateCase> {};

// A frame is its headers, payload, ICRC and FCS, and 20 octets of preamble and gap: all of that counts for the rate.
TEST_P(Rate, OfTenSecondsIsWithinAThousandth) {
  const RateCase c = GetParam();
  Scenario s(std::string(R"(
name: rate
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1, host-link: { rate: 10Gbps } }
traffic: [ { name: t, from: h1, to: h2, payload: )") +
             std::to_string(c.payload) + "B, rate: " + c.rate + c.more + R"( } ]
run: { duration: 10s }
)");
  s.run_until(11_s);
  const build::Flow& f = s.flow("t/h1->h2");
  const double octets_of_a_frame = c.headers + c.payload + 4 + 4 + 20;
  const auto rate_over_ten_seconds = [&](std::uint64_t packets) {
    return static_cast<double>(packets) * octets_of_a_frame * 8 / 10;
  };
  EXPECT_NEAR(rate_over_ten_seconds(f.sent().packets), c.bps * c.duty, 0.001 * c.bps * c.duty);
  EXPECT_EQ(f.received().packets, f.sent().packets) << "and arrives";
  // From the first to the last, when it sends all the time: to the picosecond of rounding, far closer.
  if (c.duty == 1) {
    const double seconds_between = seconds(f.received().last - f.received().first);
    EXPECT_NEAR(static_cast<double>(f.received().packets - 1) * octets_of_a_frame * 8 / seconds_between / c.bps, 1,
                1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Flows, Rate,
                         testing::Values(RateCase{"steady", "100Mbps", 100e6, ""},
                                         RateCase{"odd", "33333333bps", 33'333'333, ""},
                                         RateCase{"small_frames", "5Mbps", 5e6, "", 1, 64, 54},
                                         RateCase{"ipv6", "77Mbps", 77e6, ", ip: 6", 1, 4096, 74},
                                         // 500 frames of 1250 octets on the wire in the first half of every 10 ms.
                                         RateCase{"on_and_off", "1Gbps", 1e9, ", on: 5ms, off: 5ms", 0.5, 1168}),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace railyard::test
