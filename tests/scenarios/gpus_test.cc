// Ranks that are GPUs: several share a NIC, and all NICs of their host carry them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

TEST(Gpus, ThatShareNicsReachTheRateOfAllOfThem) {
  for (const char* transport : {"roce", "uet"}) {
    Scenario s = Scenario::ready("shared-nics", {std::string("collectives.sum.transport=") + transport,
                                                 std::string("collectives.experts.transport=") + transport});
    s.run_to_the_end();
    const std::vector<report::CollectiveReport> c = s.report().collectives;
    ASSERT_EQ(c.size(), 2u);
    for (const report::CollectiveReport& one : c) EXPECT_TRUE(one.verified) << one.name << one.stalled << one.wrong;
    EXPECT_EQ(c[0].ranks.size(), 32u);
    EXPECT_EQ(c[0].ranks[9], "h2/gpu2");
    EXPECT_GT(c[0].share_of_limit(), 0.9) << transport;
    // Four NICs of 400 Gb/s, less the framing.
    EXPECT_GT(c[0].limit_bps, 4 * 400e9 * 0.93);
    EXPECT_LT(c[0].limit_bps, 4 * 400e9);
    EXPECT_GT(c[1].share_of_limit(), 0.6) << transport;
    s.expect_books_balance();
  }
}

TEST(Gpus, BehindOneNicHaveItsRate) {
  Scenario s = Scenario::ready("shared-nics", {"hosts.default.gpu-nics=[2, 2, 2, 2, 2, 2, 2, 2]", "collectives.experts="});
  s.run_to_the_end();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
  EXPECT_LT(c.limit_bps, 400e9);
  EXPECT_GT(c.share_of_limit(), 0.9);
}

// The fabric has eight NICs in each host; how many of them GPUs use is the server's.
TEST(Gpus, ReachTheRateOfTheNicsOfTheirServer) {
  for (const auto& [server, nics] : {std::pair{"hgx-h100", 8}, {"hgx-h100-4nic", 4}, {"shared-2", 4}, {"one-nic", 1}}) {
    Scenario s = Scenario::ready("shared-nics", {std::string("hosts.default.server=") + server, "topology.rails=8",
                                                 "collectives.experts="});
    s.run_to_the_end();
    const report::CollectiveReport c = s.report().collectives.at(0);
    EXPECT_TRUE(c.verified) << server << c.stalled << c.wrong;
    EXPECT_GT(c.limit_bps, nics * 400e9 * 0.93) << server;
    EXPECT_LT(c.limit_bps, nics * 400e9) << server;
    EXPECT_GT(c.share_of_limit(), 0.85) << server;
    EXPECT_LE(c.share_of_limit(), 1.0) << server;
  }
}

// Their octets go where they belong, also between GPUs at one NIC.
TEST(Gpus, HaveTheRightDataWithRealPayload) {
  for (const char* transport : {"roce", "uet"})
    for (const char* operation : {"all-reduce", "all-gather", "reduce", "send-recv", "all-to-all"}) {
      Scenario s = Scenario::ready("shared-nics", {"run.payload=real", "collectives.experts=", "collectives.sum.size=512KiB",
                                                   "collectives.sum.repeats=2", std::string("collectives.sum.transport=") + transport,
                                                   std::string("collectives.sum.collective=") + operation});
      s.run_to_the_end();
      const report::CollectiveReport c = s.report().collectives.at(0);
      EXPECT_TRUE(c.verified) << transport << " " << operation << ": " << c.stalled << c.wrong;
    }
}

// GPUs have a share of the scale-up network each, not one of their NIC's.
TEST(Gpus, SendOverTheScaleUpNetworkAtTheirOwnRate) {
  const auto busy = [](int gpus) {
    Scenario s(R"(
name: pair
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 1 }
hosts: { default: { clock-error: 0, gpus: )" + std::to_string(gpus) + R"(, scale-up: { rate: 800Gbps, latency: 1us } } }
collectives: [ { name: c, collective: send-recv, size: 1MiB, chunk: 1MiB } ]
)");
    s.run_to_the_end();
    return s.report().collectives.at(0).median_ns.value_or(0);
  };
  // 1 MiB at 800 Gb/s is 10,486 ns, and 1 us of latency: for any number of GPUs, because each sends to the next one.
  EXPECT_NEAR(static_cast<double>(busy(2)), 11'486, 2);
  EXPECT_NEAR(static_cast<double>(busy(8)), 11'486, 2);
}

}  // namespace
}  // namespace railyard::test
