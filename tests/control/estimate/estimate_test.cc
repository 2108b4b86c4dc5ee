// Estimates: closed forms, and what shares a link.
#include "control/estimate/estimate.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::estimate {
namespace {

Estimate of(const std::string& yaml, const Options& options = {}) {
  const auto e = estimate(spec::parse(yaml, "test.yaml"), options);
  EXPECT_TRUE(e) << e.error();
  return *e;
}

const std::string kFour = R"(
name: four
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2, host-link: { rate: 100Gbps }, fabric-link: { rate: 100Gbps } }
)";

// A ring: 2 (n - 1) / n of the octets at the link's rate, less framing.
TEST(Estimate, OfARingIsItsClosedForm) {
  const Estimate e = of(kFour + "collectives: [ { name: c, collective: all-reduce, size: 64MiB } ]\n");
  const double seconds = 1.5 * 64 * 1048576 * 8 / (100e9 * 4096 / 4182);
  EXPECT_NEAR(static_cast<double>(e.collectives[0].time.ps) / 1e12, seconds, 0.01 * seconds);
  EXPECT_NEAR(e.links[0].utilisation, 1, 0.02);
}

// Of its six steps each waits for one message.
TEST(Estimate, HasTheFixedCosts) {
  const auto time = [](const char* more) {
    const Estimate e = of(kFour + "collectives: [ { name: c, collective: all-reduce, size: 64KiB" + more + " } ]\n");
    return static_cast<double>(e.collectives[0].time.ps);
  };
  EXPECT_NEAR(time(", launch-cost: 5us, step-cost: 2us") - time(""), 5e6 + 6 * 2e6, 1e3);
}

// Of a job, the launch is of a step: here two all-reduces of a segment in each pass, of two ranks with two steps each.
TEST(Estimate, HasTheFixedCostsOfAJob) {
  const auto time = [](const std::string& more) {
    const Estimate e = of("name: two\ntopology: { preset: rail-optimized, hosts: 1, rails: 2, spines: 1 }\n"
                          "hosts: { default: { gpus: 2, scale-up: { rate: 800Gbps } } }\n"
                          "jobs: [ { name: j, model: gpt2-124m, segments: 1, forward: 1ms, backward: 1ms, parallelism: { tp: 2 }" + more + " } ]\n");
    return static_cast<double>(e.collectives[0].time.ps);
  };
  EXPECT_NEAR(time(", launch-cost: 5us") - time(""), 5e6, 1e3);
  EXPECT_NEAR(time(", launch-cost: 5us, step-cost: 2us") - time(""), 5e6 + 4 * 2 * 2e6, 1e3);
}

// Two hosts with four GPUs each. What of tensor parallelism is sent in groups across them; 0: none is.
double tensor_across_hosts(const std::string& job, const std::string& scale_up = "rate: 800Gbps") {
  const Estimate e = of("name: two\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1 }\n"
                        "hosts: { default: { gpus: 4, scale-up: { " + scale_up + " } } }\n"
                        "jobs: [ { name: j, model: gpt2-124m, segments: 1, " + job + " } ]\n");
  for (const auto& v : e.collectives[0].figures->training->volumes)
    if (v.kind == "tp_across_hosts") return v.bytes;
  return 0;
}

TEST(Estimate, SaysWhatTensorParallelGroupsSendAcrossHosts) {
  EXPECT_GT(tensor_across_hosts("parallelism: { tp: 4, pp: 2 }, ranks: ['h1:1', 'h2:1', 'h1:2', 'h2:2', 'h1:3', 'h2:3', 'h1:4', 'h2:4']"), 0);
  EXPECT_GT(tensor_across_hosts("parallelism: { tp: 2, dp: 4, order: [dp, tp, cp, pp] }"), 0);
  EXPECT_GT(tensor_across_hosts("parallelism: { tp: 2, cp: 2, dp: 2, order: [cp, dp, tp, pp] }"), 0);
}

TEST(Estimate, TensorParallelGroupsInHostsOrScaleUpNetworksSendNothingAcross) {
  EXPECT_EQ(tensor_across_hosts("parallelism: { tp: 4 }"), 0);
  EXPECT_EQ(tensor_across_hosts("parallelism: { tp: 2, cp: 2, dp: 2 }"), 0);
  EXPECT_EQ(tensor_across_hosts("parallelism: { dp: 8 }"), 0);
  EXPECT_EQ(tensor_across_hosts("parallelism: { tp: 2, dp: 4, order: [dp, tp, cp, pp] }", "rate: 800Gbps, hosts: 2"), 0);
}

