// Inference jobs over whole labs: data are right, and requests take what can be computed by hand, plus what the fabric adds.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "control/jobs/inference.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using Requests = std::vector<report::InferenceFigures::Request>;

// Hosts of one rank each at one leaf.
std::string pair_lab(const std::string& inference) {
  return R"(
name: pair
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 4, host-link: { rate: 100Gbps, cable: 3m } }
jobs:
  - name: chat
    model: { layers: 8, hidden: 1024, heads: 16, kv-heads: 4, feed-forward: 4096, vocabulary: 32000, sequence: 2048 }
    inference: { rate: inf, prompt: 1024, output: 10, )" + inference + " }\n";
}

// Two hosts of four GPUs.
std::string host_lab(const std::string& inference, const std::string& more = "") {
  return R"(
name: hosts
topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1, host-link: { rate: 100Gbps, cable: 3m } }
hosts: { default: { gpus: 4, scale-up: { rate: 3600Gbps, latency: 500ns } } }
jobs:
  - name: chat
    model: { layers: 4, hidden: 256, heads: 8, kv-heads: 4, feed-forward: 512, vocabulary: 1000, sequence: 512 }
    chunk: 16KiB
    inference: { rate: 20000/s, prompt: 64, output: 4, segments: 2, )" + inference + " }\n" + more;
}

report::CollectiveReport run(Scenario& s) {
  s.run_to_the_end();
  s.expect_books_balance();
  return s.report().collectives.at(0);
}

const Requests& requests(const report::CollectiveReport& c) {
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
  EXPECT_TRUE(c.figures && c.figures->inference);
  return c.figures->inference->requests;
}

double ns(Duration d) { return static_cast<double>(d.ps) / 1000; }

// In one segment: prefill, then the KV cache at what framing leaves of the link's rate, then an iteration.
TEST(Inference, OneRequestOnAnIdleFabricTakesItsClosedForm) {
  Scenario s(pair_lab("requests: 1, segments: 1, prefill: {}, decode: {}"));
  const jobs::Inference i = *s.lab().spec().collectives[0].job->inference;
  const report::CollectiveReport c = run(s);
  const auto& r = requests(c).at(0);
  const double prefill = ns(jobs::prefill_time(i, 1024));
  const double octets = 2 * 8 * 256 * 1024 * 2.0;  // keys and values, layers, width, tokens, octets of each
  EXPECT_EQ(static_cast<double>(r.kv_bytes), octets);
  EXPECT_EQ(static_cast<double>(c.fabric_bytes), octets);
  const double payload = 4096.0 / (4096 + 14 + 20 + 8 + 12 + 4 + 4 + 20);  // Ethernet, IP, UDP, BTH, ICRC, FCS, preamble and gap
  const double transfer = octets * 8 / (100 * payload);
  EXPECT_NEAR(r.prefill_ns, prefill, 0.001);
  EXPECT_EQ(r.queue_ns, 0);
  EXPECT_NEAR(r.kv_ns, transfer, 0.01 * transfer);
  EXPECT_NEAR(r.kv_exposed_ns, r.kv_ns, 0.001);
  EXPECT_NEAR(r.ttft_ns, r.prefill_ns + r.kv_exposed_ns + ns(jobs::iteration_time(i, 1, 1024)), 0.01);
  double latency = r.ttft_ns;
  for (int n = 1; n < 10; ++n) latency += ns(jobs::iteration_time(i, 1, 1024 + n));
  EXPECT_NEAR(r.latency_ns, latency, 0.1);
  EXPECT_NEAR(*r.tpot_ns, (r.latency_ns - r.ttft_ns) / 9, 1e-6);
  EXPECT_EQ(c.figures->inference->requests_per_second, 1e9 / r.latency_ns);
  EXPECT_EQ(c.figures->inference->tokens_per_second, 10e9 / r.latency_ns);
}

// The KV cache of all but the last segment goes while computing goes on.
TEST(Inference, SegmentsHideTheTransferBehindPrefill) {
  Scenario whole(pair_lab("requests: 1, segments: 1, prefill: {}, decode: {}"));
  Scenario parts(pair_lab("requests: 1, segments: 8, prefill: {}, decode: {}"));
  const double exposed = requests(run(whole)).at(0).kv_exposed_ns;
  EXPECT_NEAR(requests(run(parts)).at(0).kv_exposed_ns, exposed / 8, 0.02 * exposed);
}

TEST(Inference, TheSecondRequestWaitsForTheFirst) {
  for (const int replicas : {1, 2}) {
    Scenario s(pair_lab("requests: 2, prefill: { replicas: " + std::to_string(replicas) + " }, decode: {}"));
    const double prefill = ns(jobs::prefill_time(*s.lab().spec().collectives[0].job->inference, 1024));
    const report::CollectiveReport c = run(s);
    const Requests& all = requests(c);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].queue_ns, 0);
    EXPECT_NEAR(all[1].queue_ns, replicas == 1 ? prefill : 0, 0.001);
  }
}

TEST(Inference, AFullBatchIsWaitedFor) {
  const auto latency = [](int batch) {
    Scenario s(pair_lab("requests: 3, prefill: {}, decode: {}, batch: " + std::to_string(batch)), {"jobs.chat.inference.output=100"});
    const report::CollectiveReport c = run(s);
    return requests(c).at(2).latency_ns;
  };
  EXPECT_GT(latency(1), 2 * latency(3));
}

