// Messages between two ends over a wire that loses nothing: each operation, each return code (uet §6).
#include <cstring>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

class Messages : public testing::TestWithParam<DeliveryMode> {
 protected:
  SendWr in_mode(SendWr wr) const {
    wr.mode = GetParam();
    return wr;
  }
};
INSTANTIATE_TEST_SUITE_P(All, Messages, testing::Values(DeliveryMode::kRud, DeliveryMode::kRod),
                         [](const auto& p) { return std::string(name(p.param)); });

TEST_P(Messages, ASendArrivesExactWhateverItsLength) {
  for (const std::size_t octets : {0u, 1u, 1023u, 1024u, 1025u, 5000u, 100'000u}) {
    Pair pair;
    pair.fill(0, 0, octets);
    pair.receive(1, 7, kTo, octets);
    pair.post(0, in_mode(pair.send(0, 1, 0, octets)));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success") << octets;
    const auto received = pair.completions(1);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_TRUE(received[0].ok());
    EXPECT_EQ(received[0].wr_id, 7u);
    EXPECT_EQ(received[0].octets, octets);
    EXPECT_EQ(received[0].initiator, 0x10u);
    EXPECT_FALSE(received[0].truncated);
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, octets));
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
    pair.expect_clean();
  }
}

TEST_P(Messages, AWriteNeedsNobodyAtTheTarget) {
  for (const std::size_t octets : {0u, 1u, 1024u, 1025u, 300'000u}) {
    Pair pair;
    pair.fill(0, 0, octets);
    pair.post(0, in_mode(pair.write(0, 1, 0, kTo, octets)));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_EQ(pair.text(1), "");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, octets)) << octets;
    pair.expect_clean();
  }
}

TEST_P(Messages, AWriteWithHeaderDataTellsTheTarget) {
  for (const std::size_t octets : {0u, 16u, 5000u}) {
    Pair pair;
    pair.fill(0, 0, octets);
    SendWr wr = in_mode(pair.write(0, 1, 0, kTo, octets));
    wr.header_data = 0x1122'3344'5566'7788;
    pair.post(0, wr);
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    const auto received = pair.completions(1);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].work, Work::kReceiveWrite);
    EXPECT_EQ(received[0].header_data, 0x1122'3344'5566'7788u);
    EXPECT_EQ(received[0].octets, octets);
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, octets));
    pair.expect_clean();
  }
}

TEST_P(Messages, AReadBringsWhatIsThere) {
  for (const std::size_t octets : {0u, 1u, 16u, 17u, 1024u, 1025u, 5000u, 400'000u}) {
    Pair pair;
    pair.fill(1, 0, octets);
    pair.post(0, in_mode(pair.read(0, 1, kTo, 0, octets)));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success") << octets;
    EXPECT_TRUE(pair.same(0, kTo, 1, 0, octets)) << octets;
    const std::size_t packets = std::max<std::size_t>(1, (octets + 1023) / 1024);
    EXPECT_EQ(pair.count(0, [](const Seen& s) { return s.request() != nullptr; }), packets)
        << "a request for each Payload MTU";
    EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.request() != nullptr; }), octets <= 16 ? 0 : packets)
        << "up to 16 octets come in the ACK";
    pair.expect_clean();
  }
}

TEST_P(Messages, AtomicsReturnWhatWasThereBefore) {
  Pair pair;
  std::uint64_t value = 40;
  std::memcpy(pair.memory(1, 64, 8).data(), &value, 8);
  pair.post(0, in_mode(pair.fetch_add(0, 1, kTo, 64, 2)));
  SendWr swap = in_mode(pair.fetch_add(0, 2, kTo + 8, 64, 7));
  swap.atomic = AtomicOpcode::kCswap;
  swap.compare = 42;
  pair.run();
  pair.post(0, swap);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success");
  std::memcpy(&value, pair.memory(0, kTo, 8).data(), 8);
  EXPECT_EQ(value, 40u);
  std::memcpy(&value, pair.memory(0, kTo + 8, 8).data(), 8);
  EXPECT_EQ(value, 42u);
  std::memcpy(&value, pair.memory(1, 64, 8).data(), 8);
  EXPECT_EQ(value, 7u);
  SendWr add = in_mode(pair.fetch_add(0, 3, 0, 64, 5));
  add.operation = Operation::kAtomic;
  add.local = {};
  pair.post(0, add);
  pair.run();
  EXPECT_EQ(pair.text(0), "3:success");
  std::memcpy(&value, pair.memory(1, 64, 8).data(), 8);
  EXPECT_EQ(value, 12u);
  pair.expect_clean();
}

