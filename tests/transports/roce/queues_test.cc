// Completion queues and receive queues.
#include <array>
#include <span>

#include <gtest/gtest.h>

#include "transports/roce/completion_queue.h"
#include "transports/roce/receive_queue.h"

namespace railyard::roce {
namespace {

TEST(CompletionQueue, IsFirstInFirstOut) {
  CompletionQueue cq(3);
  std::array<Completion, 2> out{};
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < 10; i += 2) {
    EXPECT_TRUE(cq.push({.wr_id = i}));
    EXPECT_TRUE(cq.push({.wr_id = i + 1}));
    ASSERT_EQ(cq.poll(out), 2u);
    for (const Completion& c : out) EXPECT_EQ(c.wr_id, next++);
  }
  EXPECT_EQ(cq.poll(out), 0u);
}

TEST(CompletionQueue, KeepsWhatIsInItWhenItsSizeChanges) {
  CompletionQueue cq(3);
  std::array<Completion, 4> out{};
  cq.push({}), cq.push({}), cq.poll(std::span(out).first(2));
  for (std::uint64_t i = 1; i <= 3; ++i) cq.push({.wr_id = i});
  EXPECT_FALSE(cq.resize(2));
  ASSERT_TRUE(cq.resize(4));
  EXPECT_TRUE(cq.push({.wr_id = 4}));
  EXPECT_FALSE(cq.push({.wr_id = 5}));
  ASSERT_EQ(cq.poll(out), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(out[i].wr_id, i + 1);
}

TEST(CompletionQueue, ForgetsWhatIsOfAQueuePair) {
  CompletionQueue cq(4);
  std::array<Completion, 4> out{};
  cq.push({}), cq.push({}), cq.poll(std::span(out).first(2));
  for (std::uint32_t i = 0; i < 4; ++i) cq.push({.wr_id = i, .qp = QpNumber{i % 2}});
  EXPECT_EQ(cq.forget(QpNumber{1}), 2u);
  ASSERT_EQ(cq.poll(out), 2u);
  EXPECT_EQ(out[0].wr_id, 0u);
  EXPECT_EQ(out[1].wr_id, 2u);
}

TEST(CompletionQueue, OneThatOverrunsSaysSoOnce) {
  CompletionQueue cq(1);
  EXPECT_TRUE(cq.push({.wr_id = 1}));
  EXPECT_FALSE(cq.take_overrun_event());
  EXPECT_FALSE(cq.push({.wr_id = 2}));
  EXPECT_TRUE(cq.overrun());
  EXPECT_TRUE(cq.take_overrun_event());
  EXPECT_FALSE(cq.take_overrun_event());
}

TEST(CompletionQueue, AnEventComesOnceForEachArming) {
  CompletionQueue cq(8);
  cq.push({});
  EXPECT_FALSE(cq.take_event()) << "not armed";
  cq.arm(Arm::kAny);
  EXPECT_FALSE(cq.take_event()) << "what was there before is none";
  cq.push({});
  cq.push({});
  EXPECT_TRUE(cq.take_event());
  EXPECT_FALSE(cq.take_event());
}

TEST(CompletionQueue, SolicitedOnlyWaitsForThatOrForAnError) {
  CompletionQueue cq(8);
  cq.arm(Arm::kSolicited);
  cq.push({});
  EXPECT_FALSE(cq.take_event());
  cq.push({.solicited = true});
  EXPECT_TRUE(cq.take_event());
  cq.arm(Arm::kSolicited);
  cq.push({.status = WcStatus::kWrFlushErr});
  EXPECT_TRUE(cq.take_event());
  cq.arm(Arm::kAny);
  cq.arm(Arm::kSolicited);
  cq.push({});
  EXPECT_TRUE(cq.take_event()) << "what is armed for any stays so";
}

TEST(ReceiveQueue, HoldsAsManyAsItWasMadeFor) {
  ReceiveQueue queue(2, ProtectionDomain{1});
  EXPECT_TRUE(queue.post({.wr_id = 1}));
  EXPECT_TRUE(queue.post({.wr_id = 2}));
  EXPECT_FALSE(queue.post({.wr_id = 3}));
  EXPECT_EQ(queue.take()->wr_id, 1u);
  EXPECT_EQ(queue.peek()->wr_id, 2u);
  EXPECT_EQ(queue.take()->wr_id, 2u);
  EXPECT_FALSE(queue.take());
  EXPECT_EQ(queue.peek(), nullptr);
}

TEST(ReceiveQueue, SaysOnceThatFewAreLeft) {
  ReceiveQueue queue(8, {});
  for (std::uint64_t i = 0; i < 4; ++i) queue.post({.wr_id = i});
  queue.set_limit(3);
  queue.take();
  EXPECT_FALSE(queue.take_limit_event()) << "three are not fewer than three";
  queue.take();
  EXPECT_TRUE(queue.take_limit_event());
  queue.take();
  EXPECT_FALSE(queue.take_limit_event());
}

}  // namespace
}  // namespace railyard::roce
