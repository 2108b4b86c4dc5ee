// An idle path by closed form: serialization, propagation and latencies add up to the picosecond.
#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

//  h1 --3m-- leaf1 --30m-- spine1 --30m-- leaf2 --3m-- h2
std::string path(const char* rate, const char* mode, int payload) {
  return std::string(R"(
name: idle-path
switches: { default: { latency: 450ns, mode: )") +
         mode + R"( } }
hosts: { default: { latency: 700ns } }
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1,
            host-link: { rate: )" +
         rate + R"(, cable: 3m }, fabric-link: { rate: )" + rate + R"(, cable: 30m } }
traffic: [ { name: t, from: h1, to: h2, payload: )" +
         std::to_string(payload) + "B, bytes: " + std::to_string(10 * payload) + R"(B, rate: 1Gbps } ]
run: { duration: 10ms }
)";
}

struct PathCase {
  const char* rate;
  BitRate value;
  int payload;
};

class IdlePath : public testing::TestWithParam<PathCase> {};

// Each of the four hops: the frame with its preamble (not the gap) at link rate, the cable at 5 ns/m, then the
// receiver.
TEST_P(IdlePath, StoreAndForwardTakesTheSumOfItsParts) {
  const PathCase c = GetParam();
  Scenario s(path(c.rate, "store-and-forward", c.payload));
  s.run_to_the_end();
  const Bytes frame{14 + 20 + 8 + 12 + c.payload + 4 + 4};
  const Duration expected = 4 * ((frame + 8_B) / c.value) + 2 * 15_ns + 2 * 150_ns + 3 * 450_ns + 700_ns;
  const RxFlowCounters& rx = s.flow("t/h1->h2").received();
  EXPECT_EQ(rx.packets, 10u);
  EXPECT_EQ(rx.latency.min(), static_cast<std::uint64_t>(expected.ps));
  EXPECT_EQ(rx.latency.max(), static_cast<std::uint64_t>(expected.ps));
}

// Cut-through: every switch sends on when 128 octets are there; the host waits for the tail.
TEST_P(IdlePath, CutThroughWaitsForTheHeaderOnly) {
  const PathCase c = GetParam();
  Scenario s(path(c.rate, "cut-through", c.payload));
  s.run_to_the_end();
  const Bytes frame{14 + 20 + 8 + 12 + c.payload + 4 + 4};
  const Bytes seen{std::min<std::int64_t>(frame.n, 128)};
  const Duration expected =
      3 * ((seen + 8_B) / c.value) + (frame + 8_B) / c.value + 2 * 15_ns + 2 * 150_ns + 3 * 450_ns + 700_ns;
  const RxFlowCounters& rx = s.flow("t/h1->h2").received();
  EXPECT_EQ(rx.latency.min(), static_cast<std::uint64_t>(expected.ps));
  EXPECT_EQ(rx.latency.max(), static_cast<std::uint64_t>(expected.ps));
}

INSTANTIATE_TEST_SUITE_P(Rates, IdlePath,
                         testing::Values(PathCase{"10Gbps", 10_Gbps, 64}, PathCase{"25Gbps", 25_Gbps, 1024},
                                         PathCase{"100Gbps", 100_Gbps, 4096}, PathCase{"400Gbps", 400_Gbps, 4096},
                                         PathCase{"800Gbps", 800_Gbps, 4096}),
                         [](const auto& c) {
                           return std::string(c.param.rate) + "x" + std::to_string(c.param.payload);
                         });

}  // namespace
}  // namespace railyard::test