TEST_P(Messages, BothEndsSendAtOnceOverPdcsOfTheirOwn) {
  Pair pair;
  for (std::size_t e = 0; e < 2; ++e) {
    pair.fill(e, 0, 50'000);
    pair.receive(e, 9, kTo, 50'000);
    pair.post(e, in_mode(pair.send(e, 1, 0, 50'000)));
    pair.post(e, in_mode(pair.read(e, 2, 400'000, 0, 50'000)));
  }
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success 9:success");
  EXPECT_EQ(pair.text(1), "1:success 2:success 9:success");
  for (std::size_t e = 0; e < 2; ++e) {
    EXPECT_TRUE(pair.same(e, 0, 1 - e, kTo, 50'000));
    EXPECT_TRUE(pair.same(e, 0, 1 - e, 400'000, 50'000));
  }
  pair.expect_clean();
}

TEST_P(Messages, TaggedSendsAreMatchedByTagInitiatorAndMask) {
  Pair pair;
  for (std::size_t i = 0; i < 4; ++i) pair.fill(0, i * 1000, 1000, i + 1);
  pair.receive(1, {.wr_id = 11, .local = pair.local(1, 0, 1000), .tagged = true, .match_bits = 5, .initiator = 0x99});
  pair.receive(1,
               {.wr_id = 12, .local = pair.local(1, 1000, 1000), .tagged = true, .match_bits = 5, .initiator = 0x10});
  pair.receive(1,
               {.wr_id = 13, .local = pair.local(1, 2000, 1000), .tagged = true, .match_bits = 0x600, .ignore = 0xFF});
  pair.receive(1, {.wr_id = 14, .local = pair.local(1, 3000, 1000), .tagged = true, .match_bits = 5});
  pair.receive(1, 15, 4000, 1000);
  pair.post(0, in_mode(pair.tagged(0, 1, 0, 1000, 0x6AB)));
  pair.run();
  pair.post(0, in_mode(pair.tagged(0, 2, 1000, 1000, 5)));
  pair.run();
  pair.post(0, in_mode(pair.tagged(0, 3, 2000, 1000, 5)));
  pair.run();
  pair.post(0, in_mode(pair.send(0, 4, 3000, 1000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success 3:success 4:success");
  EXPECT_EQ(pair.text(1), "12:success 13:success 14:success 15:success");
  EXPECT_TRUE(pair.same(0, 0, 1, 2000, 1000)) << "0x6AB but for the last octet";
  EXPECT_TRUE(pair.same(0, 1000, 1, 1000, 1000)) << "of initiator 0x10";
  EXPECT_TRUE(pair.same(0, 2000, 1, 3000, 1000)) << "of anybody";
  EXPECT_TRUE(pair.same(0, 3000, 1, 4000, 1000)) << "without a tag";
}

TEST_P(Messages, AMessageThatNobodyWaitsForIsKept) {
  Pair pair;
  pair.fill(0, 0, 10'000);
  pair.post(0, in_mode(pair.send(0, 1, 0, 5000)));
  pair.post(0, in_mode(pair.tagged(0, 2, 5000, 5000, 77)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success");
  EXPECT_EQ(pair.text(1), "");
  pair.receive(1, {.wr_id = 22, .local = pair.local(1, kTo, 5000), .tagged = true, .match_bits = 77});
  pair.receive(1, 21, kTo + 5000, 5000);
  EXPECT_EQ(pair.text(1), "21:success 22:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo + 5000, 5000));
  EXPECT_TRUE(pair.same(0, 5000, 1, kTo, 5000));
  pair.expect_clean();
}

TEST_P(Messages, DeliveryCompleteWaitsForTheBuffer) {
  Pair pair;
  pair.fill(0, 0, 3000);
  SendWr wr = in_mode(pair.send(0, 1, 0, 3000));
  wr.delivery_complete = true;
  pair.post(0, wr);
  pair.run_for(Duration{2'000'000'000});
  EXPECT_EQ(pair.text(0), "") << "it is there, but nobody has it";
  EXPECT_GT(pair.count(1, [](const Seen& s) { return s.is_nack(NackCode::kRcvdSesProcg); }), 0u);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u) << "asked after, not sent again";
  pair.receive(1, 7, kTo, 3000);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  pair.expect_clean();
}

TEST_P(Messages, ATooLongMessageIsCut) {
  Pair pair;
  pair.fill(0, 0, 5000);
  pair.fill(1, kTo, 5000, 9);
  pair.receive(1, 7, kTo, 3000);
  pair.post(0, in_mode(pair.send(0, 1, 0, 5000)));
  pair.run();
  const auto sent = pair.completions(0);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].ok() && sent[0].truncated);
  const auto received = pair.completions(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_TRUE(received[0].ok() && received[0].truncated);
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  EXPECT_FALSE(pair.same(0, 3000, 1, kTo + 3000, 100)) << "and nothing behind its buffer";
  pair.expect_clean();
}

TEST_P(Messages, OrIsRefused) {
  Pair pair(test_config(), 2, {.truncates = false});
  pair.receive(1, 7, kTo, 3000);
  pair.post(0, in_mode(pair.send(0, 1, 0, 50'000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused TOO_LONG");
  EXPECT_EQ(pair.text(1), "7:refused TOO_LONG");
  pair.expect_clean();
}

TEST_P(Messages, WhatMayNotBeIsRefusedByItsCodeAndTheNextGoesThrough) {
  struct Case {
    std::string_view code;
    std::function<void(SendWr&)> wrong;
  };
  const Case cases[] = {
      {"BAD_MKEY", [](SendWr& wr) { wr.memory_key ^= 0x100; }},
      {"BAD_MKEY", [](SendWr& wr) { wr.memory_key |= std::uint64_t{1} << 40; }},
      {"BAD_ADDR", [](SendWr& wr) { wr.buffer_offset = Pair::kMemory - 10; }},
      {"BAD_ADDR", [](SendWr& wr) { wr.buffer_offset = ~std::uint64_t{0} - 10; }},
      {"BAD_PID", [](SendWr& wr) { wr.pid_on_fep = 3; }},
      {"BAD_INDEX", [](SendWr& wr) { wr.resource_index = 14; }},
  };
  for (const Case& c : cases)
    for (const std::size_t octets : {200u, 40'000u})
      for (const Operation operation : {Operation::kWrite, Operation::kRead}) {
        Pair pair;
        SendWr wr = in_mode(pair.write(0, 1, 0, kTo, octets));
        wr.operation = operation;
        c.wrong(wr);
        pair.post(0, wr);
        pair.fill(0, 0, 2000);
        pair.post(0, in_mode(pair.write(0, 2, 0, kTo, 2000)));
        pair.run();
        EXPECT_EQ(pair.text(0), "1:refused " + std::string(c.code) + " 2:success");
        EXPECT_TRUE(pair.same(0, 0, 1, kTo, 2000));
        EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u) << "CLEAR comes in time";
        pair.expect_clean();
      }
}

TEST_P(Messages, AnotherJobIsRefused) {
  Pair pair;
  const ContextId other = pair.engine(0).create_context({.job_id = 2, .domain = {1}, .cq = pair.end(0).cq});
  ASSERT_TRUE(pair.engine(0).post(pair.now(), other, in_mode(pair.write(0, 1, 0, kTo, 100))));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused BAD_JOB_ID");
  pair.expect_clean();
}

// By PIDonFEP and resource index alone; the JobID still says who asks, and another one is refused (uet §6.1).
TEST_P(Messages, AbsoluteAddressesAreSaidOnTheWireAndRefuseOtherJobs) {
  Pair pair;
  pair.fill(0, 0, 3000);
  pair.receive(1, 7, kTo, 3000);
  SendWr wr = in_mode(pair.send(0, 1, 0, 3000));
  wr.relative = false;
  pair.post(0, wr);
  const ContextId other = pair.engine(0).create_context({.job_id = 2, .domain = {1}, .cq = pair.end(0).cq});
  SendWr refused = in_mode(pair.write(0, 2, 0, kTo, 100));
  refused.relative = false;
  ASSERT_TRUE(pair.engine(0).post(pair.now(), other, refused));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:refused BAD_JOB_ID");
  EXPECT_EQ(pair.text(1), "7:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  for (const Seen& s : pair.log())
    if (const auto* const request = std::get_if<SesRequestValues>(&s.packet.ses)) {
      EXPECT_FALSE(request->rel);
    }
  pair.expect_clean();
}

// A service that jobs know by its PIDonFEP: whichever asks is told apart by its JobID.
TEST_P(Messages, AnAbsoluteAddressIsAServiceOfEveryJob) {
  for (const bool relative : {false, true}) {
    Pair pair;
    pair.fill(0, 0, 3000);
    const ContextId service = pair.engine(1).create_context(
        {.job_id = 9, .pid_on_fep = 5, .resource_index = 3, .any_job = true, .domain = {1}, .cq = pair.end(1).cq});
    ASSERT_TRUE(pair.engine(1).post_receive(pair.now(), service, {.wr_id = 7, .local = pair.local(1, kTo, 3000)}));
    SendWr wr = in_mode(pair.send(0, 1, 0, 3000));
    wr.relative = relative;
    wr.pid_on_fep = 5;
    wr.resource_index = 3;
    pair.post(0, wr);  // of job 1
    pair.run();
    if (relative) {
      EXPECT_EQ(pair.text(0), "1:refused BAD_PID") << "job 1 has no such PIDonFEP there";
      EXPECT_EQ(pair.text(1), "");
    } else {
      EXPECT_EQ(pair.text(0), "1:success");
      const std::vector<Completion> received = pair.completions(1);
      ASSERT_EQ(received.size(), 1u);
      EXPECT_EQ(received[0].context, service);
      EXPECT_EQ(received[0].job_id, 1u) << "who has asked";
      EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
    }
    pair.expect_clean();
  }
}

// Two jobs have a context each under one PIDonFEP and resource index: relative addresses tell them apart, and so does
// an absolute one for a job that has its own; the third job's is nobody's.
TEST_P(Messages, TheJobScopesAPidOfRelativeAddressesOnly) {
  Pair pair;
  const ContextId of_two =
      pair.engine(1).create_context({.job_id = 2, .domain = {1}, .cq = pair.end(1).cq});  // PID 0, RI 15, as job 1's
  std::vector<ContextId> from{pair.end(0).context};
  for (const std::uint32_t job : {2u, 3u})
    from.push_back(pair.engine(0).create_context({.job_id = job, .domain = {1}, .cq = pair.end(0).cq}));
  for (const bool relative : {true, false})
    for (std::uint64_t job = 0; job < 2; ++job) {
      const ContextId at = job == 0 ? pair.end(1).context : of_two;
      ASSERT_TRUE(pair.engine(1).post_receive(pair.now(), at, {.wr_id = 7, .local = pair.local(1, kTo, 100)}));
      SendWr wr = in_mode(pair.send(0, 1, 0, 100));
      wr.relative = relative;
      ASSERT_TRUE(pair.engine(0).post(pair.now(), from[job], wr));
      pair.run();
      EXPECT_EQ(pair.text(0), "1:success");
      const std::vector<Completion> received = pair.completions(1);
      ASSERT_EQ(received.size(), 1u);
      EXPECT_EQ(received[0].context, at) << "job " << job + 1 << (relative ? ", relative" : ", absolute");
    }
  // What is wrong is found in another order.
  const struct {
    std::uint16_t pid, index;
    std::string_view relative, absolute;
  } cases[] = {{0, 15, "BAD_JOB_ID", "BAD_JOB_ID"}, {0, 14, "BAD_JOB_ID", "BAD_INDEX"}, {3, 15, "BAD_JOB_ID", "BAD_PID"}};
  for (const auto& c : cases)
    for (const bool relative : {true, false}) {
      SendWr wr = in_mode(pair.write(0, 1, 0, kTo, 100));
      wr.relative = relative;
      wr.pid_on_fep = c.pid;
      wr.resource_index = c.index;
      ASSERT_TRUE(pair.engine(0).post(pair.now(), from[2], wr));
      pair.run();
      EXPECT_EQ(pair.text(0), "1:refused " + std::string(relative ? c.relative : c.absolute));
    }
  pair.expect_clean();
}

TEST_P(Messages, LocalMemoryThatIsNotThereTouchesNothing) {
  Pair pair;
  pair.fill(1, kTo, 3000, 9);
  SendWr wr = in_mode(pair.write(0, 1, 0, kTo, 3000));
  wr.local.key ^= 0x100;
  pair.post(0, wr);
  pair.post(0, in_mode(pair.write(0, 2, 0, kTo + 10'000, 3000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:local_error 2:success");
  pair.expect_clean();
}

TEST(Matching, WithoutRoomForItAMessageGoesAgainUntilItIsMatched) {
  Pair pair(test_config(), 2, {.most_unexpected = 1});
  for (std::uint64_t i = 0; i < 3; ++i) pair.fill(0, i * 3000, 3000, i + 1);
  for (std::uint64_t i = 0; i < 3; ++i) pair.post(0, pair.tagged(0, i, i * 3000, 3000, i));
  pair.run_for(Duration{50'000'000});
  for (std::uint64_t i = 0; i < 3; ++i)
    pair.receive(1, {.wr_id = 10 + i, .local = pair.local(1, i * 3000, 3000), .tagged = true, .match_bits = i});
  pair.run();
  EXPECT_EQ(pair.text(0), "0:success 1:success 2:success");
  EXPECT_EQ(pair.text(1), "10:success 11:success 12:success");
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 9000));
  pair.expect_clean();
}

TEST(Matching, AndIsRefusedInTheEnd) {
  Pair pair(test_config(), 2, {.most_unexpected = 0});
  pair.post(0, pair.send(0, 1, 0, 3000));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused NO_MATCH");
  pair.expect_clean();
}

TEST(Matching, RodKeepsItsOrderWhenThereIsNoRoom) {
  Pair pair(test_config(), 2, {.most_unexpected = 1});
  constexpr std::uint64_t kMessages = 6;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    pair.fill(0, i * 3000, 3000, i + 1);
    SendWr wr = pair.send(0, i, i * 3000, 3000);
    wr.mode = DeliveryMode::kRod;
    pair.post(0, wr);
  }
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    pair.run_for(Duration{100'000'000});
    pair.receive(1, 10 + i, i * 3000, 3000);
  }
  pair.run();
  EXPECT_EQ(pair.text(1), "10:success 11:success 12:success 13:success 14:success 15:success");
  EXPECT_TRUE(pair.same(0, 0, 1, 0, kMessages * 3000));
  EXPECT_GT(pair.counters(1).sent(NackCode::kNoSesMsgAvail), 0u);
  pair.expect_clean();
}

TEST(Post, RefusesWhatCannotBe) {
  Pair pair;
  SendWr wr = pair.send(0, 1, 0, 100);
  wr.peer = PeerId{99};
  EXPECT_EQ(pair.engine(0).post({}, pair.end(0).context, wr).error(), PostError::kUnknownPeer);
  wr = pair.fetch_add(0, 1, 0, 0, 1);
  wr.local.octets = 4;
  EXPECT_EQ(pair.engine(0).post({}, pair.end(0).context, wr).error(), PostError::kWrongLength);
  wr = pair.send(0, 1, 0, 100);
  wr.local.octets = 0xFFFF'FFFF;
  EXPECT_EQ(pair.engine(0).post({}, pair.end(0).context, wr).error(), PostError::kTooLong);
  EXPECT_EQ(pair.engine(0).post({}, ContextId{5}, pair.send(0, 1, 0, 1)).error(), PostError::kUnknownContext);
}

}  // namespace
}  // namespace railyard::uet
