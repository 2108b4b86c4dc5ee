// What people read of flows over RoCE.
#include "control/report/roce_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RoceText, NothingIsSaidOfGenerators) { EXPECT_EQ(roce_text(sample().flows), ""); }

TEST(RoceText, TellsWhatBecameOfTheMessages) {
  Report r = sample();
  r.flows[0].roce = sample_roce();
  r.flows[0].requester_packets = 1000;
  EXPECT_EQ(roce_text(r.flows), R"(RoCE: 1 flow over RC
  flow       operation  messages retransmits    NAKs    RNRs timeouts    CNPs   message p50 / p99 / max
  in/h2->h1      write        40          12       2       5        7      20   1 us / 3 us / 6 us
  39 messages delivered and verified; 12 of 1,000 packets retransmitted (1.2 %)
  3 gaps answered by a NAK, 6 messages by an RNR NAK; 7 timeouts
  250 packets received with CE; 21 CNPs sent, 20 reduced a QP's rate
  QP IN ERROR: in/h2->h1: RETRY_EXC_ERR at 900 us; 8 work requests completed with an error
)");
  EXPECT_THAT(r.text(), HasSubstr("RoCE: 1 flow over RC"));
}

TEST(RoceText, SaysWhichQpTypesThereAre) {
  Report r = sample();
  r.flows[0].roce = sample_roce();
  r.flows[0].roce->qp_type = "uc";
  EXPECT_THAT(roce_text(r.flows), HasSubstr("RoCE: 1 flow over UC\n"));
  r.flows[1].roce = sample_roce();
  EXPECT_THAT(roce_text(r.flows), HasSubstr("RoCE: 2 flows (1 over RC, 1 over UC)\n"));
}

TEST(RoceText, OneIsOneAndWithoutAMessageThereIsNoTime) {
  Report r = sample();
  r.flows[0].roce = sample_roce();
  r.flows[0].roce->messages = 0;
  r.flows[0].roce->out_of_sequence = r.flows[0].roce->out_of_buffer = r.flows[0].roce->local_ack_timeout_err = 1;
  const std::string text = roce_text(r.flows);
  EXPECT_THAT(text, HasSubstr("      20   -\n"));
  EXPECT_THAT(text, HasSubstr("  1 gap answered by a NAK, 1 message by an RNR NAK; 1 timeout\n"));
}

TEST(RoceText, WrongDataAreNotOverlooked) {
  Report r = sample();
  r.flows[0].roce = sample_roce();
  EXPECT_THAT(roce_text(r.flows), Not(HasSubstr("CORRUPTED")));
  r.flows[0].corrupted = 2;
  EXPECT_THAT(roce_text(r.flows), HasSubstr("39 messages delivered and verified, 2 CORRUPTED;"));
}

TEST(RoceText, ManyFlowsAreSummedUpAndOnlySomeFailuresListed) {
  std::vector<FlowReport> flows(20, sample().flows[0]);
  for (FlowReport& f : flows) f.roce = sample_roce();
  const std::string text = roce_text(flows);
  EXPECT_THAT(text, HasSubstr("RoCE: 20 flows over RC"));
  EXPECT_THAT(text, Not(HasSubstr("message p50")));
  EXPECT_THAT(text, HasSubstr("780 messages delivered"));
  EXPECT_THAT(text, HasSubstr("and 12 more flows with a QP in error"));
}

}  // namespace
}  // namespace railyard::report
