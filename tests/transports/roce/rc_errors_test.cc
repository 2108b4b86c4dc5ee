// NAKs, what they say of a request, and what becomes of both QPs (roce-and-lossless §5.8, §5.11).
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

PairConfig plain() { return rc_config(PathMtu::k256, 4); }

std::size_t naks(const Pair& pair, NakCode code) {
  return pair.count(1, [&](const Seen& s) { return s.is_nak(code); });
}
// Both QPs are in error, the requester's completion says why, the NAK was sent once, and end 1's memory is as before.
void expect_refused(Pair& pair, NakCode code, const std::string& sent, AsyncEventType event) {
  EXPECT_EQ(naks(pair, code), 1u);
  EXPECT_EQ(pair.sent_text(0), sent);
  EXPECT_EQ(pair.state(0), QpState::kErr);
  EXPECT_EQ(pair.state(1), QpState::kErr);
  const auto events = pair.engine(1).take_events();
  EXPECT_NE(std::ranges::find(events, AsyncEvent{event, pair.end(1).qp.value}), events.end());
  EXPECT_TRUE(std::ranges::all_of(pair.memory(1, 0, Pair::kMemory), [](std::byte b) { return b == std::byte{}; }));
  EXPECT_TRUE(pair.books_balance());
}

TEST(RcErrors, AWriteToAWrongPlaceChangesNothing) {
  for (int which = 0; which < 5; ++which) {
    Pair pair(plain());
    pair.fill(0, 0, 1000);
    SendWr wr = pair.write(0, 1, 0, 0, 1000);
    if (which == 0) wr.r_key ^= 1;
    if (which == 1) wr.r_key = 0;
    if (which == 2) wr.remote_address = Pair::address(1) - 1;
    if (which == 3) wr.remote_address = Pair::address(1) + Pair::kMemory - 999;  // its last octet is outside
    if (which == 4) wr.remote_address = ~std::uint64_t{0} - 10;
    pair.post(0, wr);
    pair.post(0, pair.write(0, 2, 0, 0, 10));
    pair.run();
    expect_refused(pair, NakCode::kRemoteAccessError, "1:REM_ACCESS_ERR 2:WR_FLUSH_ERR",
                   AsyncEventType::kQpAccessError);
  }
}

TEST(RcErrors, AReadOrAtomicOfAWrongPlaceIsRefused) {
  {
    Pair pair(plain());
    SendWr wr = pair.read(0, 1, 0, 0, 1000);
    wr.remote_address += Pair::kMemory - 500;
    pair.post(0, wr);
    pair.run();
    expect_refused(pair, NakCode::kRemoteAccessError, "1:REM_ACCESS_ERR", AsyncEventType::kQpAccessError);
  }
  {
    Pair pair(plain());
    SendWr wr = pair.fetch_add(0, 1, 0, 64, 1);
    wr.r_key += 256;
    pair.post(0, wr);
    pair.run();
    expect_refused(pair, NakCode::kRemoteAccessError, "1:REM_ACCESS_ERR", AsyncEventType::kQpAccessError);
  }
}

TEST(RcErrors, AnAtomicThatIsNotAlignedIsInvalid) {
  Pair pair(plain());
  pair.post(0, pair.fetch_add(0, 1, 0, 4, 1));
  pair.run();
  expect_refused(pair, NakCode::kInvalidRequest, "1:REM_INV_REQ_ERR", AsyncEventType::kQpRequestError);
}

TEST(RcErrors, WhatTheQpDoesNotPermitIsInvalid) {
  for (int which = 0; which < 3; ++which) {
    Pair pair(plain());
    ASSERT_TRUE(pair.engine(1).modify_qp(pair.now(), pair.end(1).qp, QpState::kRts, {QpAttribute::kAccessFlags}, {}));
    pair.post(0, which == 0   ? pair.write(0, 1, 0, 0, 10)
                 : which == 1 ? pair.read(0, 1, 0, 0, 10)
                              : pair.fetch_add(0, 1, 0, 64, 1));
    pair.run();
    expect_refused(pair, NakCode::kInvalidRequest, "1:REM_INV_REQ_ERR", AsyncEventType::kQpRequestError);
  }
}

