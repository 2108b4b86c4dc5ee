// Labs with messages: what transports must keep is kept, and what they have not kept is said.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "control/swarm/trial.h"

namespace railyard::swarm {
namespace {

using testing::IsEmpty;

std::string all_of(const Outcome& o) {
  std::string text;
  for (const Violation& v : o.violations) text += v.rule + ": " + v.what + "\n";
  return text;
}

// h1, h2 - leaf1 - spine1, spine2 - leaf2 - h3, h4; h1 and h2 send to h3 and h4.
std::string lab(const std::string& traffic, const std::string& more = "") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
         "run: { duration: 1ms, drain: 30s }\n"
         "traffic:\n  - { name: t, from: [h1, h2], to: [h3, h4], bytes: 1MB, message: 20KB, " +
         traffic + " }\n" + more;
}

constexpr const char* kImpatient =
    "hosts: { default: { roce: { ack-timeout: 4, retry-count: 1 }, uet: { rto: 50us, retries: 1 } } }\n";
constexpr const char* kPatient =
    "hosts: { default: { roce: { ack-timeout: 12, retry-count: 7 }, uet: { rto: 1ms, retries: 7 } } }\n";
constexpr const char* kNothingPasses = "faults: [{ on: [spine1:1, spine2:1], at: 10us, for: 500us, drop: true }]\n";

TEST(TransportPromises, AllServicesKeepThemUnderLoss) {
  for (const char* how : {"transport: roce", "transport: roce, operation: send, receives: 1, repost-after: 5us",
                          "transport: roce, operation: read", "transport: uet", "transport: uet, service: rod",
                          "transport: uet, service: rudi", "transport: uet, operation: read"}) {
    const Outcome o = run_trial(
        lab(how, std::string(kPatient) + "faults: [{ on: [spine1:1, spine2:1], at: 10us, for: 300us, loss: 3% }]\n"));
    EXPECT_THAT(all_of(o), IsEmpty()) << how;
    EXPECT_GT(o.roce_packets + o.uet_packets, 100u) << how;
    EXPECT_GT(o.retransmissions, 0u) << how;
    EXPECT_EQ(o.failures, 0u) << how;
  }
}

TEST(TransportPromises, WhoGivesUpWhileNothingPassesHasAReason) {
  for (const char* transport : {"transport: roce", "transport: uet", "transport: uet, service: rudi"}) {
    const Outcome o = run_trial(lab(transport, std::string(kImpatient) + kNothingPasses));
    EXPECT_THAT(all_of(o), IsEmpty()) << transport;
    EXPECT_GT(o.failures, 0u) << transport;
  }
}

TEST(TransportPromises, WhoIsPatientNeverGivesUp) {
  for (const char* transport : {"transport: roce", "transport: uet", "transport: uet, service: rudi"}) {
    const Outcome o = run_trial(lab(transport, std::string(kPatient) + kNothingPasses));
    EXPECT_THAT(all_of(o), IsEmpty()) << transport;
    EXPECT_EQ(o.failures, 0u) << transport;
  }
}

// A receiver that is not ready is not asked again: an error, and no fault explains it.
TEST(TransportPromises, AFailureWithoutAReasonIsSaid) {
  const Outcome o = run_trial(lab("transport: roce, operation: send, outstanding: 4, receives: 1, repost-after: 100us",
                                  "hosts: { default: { roce: { rnr-retry: 0 } } }\n"));
  EXPECT_TRUE(o.failed("failure")) << all_of(o);
}

TEST(TransportPromises, WhatIsNotDoneAtTheEndIsSaid) {
  std::string yaml = lab("transport: uet", std::string(kPatient) + kNothingPasses);
  yaml.replace(yaml.find("30s"), 3, "1us");
  yaml.replace(yaml.find("for: 500us"), 10, "for: 985us");  // until shortly before the end: half a millisecond is enough to recover
  EXPECT_TRUE(run_trial(yaml).failed("drain"));
}

TEST(TransportPromises, CollectivesOfBothSumRightUnderLoss) {
  for (const char* transport : {"roce", "uet", "uet, service: rod"}) {
    const Outcome o = run_trial(
        "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n" + std::string(kPatient) +
        fmt::format("collectives: [{{ name: c, collective: all-reduce, size: 400KB, repeats: 5, transport: {} }}]\n",
                    transport) +
        "faults: [{ on: leaf1, loss: 3% }]\nrun: { duration: 500us, drain: 30s, payload: real }\n");
    EXPECT_THAT(all_of(o), IsEmpty()) << transport;
    EXPECT_GT(o.retransmissions, 0u) << transport;
    EXPECT_TRUE(o.features.contains(std::string(transport).starts_with("uet") ? "UET collective" : "RoCE collective"));
  }
}

}  // namespace
}  // namespace railyard::swarm
