// UET finds losses where nobody tells of them: in lossless classes that switches spray, and after an incast whose
// switches do not trim. Pauses are no losses. And a link that is full both ways is full.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

struct Recovered {
  std::size_t flows = 0, complete = 0;
  double last_ns = 0;     // when the last flow was complete
  double least_gbps = 0;  // of the slowest flow
  std::uint64_t again = 0, duplicates = 0, timeouts = 0, inferred = 0;
};

Recovered recovered(const std::string& yaml, const std::vector<std::string>& sets = {}) {
  Scenario s(yaml, sets);
  s.run_to_the_end();
  const report::Report r = s.report();
  Recovered o{.least_gbps = 1e9};
  for (const report::FlowReport& f : r.flows) {
    ++o.flows;
    if (f.fct_ns && f.uet->verified == f.uet->messages) ++o.complete;
    o.last_ns = std::max(o.last_ns, static_cast<double>(f.fct_ns.value_or(0)));
    o.least_gbps = std::min(o.least_gbps, f.goodput_bps().value_or(0) / 1e9);
  }
  for (const report::UetNicReport& n : r.uet_nics) {
    o.again += n.retransmitted_packets;
    o.duplicates += n.duplicates();
    o.timeouts += n.retransmission_timeouts;
    o.inferred += n.inferred_losses;
  }
  return o;
}

// Ten thousand packets, one in a hundred of which is lost on the last link.
TEST(UetRecovery, LossesInASprayedLosslessClassAreInferred) {
  const std::string lab =
      "name: loss\n"
      "qos: { default: { classes: { 3: { lossless: true, path: ecmp, ecn: auto }, 5: { strict: true } } } }\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "traffic: [ { name: t, from: h1, to: h3, transport: uet, message: 1MB, outstanding: 4, bytes: 40MB } ]\n"
      "faults: [ { name: l, on: \"h3:1 in\", loss: 1% } ]\n"
      "run: { duration: 20ms, drain: 40ms }\n";
  const Recovered by_hash = recovered(lab);
  for (const char* path : {"spray", "drill", "adaptive", "flowlet"}) {
    const Recovered o = recovered(lab, {std::string("qos.default.classes.3.path=") + path});
    EXPECT_EQ(o.complete, 1u) << path;
    EXPECT_EQ(o.timeouts, 0u) << path;
    EXPECT_GT(o.inferred, 80u) << path;
    EXPECT_LT(o.last_ns, by_hash.last_ns / 0.9) << path;
  }
  const Recovered one_spine = recovered(
      lab,
      {"qos.default.classes.3.path=spray", "topology={ preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }"});
  EXPECT_LT(one_spine.last_ns, by_hash.last_ns / 0.9);
}

// 24 senders without congestion control: paths are paused for most of the time, and round trips grow a hundredfold.
TEST(UetRecovery, PausesOfASprayedClassAreNoLosses) {
  const std::string lab =
      "name: pauses\n"
      "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, path: spray }, 5: { strict: true } } } }\n"
      "topology: { preset: leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: 8 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "hosts: { default: { uet: { congestion: none } } }\n"
      "traffic:\n"
      "  - { name: t, pattern: incast, from: [\"h1?\", \"h2?\", \"h3?\"], to: h1, transport: uet, message: 256KB, "
      "outstanding: 4, bytes: 1MB }\n"
      "  - { name: v, from: h11, to: h2, transport: uet, message: 256KB, outstanding: 4, bytes: 2MB }\n"
      "run: { drain: 50ms }\n";
  for (const char* path : {"spray", "drill", "adaptive", "flowlet"}) {
    const Recovered o = recovered(lab, {std::string("qos.default.classes.3.path=") + path});
    EXPECT_EQ(o.complete, o.flows) << path;
    EXPECT_EQ(o.inferred + o.again + o.duplicates + o.timeouts, 0u) << path;
  }
}

// 32 senders fill a queue of 24 packets at once. What they send takes 0.69 ms on the wire.
TEST(UetRecovery, AfterAnIncastWithoutTrimmingTheLinkDoesNotIdle) {
  const std::string lab =
      "name: incast\n"
      "qos: { default: { dscp: { 46: 6 }, classes: { 3: { lossless: false, queue-limit: 100KB, ecn: off }, "
      "6: { strict: true } } } }\n"
      "topology: { preset: leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: 9 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "traffic: [ { name: t, pattern: incast, to: h1, fan-in: 32, transport: uet, message: 256KB, outstanding: 4, "
      "bytes: 256KB } ]\n"
      "run: { drain: 5ms }\n";
  for (const int seed : {1, 2, 3, 4, 5, 6, 7}) {
    const Recovered o = recovered(lab, {"run.seed=" + std::to_string(seed)});
    EXPECT_EQ(o.complete, 32u);
    EXPECT_LT(o.last_ns, 1.7 * 690e3) << seed;
  }
}

// ACKs wait for at most a packet, and the window covers that.
TEST(UetRecovery, ALinkThatIsFullBothWaysIsFull) {
  for (const int gbps : {25, 100, 400}) {
    const Recovered o = recovered(
        "name: both\n"
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "defaults: { link: { rate: " +
        std::to_string(gbps) +
        "Gbps, cable: 3m } }\n"
        "traffic: [ { name: t, from: h1, to: h2, transport: uet, message: 1MB, outstanding: 8, bidirectional: true } "
        "]\n"
        "run: { duration: 3ms, drain: 1ms }\n");
    EXPECT_EQ(o.flows, 2u);
    EXPECT_GT(o.least_gbps, 0.97 * gbps * 4096 / (4096 + 126)) << gbps;
  }
}

}  // namespace
}  // namespace railyard::test
