// Flows without an end that nothing more is delivered of: the note that names them, and when that was.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/verdict.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;
using testing::HasSubstr;

report::Verdict completion(Scenario& s) {
  for (const report::Verdict& v : s.report().verdicts())
    if (v.name == "completion") return v;
  return {};
}

std::string pair_of(const std::string& traffic, const std::string& faults) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
         "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
         "traffic: [ { name: t, from: h1, to: h2, transport: roce, " +
         traffic + " } ]\nfaults:\n" + faults + "run: { duration: 10ms, drain: 1ms }\n";
}

// A packet is lost, and its retransmission; what comes behind it until the window is empty is of no use. Go-back-N then
// waits for its ACK timeout of 67 ms.
TEST(StalledFlows, ArrivalsOfNoUseAreNoDelivery) {
  Scenario s(pair_of("message: 1MB, outstanding: 64",
                     "  - { name: a, on: \"h2:1 in\", at: 1ms, for: 400ns, drop: true }\n"
                     "  - { name: b, on: \"h2:1 in\", at: 1002us, for: 5us, drop: true }\n"));
  s.run_until(11_ms);
  const report::Verdict v = completion(s);
  EXPECT_EQ(v.answer, report::Verdict::Answer::kNote) << v.text;
  EXPECT_THAT(v.text, HasSubstr("1 flow stalled: t/h1->h2 delivered nothing after 1.00 ms of 10 ms"));
}

TEST(StalledFlows, AReadWhoseRequestsAreLostIsOne) {
  Scenario s(pair_of("operation: read, message: 64KiB", "  - { name: cut, on: \"h1:1\", down: true }\n"));
  s.run_until(11_ms);
  const report::Verdict v = completion(s);
  EXPECT_EQ(v.answer, report::Verdict::Answer::kNote) << v.text;
  EXPECT_THAT(v.text, HasSubstr("1 flow stalled: t/h1->h2 delivered nothing after 0 ns of 10 ms"));
}

TEST(StalledFlows, AFlowThatHasJustBegunIsNone) {
  Scenario s(pair_of("message: 64KiB, start: 9999999ns", "  - { name: cut, on: \"h1:1\", at: 20ms, down: true }\n"));
  s.run_until(11_ms);
  EXPECT_EQ(completion(s).answer, report::Verdict::Answer::kOpen);
}

// A flow whose NIC's clock puts its start behind the end of the run was never asked to send.
TEST(StalledFlows, AFlowThatWouldStartBehindItsEndIsNotCounted) {
  std::size_t never_offered = 0;
  for (const char* seed : {"run.seed=1", "run.seed=2", "run.seed=3"}) {
    Scenario s = Scenario::with_clocks(
        "name: late\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
        "traffic: [ { name: e, from: h1, to: h2, transport: roce, load: 60%, sizes: [[1KB, 50%], [2KB, 100%]] } ]\n"
        "run: { duration: 2ms, drain: 20ms }\n",
        {seed});
    s.run_until(22_ms);
    for (const report::FlowReport& f : s.report().flows) {
      EXPECT_TRUE(f.fct_ns || !f.was_offered) << f.name;
      never_offered += f.was_offered ? 0 : 1;
    }
    EXPECT_EQ(completion(s).answer, report::Verdict::Answer::kPass) << completion(s).text;
  }
  EXPECT_GT(never_offered, 0u);
}

}  // namespace
}  // namespace railyard::test