TEST(Inference, EveryMixOfPoolsHasTheRightData) {
  for (const char* pools : {"requests: 4, prefill: { tp: 4 }, decode: { tp: 4 }", "requests: 6, prefill: { tp: 2 }, decode: { tp: 4 }",
                            "requests: 6, prefill: { tp: 2, replicas: 2 }, decode: { tp: 1, replicas: 4 }, lengths: exponential"})
    for (const char* payload : {"elided", "real"})
      for (const char* transport : {"roce", "uet"}) {
        Scenario s(host_lab(pools), {std::string("run.payload=") + payload, std::string("jobs.chat.transport=") + transport});
        const report::CollectiveReport c = run(s);
        const Requests& all = requests(c);
        EXPECT_EQ(all.size(), c.figures->inference->asked) << pools;
        for (const auto& r : all) {
          EXPECT_GE(r.arrival_ns, 0);
          EXPECT_GE(r.queue_ns, 0);
          EXPECT_GT(r.kv_ns, 0);
          EXPECT_GE(r.ttft_ns, r.queue_ns + r.prefill_ns + r.kv_exposed_ns - 0.01);
          EXPECT_LE(r.ttft_ns, r.latency_ns);
        }
        EXPECT_GT(c.job->utilisation, 0);
        EXPECT_LT(c.job->utilisation, 1);
      }
}

// Sums of activations stay in the host; over the fabric go KV caches only.
TEST(Inference, OverTheFabricGoKvCachesOnly) {
  Scenario s(host_lab("requests: 5, prefill: { tp: 4 }, decode: { tp: 4 }"));
  const report::CollectiveReport c = run(s);
  EXPECT_EQ(c.fabric_bytes, 5u * 2 * 4 * 128 * 64 * 2);
  ASSERT_TRUE(c.scale_up);
  EXPECT_GT(c.scale_up->bytes, 0u);
}

// Arrivals are no computing: a slow GPU gets its requests when they come.
TEST(Inference, ASlowGpuHasTheSameArrivals) {
  // Computing takes far longer than messages.
  const std::string computes = "    mfu: 0.0001\n";
  Scenario usual(host_lab("requests: 4, prefill: { tp: 4 }, decode: { tp: 4 }", computes));
  Scenario slow(host_lab("requests: 4, prefill: { tp: 4 }, decode: { tp: 4 }", computes + "    stragglers: [{ ranks: [2], factor: 2 }]\n"));
  const report::CollectiveReport a = run(usual), b = run(slow);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(requests(a).at(n).arrival_ns, requests(b).at(n).arrival_ns);
  EXPECT_NEAR(requests(b).at(0).prefill_ns, 2 * requests(a).at(0).prefill_ns, 0.2 * requests(a).at(0).prefill_ns);
  EXPECT_GT(requests(b).at(0).prefill_ns, 1.5 * requests(a).at(0).prefill_ns);
  ASSERT_TRUE(b.job->straggler);
  EXPECT_NEAR(b.job->straggler->factor, 2, 0.01);
}

TEST(Inference, TheSameSeedGivesTheSameRequestsOnAnyWorkers) {
  const auto csv = [](unsigned workers) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready("inference-disaggregated", {"jobs.chat.inference.requests=6", "jobs.chat.inference.lengths=exponential"}, config);
    s.run_to_the_end();
    return report::request_csv(s.report());
  };
  const std::string one = csv(1);
  EXPECT_EQ(std::ranges::count(one, '\n'), 7);
  EXPECT_EQ(one, csv(2));
}

TEST(Inference, TheShippedOneWaitsForItsNetworkIfLinksAreSlow) {
  const auto figures = [](const char* rate) {
    Scenario s = Scenario::ready("inference-disaggregated", {std::string("topology.host-link.rate=") + rate, "jobs.chat.inference.requests=8"});
    const report::CollectiveReport c = run(s);
    EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
    return *c.figures->inference;
  };
  const report::InferenceFigures fast = figures("100Gbps"), slow = figures("10Gbps");
  using R = report::InferenceFigures::Request;
  EXPECT_GT(slow.spread(&R::kv_exposed_ns).p50, 3 * fast.spread(&R::kv_exposed_ns).p50);
  EXPECT_GT(slow.spread(&R::ttft_ns).p50, fast.spread(&R::ttft_ns).p50);
}

TEST(Inference, AnEstimateIsNearTheRun) {
  Scenario s = Scenario::ready("inference-disaggregated");
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated) << estimated.error();
  const report::CollectiveReport c = run(s);
  ASSERT_EQ(requests(c).size(), 24u);
  const double ran = static_cast<double>(*c.median_ns);
  EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps) / 1000, ran, 0.1 * ran);
  ASSERT_TRUE(estimated->collectives[0].figures->inference);
  const report::InferenceFigures &fluid = *estimated->collectives[0].figures->inference, &packets = *c.figures->inference;
  ASSERT_EQ(fluid.requests.size(), 24u);
  using R = report::InferenceFigures::Request;
  EXPECT_NEAR(fluid.spread(&R::ttft_ns).p50, packets.spread(&R::ttft_ns).p50, 0.1 * packets.spread(&R::ttft_ns).p50);
  EXPECT_NEAR(fluid.spread(&R::latency_ns).p99, packets.spread(&R::latency_ns).p99, 0.1 * packets.spread(&R::latency_ns).p99);
  EXPECT_NEAR(estimated->collectives[0].computed, c.job->utilisation, 0.05);
}

}  // namespace
}  // namespace railyard::test
