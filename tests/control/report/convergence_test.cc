// When flows share a receiver evenly: draft-calabria-bmwg-ai-fabric-training-bench, T6.4 and T7.3.
#include "control/report/convergence.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

using namespace literals;

// Flows of 4 KB packets, looked at every 10 us. At 10 Gb/s each, 100 packets take 328 us: windows of 33 looks.
Sharing shared(std::size_t flows) {
  Sharing s;
  s.arrived.assign(flows, {0});
  s.every = 10_us;
  s.fair_bps = 10e9;
  s.packet_octets = 4096;
  return s;
}

void add(Sharing& s, const std::vector<double>& gbps, int looks) {
  for (int i = 0; i < looks; ++i)
    for (std::size_t f = 0; f < gbps.size(); ++f)
      s.arrived[f].push_back(s.arrived[f].back() + static_cast<std::uint64_t>(gbps[f] * 1e9 / 8 * 10e-6));
  s.until = s.every * static_cast<std::int64_t>(s.arrived[0].size() - 1);
}

TEST(Convergence, IsWhenAllAreWithinTenPerCentAndStayThere) {
  Sharing s = shared(2);
  add(s, {16, 4}, 100);
  add(s, {10.5, 9.5}, 400);
  const auto after = convergence(s);
  ASSERT_TRUE(after);
  // A window that is even has little of the time before in it.
  EXPECT_LE(*after, 1_ms);
  EXPECT_GT(*after, 1_ms - 330_us);
}

TEST(Convergence, CountsFromTheOnset) {
  Sharing s = shared(2);
  add(s, {10, 10}, 100);
  add(s, {16, 4}, 100);
  add(s, {10, 10}, 400);
  EXPECT_GT(*convergence(s), 1_ms) << "even at first, and not for ten windows";
  s.onset = 1_ms;
  const auto after = convergence(s);
  ASSERT_TRUE(after);
  EXPECT_LE(*after, 1_ms);
}

TEST(Convergence, OneFlowThatStaysAboveIsEnoughToHaveNone) {
  Sharing s = shared(3);
  add(s, {10, 10, 11.5}, 1000);
  EXPECT_EQ(convergence(s), std::nullopt);
  EXPECT_NEAR(*nearest_share(s), 0.15, 0.001) << "that is how near it comes";
}

TEST(Convergence, NeedsTenWindowsBeforeTheFirstIsDone) {
  Sharing s = shared(2);
  add(s, {10, 10}, 329);
  EXPECT_EQ(convergence(s), std::nullopt);
  EXPECT_EQ(nearest_share(s), std::nullopt);
  add(s, {10, 10}, 1);
  EXPECT_EQ(convergence(s), Duration{});
  s.until = s.until - 10_us;
  EXPECT_EQ(convergence(s), std::nullopt);
}

}  // namespace
}  // namespace railyard::report