TEST(RcErrors, WithoutOctetsNoKeyIsLookedAt) {
  Pair pair(plain());
  SendWr wr = pair.write(0, 1, 0, 0, 0);
  wr.r_key = 0xBAD;
  wr.remote_address = 1;
  pair.post(0, wr);
  wr = pair.read(0, 2, 0, 0, 0);
  wr.r_key = 0xBAD;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
}

TEST(RcErrors, ASendLongerThanItsReceiveRequestIsInvalid) {
  for (const std::size_t room : {99u, 256u, 700u}) {
    Pair pair(plain());
    pair.receive(1, 7, 0, room);
    pair.receive(1, 8, 0, 2000);
    pair.post(0, pair.send(0, 1, 0, room + 1));
    pair.run();
    EXPECT_EQ(naks(pair, NakCode::kInvalidRequest), 1u);
    EXPECT_EQ(pair.sent_text(0), "1:REM_INV_REQ_ERR");
    EXPECT_EQ(pair.received_text(1), "7:LOC_LEN_ERR 8:WR_FLUSH_ERR");
    EXPECT_EQ(pair.state(1), QpState::kErr);
  }
}

TEST(RcErrors, AReceiveRequestForMemoryThatIsNotThereIsTheRespondersFault) {
  Pair pair(plain());
  const RecvWr wrong{.wr_id = 7, .sges = {{Pair::address(1), 100, 0xBAD}}};
  ASSERT_TRUE(pair.engine(1).post_recv(pair.now(), pair.end(1).qp, wrong));
  pair.post(0, pair.send(0, 1, 0, 10));
  pair.run();
  EXPECT_EQ(pair.received_text(1), "7:LOC_PROT_ERR");
  expect_refused(pair, NakCode::kRemoteOperationalError, "1:REM_OP_ERR", AsyncEventType::kQpFatal);
}

