#include "transports/roce/segmentation.h"

#include <gtest/gtest.h>

#include "transports/roce/retry_timer.h"

namespace railyard::roce {
namespace {

TEST(Segmentation, EachOperationAndPositionHasItsOpcode) {
  using enum SendOpcode;
  for (const SendOpcode operation : {kSend, kSendImm, kSendInv, kWrite, kWriteImm}) {
    const bool sends = operation == kSend || operation == kSendImm || operation == kSendInv;
    for (const Position position : {Position::kFirst, Position::kMiddle, Position::kLast, Position::kOnly}) {
      const OpcodeInfo& info = kOpcodes[request_opcode(operation, position)];
      EXPECT_EQ(info.operation, sends ? Operation::kSend : Operation::kWrite);
      EXPECT_EQ(info.position, position);
      const bool ends = position == Position::kLast || position == Position::kOnly;
      EXPECT_EQ(info.headers.has(Header::kImmDt), ends && (operation == kSendImm || operation == kWriteImm));
      EXPECT_EQ(info.headers.has(Header::kIeth), ends && operation == kSendInv);
    }
  }
  EXPECT_EQ(kOpcodes[request_opcode(kRead, Position::kOnly)].operation, Operation::kReadRequest);
  EXPECT_EQ(kOpcodes[request_opcode(kCompareSwap, Position::kOnly)].operation, Operation::kCompareSwap);
  EXPECT_EQ(kOpcodes[request_opcode(kFetchAdd, Position::kOnly)].operation, Operation::kFetchAdd);
  for (const Position position : {Position::kFirst, Position::kMiddle, Position::kLast, Position::kOnly}) {
    const OpcodeInfo& info = kOpcodes[read_response_opcode(position)];
    EXPECT_EQ(info.operation, Operation::kReadResponse);
    EXPECT_EQ(info.position, position);
  }
}

// roce-and-lossless.md §5.9.
TEST(RetryTimer, LocalAckTimeouts) {
  EXPECT_EQ(local_ack_timeout(0), Duration{});
  EXPECT_EQ(local_ack_timeout(1), Duration{8'192'000});
  EXPECT_EQ(local_ack_timeout(8), Duration{1'048'576'000});
  EXPECT_EQ(local_ack_timeout(14), Duration{67'108'864'000});
  EXPECT_EQ(local_ack_timeout(31), Duration{8'796'093'022'208'000});
}

TEST(RetryTimer, ACountIsSpentAndReloaded) {
  RetryCount count(2, false);
  EXPECT_TRUE(count.spend());
  EXPECT_TRUE(count.spend());
  EXPECT_FALSE(count.spend());
  count.reload();
  EXPECT_TRUE(count.spend());
  RetryCount endless(0, true);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(endless.spend());
}

}  // namespace
}  // namespace railyard::roce
