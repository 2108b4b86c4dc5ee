// What people read of flows and collectives over UET, and of the NICs they begin and end at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/report.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

UetNicReport sample_nic() {
  UetNicReport n;
  n.nic = "h1:1";
  n.pdcs_opened = 4;
  n.pdcs_closed = 3;
  n.pdcs_failed = 1;
  n.acks_sent = 1200;
  n.nacks_sent = {{"TRIMMED", 9}};
  n.retransmission_timeouts = 5;
  n.inferred_losses = 6;
  n.ecn_marked_packets = 30;
  n.out_of_order = 70;
  n.dropped = {{"duplicate", 2}, {"trimmed", 9}};
  return n;
}

UetReport sample_uet() {
  UetReport u;
  u.service = "rud";
  u.operation = "send";
  u.messages = 40;
  u.verified = 39;
  u.retransmitted_packets = 12;
  return u;
}

TEST(UetText, NothingIsSaidWithoutUet) { EXPECT_EQ(uet_text(sample().flows, {}), ""); }

TEST(UetText, TellsWhatBecameOfMessagesAndPdcs) {
  Report r = sample();
  r.flows[0].uet = sample_uet();
  const std::string text = uet_text(r.flows, {sample_nic(), sample_nic()});
  EXPECT_THAT(text, HasSubstr("UET: 1 flow at 2 NICs\n"));
  EXPECT_THAT(text, HasSubstr("39 messages delivered and verified; 12 of"));
  EXPECT_THAT(text, HasSubstr("PDCs, counted at both ends: 8 opened, 6 closed, 2 failed, 0 left; 2,400 ACKs\n"));
  EXPECT_THAT(text, HasSubstr("NACKs: 18 TRIMMED\n"));
  EXPECT_THAT(text,
              HasSubstr("140 packets received out of order, 60 with CE, 18 trimmed, 4 duplicates; 10 timeouts, 12 "
                        "losses inferred\n"));
  r.uet_nics = {sample_nic()};
  EXPECT_THAT(r.text(), HasSubstr("UET: 1 flow at 1 NIC"));
}

// Collectives have PDCs as flows do, and a NIC counts for both.
TEST(UetText, NicsAreToldOfWithoutFlows) {
  const std::string text = uet_text(sample().flows, {sample_nic()});
  EXPECT_THAT(text, HasSubstr("UET: 0 flows at 1 NIC\n"));
  EXPECT_THAT(text, HasSubstr("PDCs, counted at both ends: 4 opened"));
  EXPECT_THAT(text, Not(HasSubstr("messages delivered")));
}

// A SEND is complete for who sent it when the target has it, though nobody there has posted a buffer.
TEST(UetText, SendsThatNobodyHasTakenAreTold) {
  Report r = sample();
  r.flows[0].uet = sample_uet();
  EXPECT_THAT(uet_text(r.flows, {}),
              HasSubstr("1 acknowledged message waits at the target: no receive buffer is posted"));
  r.flows[0].uet->verified = 10;
  EXPECT_THAT(uet_text(r.flows, {}),
              HasSubstr("30 acknowledged messages wait at the target: no receive buffer is posted"));
  r.flows[0].uet->service = "uud";
  EXPECT_THAT(uet_text(r.flows, {}), Not(HasSubstr("acknowledged"))) << "datagrams may be lost";
}

TEST(UetText, FailuresAreNamed) {
  Report r = sample();
  r.flows[0].uet = sample_uet();
  r.flows[0].uet->completion_errors = 3;
  r.flows[0].uet->status = "retry_exceeded";
  r.flows[0].uet->failed_ns = 900'000;
  EXPECT_THAT(uet_text(r.flows, {}),
              HasSubstr("FAILED: in/h2->h1: retry_exceeded at 900 us; 3 messages completed with an error\n"));
}

}  // namespace
}  // namespace railyard::report
