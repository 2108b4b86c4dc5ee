// A sender whose own link goes down, for good or for a while: nobody answers, whichever link of the path it is.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kRecoveries[] = {"go-back-n", "selective-repeat"};

//   h1 - leaf1 - h2, h3; ack-timeout 4: 65.5 us
std::string outage(const std::string& fault, const std::string& keys = "", const std::string& more = "") {
  return "name: outage\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
         "hosts: { default: { roce: { ack-timeout: 4, retry-count: 3 } } }\n"
         "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, message: 100KB, bytes: 20MB" +
         keys + " }\n" + more + "faults: [ { name: cut, on: 'h1:1', at: 100us, down: true" + fault + " } ]\n";
}

report::FlowReport flow_of(Scenario& s, const std::string& name = "t/h1->h2") {
  for (const report::FlowReport& f : s.report().flows)
    if (f.name == name) return f;
  throw std::out_of_range("no flow is called " + name);
}

// Its own one or its peer's: the same timeouts, and the same end.
TEST(RoceOutages, ASenderWithoutALinkIsGivenUpAsOneWhosePeerHasNone) {
  for (const char* recovery : kRecoveries)
    for (const char* on : {"h1:1", "h2:1"}) {
      SCOPED_TRACE(std::string(recovery) + " " + on);
      Scenario s(outage(""),
                 {std::string("faults.cut.on=") + on, std::string("hosts.default.roce.loss-recovery=") + recovery});
      s.run_to_the_end();
      const report::FlowReport f = flow_of(s);
      EXPECT_EQ(f.roce->status, "RETRY_EXC_ERR");
      EXPECT_EQ(f.roce->local_ack_timeout_err, 4u);
      EXPECT_FALSE(f.fct_ns.has_value());
      EXPECT_LT(f.roce->messages, 200u);
      // 100 us, and four times the timeout: selective repeat has its own, 320 us.
      const double timeout = recovery == std::string("go-back-n") ? 65.5e3 : 320e3;
      EXPECT_NEAR(static_cast<double>(*f.roce->failed_ns), 100e3 + 4 * timeout, 30e3);
      EXPECT_NE(s.report().text().find("QP IN ERROR: t/h1->h2: RETRY_EXC_ERR"), std::string::npos);
      s.expect_books_balance();
    }
}

// Flows that begin when the link is long gone, READs, and several at one NIC.
TEST(RoceOutages, WhatIsPostedWithoutALinkIsGivenUpAsWell) {
  Scenario s(outage("", ", start: 300us, qps: 4",
                    "  - { name: r, from: h1, to: h3, transport: roce, operation: read, bytes: 1MB, start: 400us }\n"
                    "  - { name: b, from: h3, to: h1, transport: roce, bytes: 1MB, start: 400us }\n"));
  s.run_to_the_end();
  for (const char* name : {"t/h1->h2", "r/h1->h3", "b/h3->h1"}) {
    const report::FlowReport f = flow_of(s, name);
    EXPECT_EQ(f.roce->status, "RETRY_EXC_ERR") << name;
    EXPECT_EQ(f.delivered_bytes, 0u) << name;
  }
  EXPECT_GT(s.port("h1:1").classes[3].drops[static_cast<std::size_t>(DropReason::kLinkDown)], 0u);
  s.expect_books_balance();
}

// The link is back before the retries run out: all data once, and what goes again is what was under way, not one copy
// of it for each timeout.
TEST(RoceOutages, ALinkThatComesBackLetsTheFlowGoOn) {
  for (const char* recovery : kRecoveries)
    for (const char* payload : {"elided", "real"}) {
      SCOPED_TRACE(std::string(recovery) + " " + payload);
      Scenario s(outage(", for: 150us"),
                 {std::string("run.payload=") + payload, std::string("hosts.default.roce.loss-recovery=") + recovery,
                  "hosts.default.roce.window=128"});
      s.run_to_the_end();
      const report::FlowReport f = flow_of(s);
      EXPECT_EQ(f.roce->status, "");
      EXPECT_EQ(f.roce->verified, 200u);
      EXPECT_EQ(f.corrupted, 0u);
      EXPECT_EQ(f.delivered_bytes, 20'000'000u);
      EXPECT_GE(f.roce->local_ack_timeout_err, 1u);
      EXPECT_LE(f.roce->duplicate_request, 128u);
      s.expect_books_balance();
    }
}

TEST(RoceOutages, ALinkThatFlapsIsNoStorm) {
  for (const char* recovery : kRecoveries) {
    Scenario s(
        "name: flaps\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "hosts: { default: { roce: { ack-timeout: 4, window: 128 } } }\n"
        "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, message: 100KB, bytes: 20MB }\n"
        "faults: [ { name: flaps, on: 'h1:1', at: 100us, for: 2ms, flap: { down: 100us, up: 100us } } ]\n",
        {std::string("hosts.default.roce.loss-recovery=") + recovery});
    s.run_to_the_end();
    const report::FlowReport f = flow_of(s);
    EXPECT_EQ(f.roce->verified, 200u) << recovery << " " << f.roce->status;
    EXPECT_LE(f.roce->duplicate_request, 10 * 128u) << recovery;
    s.expect_books_balance();
  }
}

}  // namespace
}  // namespace railyard::test