TEST(RcErrors, LocalMemoryThatIsNotThereFailsTheRequestAfterThoseBeforeIt) {
  Pair pair(plain());
  pair.post(0, pair.write(0, 1, 0, 0, 1000));
  SendWr wrong = pair.write(0, 2, 0, 0, 100);
  wrong.sges = {{Pair::address(0) + Pair::kMemory, 100, pair.end(0).key}};
  pair.post(0, wrong);
  pair.post(0, pair.write(0, 3, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:LOC_PROT_ERR 3:WR_FLUSH_ERR");
  EXPECT_EQ(pair.state(0), QpState::kErr);
  EXPECT_EQ(pair.state(1), QpState::kRts) << "the peer knows nothing of it";
}

TEST(RcErrors, MoreReadsThanTheResponderHasPlaceForAreInvalid) {
  Pair pair(plain());
  // Nothing leaves end 1 for long enough that four wait; the fifth is one too many.
  Packet request;
  request.bth = {.opcode = opcode::kRcReadRequest, .dest_qp = pair.end(1).qp.value, .ack_req = true};
  for (std::uint32_t i = 0; i < 5; ++i) {
    request.bth.psn = 0x100 + i * 40;
    request.reth = {Pair::address(1), pair.end(1).key, 40 * 256};
    pair.inject(1, request);
  }
  pair.run();
  EXPECT_EQ(naks(pair, NakCode::kInvalidRequest), 1u);
  EXPECT_EQ(pair.state(1), QpState::kErr);
  EXPECT_EQ(pair.count(1, "READ Response Last"), 4u) << "what was asked for before is answered first";
}

// What no requester of ours sends.
struct Injected {
  std::uint8_t opcode;
  std::size_t octets;
  std::uint32_t dma_length = 0;
};
void expect_invalid(const std::vector<Injected>& packets, const char* why) {
  Pair pair(plain());
  pair.receive(1, 7, 0, 4096);
  std::vector<std::byte> payload(4096, std::byte{1});
  std::uint32_t psn = 0x100;
  for (const Injected& i : packets) {
    Packet packet;
    packet.bth = {.opcode = i.opcode, .dest_qp = pair.end(1).qp.value, .psn = psn++};
    packet.reth = {Pair::address(1), pair.end(1).key, i.dma_length};
    pair.inject(1, packet, std::span(payload).first(i.octets));
  }
  pair.run();
  EXPECT_EQ(pair.count(1, [&](const Seen& s) { return s.is_nak(NakCode::kInvalidRequest) && s.psn() == psn - 1; }), 1u)
      << why;
  EXPECT_EQ(pair.state(1), QpState::kErr) << why;
}

TEST(RcErrors, PacketsOutOfTheirOrderAreInvalid) {
  using namespace opcode;
  expect_invalid({{kRcSendMiddle, 256}}, "no First");
  expect_invalid({{kRcSendLast, 10}}, "no First");
  expect_invalid({{kRcWriteLast, 10}}, "no First");
  expect_invalid({{kRcSendFirst, 256}, {kRcSendFirst, 256}}, "no Last");
  expect_invalid({{kRcSendFirst, 256}, {kRcSendOnly, 1}}, "no Last");
  expect_invalid({{kRcSendFirst, 256}, {kRcWriteLast, 1}}, "of another message");
  expect_invalid({{kRcWriteFirst, 256, 512}, {kRcReadRequest, 0, 10}}, "no Last");
  expect_invalid({{kRcWriteFirst, 256, 512}, {kRcFetchAdd, 0}}, "no Last");
}

TEST(RcErrors, WrongLengthsAreInvalid) {
  using namespace opcode;
  expect_invalid({{kRcSendFirst, 252}}, "First is not full");
  expect_invalid({{kRcSendFirst, 512}}, "another path MTU");
  expect_invalid({{kRcSendOnly, 257}}, "over the path MTU");
  expect_invalid({{kRcSendFirst, 256}, {kRcSendLast, 0}}, "Last is empty");
  expect_invalid({{kRcWriteOnly, 100, 101}}, "less than the RETH says");
  expect_invalid({{kRcWriteOnly, 100, 99}}, "more than the RETH says");
  expect_invalid({{kRcWriteFirst, 256, 256}}, "a First that is all");
  expect_invalid({{kRcWriteFirst, 256, 300}, {kRcWriteMiddle, 256}}, "more than the RETH says");
  expect_invalid({{kRcWriteFirst, 256, 600}, {kRcWriteLast, 256}}, "less than the RETH says");
  expect_invalid({{kRcReadRequest, 0, 0x80000001}}, "over 2^31");
  expect_invalid({{kRcFlush, 0}}, "not done here");
}

TEST(RcErrors, AKeyThatMayNotBeInvalidatedStays) {
  Pair pair(plain());
  pair.receive(1, 7, 0, 100);
  SendWr wr = pair.send(0, 1, 0, 0);
  wr.opcode = SendOpcode::kSendInv;
  wr.immediate = 0xBAD;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(naks(pair, NakCode::kRemoteAccessError), 1u);
  EXPECT_EQ(pair.received_text(1), "7:REM_ACCESS_ERR");
}

TEST(RcErrors, ARegionThatGoesWhileItIsReadEndsTheRead) {
  Pair pair(plain());
  pair.post(0, pair.read(0, 1, 0, 0, 256 * 1000));
  pair.run_until(Instant{3'000'000});
  EXPECT_TRUE(pair.engine(1).memory().remove(pair.end(1).key));
  pair.run();
  EXPECT_EQ(naks(pair, NakCode::kRemoteAccessError), 1u);
  EXPECT_EQ(pair.sent_text(0), "1:REM_ACCESS_ERR");
  EXPECT_EQ(pair.state(1), QpState::kErr);
}

TEST(RcErrors, AnAnswerOfTheWrongLengthEndsTheQp) {
  Pair pair(plain());
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1}; };
  pair.post(0, pair.read(0, 1, 0, 0, 100));
  Packet response;
  response.bth = {.opcode = opcode::kRcReadResponseOnly, .dest_qp = pair.end(0).qp.value, .psn = 0x100};
  response.aeth.syndrome = to_octet(Syndrome::ack(kNoCreditLimit));
  std::vector<std::byte> payload(96);
  pair.inject(0, response, payload);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:BAD_RESP_ERR");
  EXPECT_EQ(pair.state(0), QpState::kErr);
}

