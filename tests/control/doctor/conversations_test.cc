// What a capture shows of two hosts that do not understand each other. Frames as decode shows them.
#include "control/doctor/readers/conversations.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/readers/gathered.h"
#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kWriteFirst = 6, kWriteMiddle = 7, kWriteOnly = 10, kAcknowledge = 17;
const std::string kA = "10.0.0.1", kB = "10.0.0.2";

Json packet(const std::string& from, const std::string& to, int opcode, int psn, int payload) {
  Json frame;
  frame["proto"] = "roce";
  frame["ip"] = {{"src", from}, {"dst", to}};
  frame["bth"] = {{"opcode", opcode}, {"dest_qp", 17}, {"psn", psn}};
  frame["payload"] = payload;
  return frame;
}
Json request(int opcode, int psn, int payload) { return packet(kA, kB, opcode, psn, payload); }
Json answer(int psn, const char* nak = nullptr) {
  Json frame = packet(kB, kA, kAcknowledge, psn, 0);
  frame["aeth"] = {{"type", nak == nullptr ? "ack" : "nak"}};
  if (nak != nullptr) frame["aeth"]["nak"] = nak;
  return frame;
}
Json mad(const std::string& from, const std::string& to, const char* message, const char* transaction,
         const char* reason = nullptr) {
  Json frame = packet(from, to, 100, 0, 256);
  frame["mad"] = {{"message", message}, {"transaction_id", transaction}};
  if (reason != nullptr) frame["mad"]["reason_name"] = reason;
  return frame;
}

// "rule at element"
std::vector<std::string> found(const std::vector<Json>& frames) {
  Conversations conversations;
  for (const Json& frame : frames) conversations.see(frame);
  Gathered all;
  all.set_conversations(conversations.json());
  const auto c = all.make_case("capture");
  std::vector<std::string> out;
  for (const auto& [rule, d] : diagnose(*c)) out.push_back(std::string(rule->id) + " at " + d.element);
  return out;
}

TEST(Conversations, AMessageThatIsAnsweredIsHealthy) {
  EXPECT_THAT(found({request(kWriteFirst, 1, 4096), request(kWriteMiddle, 2, 4096), answer(2)}), IsEmpty());
}

TEST(Conversations, OneLossIsNoLargePacketThatNeverArrives) {
  EXPECT_THAT(found({request(kWriteOnly, 1, 64), answer(1), request(kWriteFirst, 2, 4096), request(kWriteFirst, 2, 4096), answer(2)}),
              IsEmpty());
}

TEST(Conversations, LongPacketsVanishWhereShortOnesPass) {
  std::vector<Json> frames{request(kWriteOnly, 1, 64), answer(1)};
  for (int i = 0; i < 4; ++i) {
    frames.push_back(request(kWriteFirst, 2, 4096));
    frames.push_back(request(kWriteMiddle, 3, 4096));
  }
  EXPECT_THAT(found(frames), ElementsAre("large-packets-lost at 10.0.0.1 -> 10.0.0.2"));
}

TEST(Conversations, AHostThatAnswersNothing) {
  EXPECT_THAT(found({request(kWriteOnly, 1, 64), request(kWriteOnly, 1, 64), request(kWriteOnly, 1, 64), request(kWriteOnly, 1, 64)}),
              ElementsAre("no-answer at 10.0.0.2"));
}

TEST(Conversations, PsnsWrap) {
  EXPECT_THAT(found({request(kWriteFirst, 0xFFFFFE, 4096), request(kWriteMiddle, 0xFFFFFF, 4096), request(kWriteMiddle, 0, 4096),
                     request(kWriteMiddle, 1, 4096), answer(1)}),
              IsEmpty());
}

TEST(Conversations, PathMtusThatDiffer) {
  EXPECT_THAT(found({request(kWriteFirst, 1, 4096), answer(1, "invalid request")}),
              ElementsAre("path-mtu-differs at 10.0.0.1 -> 10.0.0.2"));
  // A message in one packet has no such length to be refused for.
  EXPECT_THAT(found({request(kWriteOnly, 1, 64), answer(1, "invalid request")}), IsEmpty());
}

TEST(Conversations, ARequestForAConnectionThatNobodyAnswers) {
  EXPECT_THAT(found({mad(kA, kB, "REQ", "0x1"), mad(kA, kB, "REQ", "0x1"), mad(kA, kB, "REQ", "0x1")}),
              ElementsAre("connect-unanswered at 10.0.0.2"));
  EXPECT_THAT(found({mad(kA, kB, "REQ", "0x1"), mad(kB, kA, "REP", "0x1"), mad(kA, kB, "REQ", "0x2")}), IsEmpty());
}

TEST(Conversations, ARefusalSaysWhy) {
  EXPECT_THAT(found({mad(kA, kB, "REQ", "0x1"), mad(kB, kA, "REJ", "0x1", "stale connection")}),
              ElementsAre("connect-refused at 10.0.0.2"));
}

TEST(Conversations, FramesOfRoceV1) {
  Json frame;
  frame["proto"] = "eth";
  frame["eth"] = {{"src", "02:00:00:00:00:01"}, {"dst", "02:00:00:00:00:02"}, {"type", 0x8915}};
  EXPECT_THAT(found({frame}), ElementsAre("roce-v1 at 02:00:00:00:00:01"));
}

}  // namespace
}  // namespace railyard::doctor
