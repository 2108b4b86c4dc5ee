// DCQCN packet by packet against its authors' fluid model: how fast senders come back, when the link is full again, and
// how deep the queue then is.
#include "tests/scenarios/dcqcn_fluid.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr int kMilliseconds = 100;
constexpr double kLine = 40e9;
constexpr int kGap = 20;  // octets of preamble and gap on the wire, for each frame

// The same figures of the lab with so many senders.
std::vector<FluidSample> emulate(int flows) {
  Scenario s = Scenario::ready("fidelity-dcqcn-40g", {"traffic.incast.fan-in=" + std::to_string(flows)});
  std::vector<FluidSample> out;
  double sent = 0;
  for (int ms = 0; ms < kMilliseconds; ++ms) {
    FluidSample& sample = out.emplace_back();
    constexpr int kSteps = 20;
    for (int k = 1; k <= kSteps; ++k) {
      s.run_until(1_ms * ms + 50_us * k);
      sample.queue += static_cast<double>(s.at("leaf1:1", 3).depth_octets) / kSteps;
    }
    const ClassCounters c = s.at("leaf1:1", 3);
    const double now = static_cast<double>(c.tx_octets + kGap * c.tx_packets);
    sample.offered = (now - sent) * 8 / 1e-3;
    sent = now;
  }
  s.expect_books_balance();
  EXPECT_EQ(s.dropped(), 0u);
  return out;
}

std::vector<FluidSample> model(int flows) {
  DcqcnFluid m;
  m.flows = flows;
  return integrate(m, kMilliseconds);
}

// The millisecond in which least was sent: all have been cut.
std::size_t lowest(const std::vector<FluidSample>& samples) {
  const auto least = std::ranges::min_element(samples.begin(), samples.begin() + 5, {}, &FluidSample::offered);
  return static_cast<std::size_t>(least - samples.begin());
}
// From then on, the first in which the link was as good as full.
std::size_t full_again(const std::vector<FluidSample>& samples) {
  const auto full = std::find_if(samples.begin() + static_cast<std::ptrdiff_t>(lowest(samples)), samples.end(),
                                 [](const FluidSample& s) { return s.offered >= 0.97 * kLine; });
  return static_cast<std::size_t>(full - samples.begin());
}
// What a millisecond brought while everybody came back, b/s.
double ramp(const std::vector<FluidSample>& samples) {
  const std::size_t from = lowest(samples) + 1;
  const std::size_t to = full_again(samples) - 2;  // the last one that is not full in part
  return (samples[to].offered - samples[from].offered) / static_cast<double>(to - from);
}
double mean(const std::vector<FluidSample>& samples, int from, double FluidSample::*what) {
  double sum = 0;
  for (int ms = from; ms < kMilliseconds; ++ms) sum += samples[static_cast<std::size_t>(ms)].*what;
  return sum / (kMilliseconds - from);
}

TEST(DcqcnFluid, SendersComeBackAtTheModelsPace) {
  for (const int flows : {2, 4, 8}) {
    SCOPED_TRACE(flows);
    const auto ours = emulate(flows);
    const auto theirs = model(flows);
    EXPECT_NEAR(ramp(ours) / ramp(theirs), 1, 0.03);
    // Additive increase, in a millisecond: of each flow R_AI in each T.
    EXPECT_NEAR(ramp(ours), flows * 40e6 * 1e-3 / 55e-6, 0.03 * ramp(ours));
  }
}

// How far they were cut decides where the ramp begins: with few senders a cut more or less is milliseconds.
TEST(DcqcnFluid, TheLinkIsFullAgainWhenTheModelSays) {
  for (const int flows : {8, 16}) {
    SCOPED_TRACE(flows);
    EXPECT_NEAR(static_cast<double>(full_again(emulate(flows))), static_cast<double>(full_again(model(flows))), 1);
  }
}

// CNPs come one by one and at most one in 50 us, where the model has a steady stream of parts of CNPs.
TEST(DcqcnFluid, TheQueueStandsWhereTheModelHasIt) {
  for (const int flows : {2, 4}) {
    SCOPED_TRACE(flows);
    const auto ours = emulate(flows);
    const auto theirs = model(flows);
    EXPECT_NEAR(mean(ours, 40, &FluidSample::queue) / mean(theirs, 40, &FluidSample::queue), 1.2, 0.2);
    EXPECT_GE(mean(ours, 40, &FluidSample::offered), 0.99 * kLine);
    // While they come back nothing waits.
    EXPECT_LT(ours[4].queue, 3e3);
    EXPECT_LT(theirs[4].queue, 3e3);
  }
}

// With many senders the model's queue stands just below Kmax; ours swings about less than that, and the link stays
// busy.
TEST(DcqcnFluid, ManySendersSwing) {
  for (const int flows : {8, 16}) {
    SCOPED_TRACE(flows);
    const auto ours = emulate(flows);
    const double queue = mean(ours, 40, &FluidSample::queue);
    EXPECT_GT(queue, 5e3);
    EXPECT_LT(queue, mean(model(flows), 40, &FluidSample::queue));
    EXPECT_GE(mean(ours, 40, &FluidSample::offered), 0.93 * kLine);
  }
}

}  // namespace
}  // namespace railyard::test