// ---- Receiver not ready --------------------------------------------------------------------------------------------

TEST(RcRnr, EachDelayCodeIsWaitedFor) {
  for (std::uint8_t code = 0; code < 32; ++code) {
    PairConfig config = plain();
    config.attributes.min_rnr_timer = code;
    Pair pair(config);
    pair.fill(0, 0, 600);
    pair.post(0, pair.send(0, 1, 0, 600));
    pair.run_until(Instant{5'000'000});
    pair.receive(1, 7, 0, 600);
    pair.run();
    ASSERT_EQ(pair.count(1, [](const Seen& s) { return s.is_rnr(); }), 1u) << "none for those behind it";
    Instant refused{}, again{};
    for (const Seen& s : pair.log()) {
      if (s.is_rnr()) refused = s.at;
      if (s.from == 0 && s.psn() == 0x100) again = s.at;
    }
    EXPECT_EQ(again - (refused + Pair::kDelay), rnr_delay(code)) << int{code};
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
    EXPECT_TRUE(pair.same(0, 0, 1, 0, 600));
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u) << "no timer runs meanwhile";
    EXPECT_EQ(pair.counters(1).out_of_sequence.read(), 0u);
  }
}

TEST(RcRnr, RetriesEndUnlessTheyAreSeven) {
  for (const std::uint8_t retries : {std::uint8_t{0}, std::uint8_t{3}, std::uint8_t{7}}) {
    PairConfig config = plain();
    config.attributes.rnr_retry = retries;
    config.attributes.min_rnr_timer = 1;
    Pair pair(config);
    pair.post(0, pair.send(0, 1, 0, 10));
    pair.run(Duration{1'000'000'000});
    if (retries == 7) {
      EXPECT_GT(pair.count(0, "SEND Only"), 50u);
      EXPECT_EQ(pair.state(0), QpState::kRts);
    } else {
      EXPECT_EQ(pair.count(0, "SEND Only"), retries + 1u);
      EXPECT_EQ(pair.sent_text(0), "1:RNR_RETRY_EXC_ERR");
      EXPECT_EQ(pair.state(1), QpState::kRts) << "it has done nothing wrong";
    }
  }
}

TEST(RcRnr, AWriteWithImmediateWaitsForAReceiveRequestAtItsEnd) {
  PairConfig config = plain();
  config.attributes.min_rnr_timer = 1;
  Pair pair(config);
  pair.fill(0, 0, 600);
  SendWr wr = pair.write(0, 1, 0, 0, 600);
  wr.opcode = SendOpcode::kWriteImm;
  pair.post(0, wr);
  pair.run_until(Instant{5'000'000});
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.is_rnr() && s.psn() == 0x102; }), 1u);
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 512)) << "what came before it is there";
  pair.receive(1, 7, 0, 0);
  pair.run();
  EXPECT_EQ(pair.count(0, "WRITE First"), 1u) << "and does not go again";
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
}

TEST(RcRnr, ASequenceNakBehindAnRnrNakChangesNothing) {
  PairConfig config = plain();
  config.attributes.min_rnr_timer = 12;
  Pair pair(config);
  pair.post(0, pair.send(0, 1, 0, 600));
  Packet nak;
  nak.bth = {.opcode = opcode::kRcAcknowledge, .dest_qp = pair.end(0).qp.value, .psn = 0x100};
  nak.aeth.syndrome = to_octet(Syndrome::nak(NakCode::kPsnSequenceError));
  pair.run_until(Instant{4'000'000});
  pair.inject(0, nak);
  pair.run_until(Instant{100'000'000});
  EXPECT_EQ(pair.count(0, "SEND First"), 1u) << "still waits";
  pair.receive(1, 7, 0, 600);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

}  // namespace
}  // namespace railyard::roce