// Two flows over the one uplink have half of it each.
TEST(Estimate, AnOversubscribedUplinkTakesTwiceAsLong) {
  const std::string send = "collectives: [ { name: c, collective: send-recv, size: 64MiB, ranks: [h1, h3, h2, h4] } ]\n";
  const Estimate two = of(kFour + send);
  const Estimate one = of(kFour + "collectives: [ { name: c, collective: send-recv, size: 64MiB } ]\n");
  EXPECT_NEAR(static_cast<double>(two.collectives[0].time.ps), 2 * static_cast<double>(one.collectives[0].time.ps),
              0.01 * static_cast<double>(two.collectives[0].time.ps));
}

// Four NICs of 400 Gb/s, two behind each uplink of 504 Gb/s: those two have it between them, one alone has its link.
TEST(Estimate, NicsShareAnUplinkOfPciExpress) {
  const auto time = [](const std::string& ranks) {
    const Estimate e = of("name: shared\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1, host-link: { rate: 400Gbps }, "
                          "fabric-link: { rate: 1600Gbps } }\nhosts: { default: { pcie: { slot: gen5x16, shared-by: 2 } } }\n"
                          "collectives: [ { name: c, collective: send-recv, size: 64MiB, ranks: [" + ranks + "] } ]\n");
    return std::pair{static_cast<double>(e.collectives[0].time.ps) / 1e12, e.links[0].name};
  };
  constexpr double kLink = 64 * 1048576 * 8 / (400e9 * 4096 / 4182);
  constexpr double kShared = 2 * kLink * 400e9 / (32e9 * 16 * 128 / 130);
  EXPECT_NEAR(time("h1:1, h2:1").first, kLink, 0.01 * kLink);
  EXPECT_NEAR(time("h1:1, h2:1, h1:3, h2:3").first, kLink, 0.01 * kLink) << "an uplink each";
  const auto [two, busiest] = time("h1:1, h2:1, h1:2, h2:2");
  EXPECT_NEAR(two, kShared, 0.01 * kShared);
  EXPECT_EQ(busiest, "h1:1-2 PCIe out");
}

TEST(Estimate, HasTheSameBytesInLargerMessages) {
  const std::string lab = kFour + "collectives: [ { name: c, collective: all-to-all, size: 16MiB, chunk: 64KiB } ]\n";
  const Estimate fine = of(lab, {.least_chunk = 0});
  const Estimate coarse = of(lab);
  EXPECT_GT(fine.messages, 10 * coarse.messages);
  EXPECT_NEAR(static_cast<double>(fine.collectives[0].time.ps), static_cast<double>(coarse.collectives[0].time.ps),
              0.05 * static_cast<double>(fine.collectives[0].time.ps));
  double bytes[2] = {};
  for (const LinkEstimate& l : fine.links) bytes[0] += l.bytes;
  for (const LinkEstimate& l : coarse.links) bytes[1] += l.bytes;
  EXPECT_NEAR(bytes[0], bytes[1], 1e-6 * bytes[0]);
}

// A ring of 16 GPUs in two hosts passes 26 links within them: NCCL's costs have their latency, and a step takes no longer if the
// messages have it.
TEST(Estimate, ARingOfAJobHasTheLatencyOfItsScaleUpNetworkOnce) {
  const auto time = [](const char* latency) {
    const Estimate e = of(std::string(R"(
name: two
topology: { preset: rail-optimized, hosts: 2, rails: 8, spines: 1, host-link: { rate: 400Gbps }, fabric-link: { rate: 400Gbps } }
hosts: { default: { gpus: 8, scale-up: { rate: 3600Gbps, latency: )") + latency + R"( } } }
jobs: [ { name: j, model: { layers: 1, hidden: 64, heads: 1, feed-forward: 64, vocabulary: 64, sequence: 16 }, segments: 1,
          forward: 1us, backward: 1us, protocol: simple } ]
)");
    return static_cast<double>(e.collectives[0].time.ps) / 1e6;
  };
  EXPECT_NEAR(time("1us"), time("1ns"), 1);
}

TEST(Estimate, OfTwoJobsAtOnceSharesTheirLinks) {
  const std::string job = "model: gpt2-124m, segments: 1, forward: 1ms, backward: 1ms, overlap: false";
  const Estimate alone = of(kFour + "jobs: [ { name: a, ranks: [h1, h3], " + job + " } ]\n");
  const Estimate both = of(kFour + "jobs: [ { name: a, ranks: [h1, h3], " + job + " }, { name: b, ranks: [h2, h4], " + job + " } ]\n");
  // All but the 2 ms of computing takes twice as long.
  const double messages = static_cast<double>(alone.collectives[0].time.ps) - 2e9;
  EXPECT_NEAR(static_cast<double>(both.collectives[0].time.ps), 2e9 + 2 * messages, 0.02 * messages);
}

}  // namespace
}  // namespace railyard::estimate
