// A sender whose own link goes down, for good or for a while: nobody answers, whichever link of the path it is.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/uet_lab.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kServices[] = {"rud", "rod", "rudi"};

//   h1 - leaf1 - h2, h3
std::string outage(const std::string& fault, const std::string& keys = "", const std::string& more = "") {
  return "name: outage\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
         "hosts: { default: { uet: { rto: 100us, retries: 3 } } }\n"
         "traffic:\n  - { name: t, from: h1, to: h2, transport: uet, message: 100KB, bytes: 20MB, outstanding: 4" +
         keys + " }\n" + more + "faults: [ { name: cut, on: 'h1:1', at: 100us, down: true" + fault + " } ]\n";
}

// Its own one or its peer's: the same timeouts, and the same end.
TEST(UetOutages, ASenderWithoutALinkIsGivenUpAsOneWhosePeerHasNone) {
  for (const char* service : kServices)
    for (const char* on : {"h1:1", "h2:1"}) {
      SCOPED_TRACE(std::string(service) + " " + on);
      Scenario s(outage(""), {std::string("faults.cut.on=") + on, std::string("traffic.t.service=") + service});
      s.run_to_the_end();
      const report::Report r = s.report();
      const report::FlowReport f = flow_report(r);
      EXPECT_EQ(f.uet->status, "retry_exceeded");
      EXPECT_GT(f.uet->completion_errors, 0u);
      EXPECT_FALSE(f.fct_ns.has_value());
      EXPECT_LT(f.uet->verified, 200u);
      EXPECT_GE(sums(r).timeouts, 4u);
      EXPECT_EQ(sums(r).open_messages, 0u);
      EXPECT_EQ(sums(r).left, 0u);
      s.expect_books_balance();
    }
}

// Flows that begin when the link is long gone, READs, and several at one NIC.
TEST(UetOutages, WhatIsPostedWithoutALinkIsGivenUpAsWell) {
  Scenario s(outage("", ", start: 300us, qps: 4",
                    "  - { name: r, from: h1, to: h3, transport: uet, operation: read, bytes: 1MB, start: 400us }\n"
                    "  - { name: b, from: h3, to: h1, transport: uet, bytes: 1MB, start: 400us }\n"));
  s.run_to_the_end();
  const report::Report r = s.report();
  for (const char* name : {"t/h1->h2", "r/h1->h3", "b/h3->h1"}) {
    const report::FlowReport f = flow_report(r, name);
    EXPECT_EQ(f.uet->status, "retry_exceeded") << name;
    EXPECT_EQ(f.delivered_bytes, 0u) << name;
  }
  EXPECT_EQ(sums(r).left, 0u);
  s.expect_books_balance();
}

// The link is back before the retries run out: all data once, and what goes again is what was under way, not one copy
// of it for each timeout.
TEST(UetOutages, ALinkThatComesBackLetsTheFlowGoOn) {
  for (const char* service : kServices)
    for (const char* payload : {"elided", "real"}) {
      SCOPED_TRACE(std::string(service) + " " + payload);
      Scenario s(outage(", for: 400us"),
                 {std::string("run.payload=") + payload, std::string("traffic.t.service=") + service});
      s.run_to_the_end();
      const report::Report r = s.report();
      expect_all_verified(r, 200);
      EXPECT_EQ(flow_report(r).delivered_bytes, 20'000'000u);
      EXPECT_GE(sums(r).timeouts, 1u);
      EXPECT_LE(sums(r).duplicates, 64u);
      s.expect_books_balance();
    }
}

TEST(UetOutages, ALinkThatFlapsIsNoStorm) {
  for (const char* service : kServices) {
    Scenario s(
        "name: flaps\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "hosts: { default: { uet: { rto: 100us, retries: 10 } } }\n"
        "traffic:\n  - { name: t, from: h1, to: h2, transport: uet, message: 100KB, bytes: 20MB }\n"
        "faults: [ { name: flaps, on: 'h1:1', at: 100us, for: 2ms, flap: { down: 100us, up: 100us } } ]\n",
        {std::string("traffic.t.service=") + service});
    s.run_to_the_end();
    const report::Report r = s.report();
    SCOPED_TRACE(service);
    expect_all_verified(r, 200);
    EXPECT_LE(sums(r).duplicates, 10 * 64u);
    s.expect_books_balance();
  }
}

}  // namespace
}  // namespace railyard::test
