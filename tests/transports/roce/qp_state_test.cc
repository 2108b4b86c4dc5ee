#include "transports/roce/qp_state.h"

#include <string>

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

using enum QpState;
using enum QpAttribute;

constexpr QpAttributeSet kRcInit{kAccessFlags, kPKeyIndex, kPort};
constexpr QpAttributeSet kRcRtr{kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer};
constexpr QpAttributeSet kRcRts{kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic};

std::string error(QpType type, QpState from, QpState to, QpAttributeSet given, const QpAttributes& values = {}) {
  const auto result = check_transition(type, from, to, given, values);
  return result ? "" : to_string(result.error());
}

TEST(QpState, ARoadToRtsOfEachType) {
  EXPECT_EQ(error(QpType::kRc, kReset, kInit, kRcInit), "");
  EXPECT_EQ(error(QpType::kRc, kInit, kRtr, kRcRtr), "");
  EXPECT_EQ(error(QpType::kRc, kRtr, kRts, kRcRts), "");
  EXPECT_EQ(error(QpType::kUc, kReset, kInit, kRcInit), "");
  EXPECT_EQ(error(QpType::kUc, kInit, kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn}), "");
  EXPECT_EQ(error(QpType::kUc, kRtr, kRts, {kSqPsn}), "");
  EXPECT_EQ(error(QpType::kUd, kReset, kInit, {kPKeyIndex, kPort, kQKey}), "");
  EXPECT_EQ(error(QpType::kUd, kInit, kRtr, {}), "");
  EXPECT_EQ(error(QpType::kUd, kRtr, kRts, {kSqPsn}), "");
}

// roce-and-lossless.md §5.15: without any one of them there is no way, and the error names it.
TEST(QpState, EveryRequiredAttributeIsRequired) {
  struct Step {
    QpType type;
    QpState from, to;
    QpAttributeSet required;
  };
  const Step steps[] = {{QpType::kRc, kReset, kInit, kRcInit},
                        {QpType::kRc, kInit, kRtr, kRcRtr},
                        {QpType::kRc, kRtr, kRts, kRcRts},
                        {QpType::kUc, kReset, kInit, kRcInit},
                        {QpType::kUc, kInit, kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn}},
                        {QpType::kUc, kRtr, kRts, {kSqPsn}},
                        {QpType::kUd, kReset, kInit, {kPKeyIndex, kPort, kQKey}},
                        {QpType::kUd, kRtr, kRts, {kSqPsn}}};
  for (const Step& step : steps)
    for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i) {
      const auto attribute = static_cast<QpAttribute>(i);
      if (!step.required.has(attribute)) continue;
      const auto result = check_transition(step.type, step.from, step.to, step.required.without(attribute), {});
      ASSERT_FALSE(result) << name(attribute);
      EXPECT_EQ(result.error().kind, ModifyError::Kind::kMissing);
      EXPECT_EQ(result.error().attribute, attribute);
    }
}

TEST(QpState, ErrorsAreNamed) {
  EXPECT_EQ(error(QpType::kRc, kReset, kRts, {}), "RC RESET -> RTS: there is no such transition");
  EXPECT_EQ(error(QpType::kRc, kInit, kRtr, kRcRtr.without(kPathMtu)), "RC INIT -> RTR: path_mtu is required");
  EXPECT_EQ(error(QpType::kUd, kRtr, kRts, {kSqPsn, kTimeout}), "UD RTR -> RTS: timeout cannot be set");
  EXPECT_EQ(error(QpType::kRc, kRtr, kRts, kRcRts, {.timeout = 32}), "RC RTR -> RTS: timeout is out of range");
  EXPECT_EQ(error(QpType::kUc, kSqe, kSqd, {}), "UC SQE -> SQD: there is no such transition");
}

TEST(QpState, ValuesBeyondTheirRangeAreRefused) {
  const auto of = [](QpAttribute attribute, const QpAttributes& values) {
    for (const auto& [from, to, set] :
         {std::tuple{kReset, kInit, kRcInit}, std::tuple{kInit, kRtr, kRcRtr}, std::tuple{kRtr, kRts, kRcRts}})
      if (set.has(attribute)) {
        const auto result = check_transition(QpType::kRc, from, to, set, values);
        return !result && result.error().kind == ModifyError::Kind::kOutOfRange &&
               result.error().attribute == attribute;
      }
    return false;
  };
  EXPECT_TRUE(of(kPort, {.port = 11}));
  EXPECT_TRUE(of(kPathMtu, {.path_mtu = static_cast<PathMtu>(6)}));
  EXPECT_TRUE(of(kTimeout, {.timeout = 32}));
  EXPECT_TRUE(of(kRetryCnt, {.retry_cnt = 8}));
  EXPECT_TRUE(of(kRnrRetry, {.rnr_retry = 8}));
  EXPECT_TRUE(of(kRqPsn, {.rq_psn = 0x1000000}));
  EXPECT_TRUE(of(kSqPsn, {.sq_psn = 0x1000000}));
  EXPECT_TRUE(of(kDestQpn, {.dest_qpn = 0x1000000}));
  EXPECT_TRUE(of(kMinRnrTimer, {.min_rnr_timer = 32}));
  EXPECT_TRUE(of(kMaxRdAtomic, {.max_rd_atomic = 129}));
  EXPECT_TRUE(of(kMaxDestRdAtomic, {.max_dest_rd_atomic = 129}));
}

// Every pair of states: those of verbs and no other.
TEST(QpState, TheMapOfTransitions) {
  const auto map = [](QpType type) {
    std::string text;
    for (std::size_t from = 0; from < kQpStates; ++from) {
      for (std::size_t to = 0; to < kQpStates; ++to) {
        const auto result = check_transition(type, static_cast<QpState>(from), static_cast<QpState>(to), {}, {});
        text += result || result.error().kind != ModifyError::Kind::kTransition ? 'x' : '.';
      }
      text += '\n';
    }
    return text;
  };
  // To:          RESET INIT RTR RTS SQD SQE ERR
  EXPECT_EQ(map(QpType::kRc),
            "xx....x\n"    // RESET
            "xxx...x\n"    // INIT
            "x..x..x\n"    // RTR
            "x..xx.x\n"    // RTS
            "x..xx.x\n"    // SQD
            "x.....x\n"    // SQE
            "x.....x\n");  // ERR
  EXPECT_EQ(map(QpType::kUd),
            "xx....x\n"
            "xxx...x\n"
            "x..x..x\n"
            "x..xx.x\n"
            "x..xx.x\n"
            "x..x..x\n"
            "x.....x\n");
}

TEST(QpState, WhatASendingQpStillTakes) {
  EXPECT_EQ(error(QpType::kRc, kRts, kRts, {kAccessFlags, kMinRnrTimer}), "");
  EXPECT_EQ(error(QpType::kRc, kRts, kRts, {kSqPsn}), "RC RTS -> RTS: sq_psn cannot be set");
  EXPECT_EQ(error(QpType::kRc, kSqd, kSqd, {kAv, kTimeout, kMaxRdAtomic}), "");
  EXPECT_EQ(error(QpType::kUd, kRts, kRts, {kQKey}), "");
}

}  // namespace
}  // namespace railyard::roce
