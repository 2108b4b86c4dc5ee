// UC and UD (roce-and-lossless §5.13, §5.14).
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/transports/roce/pair.h"
#include "transports/roce/wire/deth.h"
#include "transports/roce/wire/grh.h"

namespace railyard::roce {
namespace {

PairConfig uc() {
  PairConfig config{.type = QpType::kUc};
  config.attributes.path_mtu = PathMtu::k256;
  return config;
}

TEST(Uc, SendsAndWritesWithoutAnyAnswer) {
  Pair pair(uc());
  pair.fill(0, 0, 1000);
  pair.receive(1, 7, 5000, 1000);
  pair.post(0, pair.send(0, 1, 0, 600));
  SendWr write = pair.write(0, 2, 0, 8000, 1000);
  pair.post(0, write);
  pair.run();
  EXPECT_EQ(pair.trace(0),
            "SEND First 100, SEND Middle 101, SEND Last 102, WRITE First 103, WRITE Middle 104, WRITE Middle 105, "
            "WRITE Last 106");
  EXPECT_EQ(pair.log().front().packet.bth.opcode, opcode::kUcSendFirst);
  EXPECT_EQ(pair.trace(1), "");
  EXPECT_EQ(pair.count(0, [](const Seen& s) { return s.packet.bth.ack_req; }), 0u);
  EXPECT_TRUE(pair.same(0, 0, 1, 5000, 600));
  EXPECT_TRUE(pair.same(0, 0, 1, 8000, 1000));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
}

TEST(Uc, AMessageThatMissesAPacketIsForgottenAndTheNextOneIsNot) {
  for (std::uint32_t k = 0; k < 3; ++k) {
    Pair pair(uc());
    pair.fill(0, 0, 2000);
    pair.receive(1, 7, 5000, 1000);
    pair.receive(1, 8, 8000, 1000);
    pair.fate = [=](const Seen& s) { return Fate{.lost = s.psn() == 0x100 + k}; };
    pair.post(0, pair.send(0, 1, 0, 600));
    pair.post(0, pair.send(0, 2, 1000, 700));
    pair.run();
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
    const auto received = pair.received(1);
    ASSERT_EQ(received.size(), 1u) << k;
    EXPECT_EQ(received[0].wr_id, 7u) << "the first message gave its receive request back";
    EXPECT_EQ(received[0].octets, 700u);
    EXPECT_TRUE(pair.same(0, 1000, 1, 5000, 700));
    EXPECT_TRUE(pair.books_balance());
  }
}

TEST(Uc, WhatNobodyWaitsForIsDropped) {
  Pair pair(uc());
  pair.post(0, pair.send(0, 1, 0, 600));
  SendWr wrong = pair.write(0, 2, 0, 0, 600);
  wrong.r_key ^= 1;
  pair.post(0, wrong);
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kNoReceive), 1u);
  EXPECT_EQ(pair.counters(1).drops(Drop::kBrokenMessage), 5u);
  EXPECT_EQ(pair.state(1), QpState::kRts);
}

TEST(Uc, NeitherReadsNorAtomicsNorInvalidationAreThere) {
  Pair pair(uc());
  SendWr inv = pair.send(0, 1, 0, 0);
  inv.opcode = SendOpcode::kSendInv;
  for (const SendWr& wr : {pair.read(0, 1, 0, 0, 10), pair.fetch_add(0, 1, 0, 0, 1), inv})
    EXPECT_EQ(pair.engine(0).post_send(pair.now(), pair.end(0).qp, wr).error(), PostError::kNotSupported);
}

TEST(Uc, ASendThatCannotBeDoneStopsTheSendQueueOnly) {
  Pair pair(uc());
  SendWr wrong = pair.send(0, 1, 0, 100);
  wrong.sges = {{0, 100, 0xBAD}};
  pair.receive(0, 9, 0, 100);
  pair.post(0, wrong);
  pair.post(0, pair.send(0, 2, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:LOC_PROT_ERR 2:WR_FLUSH_ERR");
  EXPECT_EQ(pair.state(0), QpState::kSqe);
  EXPECT_EQ(pair.received_text(0), "");
  ASSERT_TRUE(pair.engine(0).modify_qp(pair.now(), pair.end(0).qp, QpState::kRts, {}, {}));
  pair.receive(1, 7, 0, 100);
  pair.post(0, pair.send(0, 3, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "3:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
}

SendWr datagram(Pair& pair, std::size_t offset, std::size_t octets) {
  SendWr wr = pair.send(0, 1, offset, octets);
  wr.ah = pair.end(0).ah;
  wr.remote_qp = pair.end(1).qp;
  wr.remote_q_key = 0x11;
  return wr;
}

TEST(Ud, ADatagramComesBehindItsGrh) {
  for (const bool ipv6 : {false, true}) {
    Pair pair({.type = QpType::kUd, .ipv6 = ipv6});
    pair.fill(0, 0, 1000);
    pair.receive(1, 7, 5000, 1041);
    SendWr wr = datagram(pair, 0, 1000);
    wr.opcode = SendOpcode::kSendImm;
    wr.immediate = 0xDEADBEEF;
    pair.post(0, wr);
    pair.run();
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
    const auto received = pair.received(1);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].octets, 1040u) << "the GRH counts";
    EXPECT_TRUE(received[0].with_grh);
    EXPECT_EQ(received[0].source_qp, pair.end(0).qp);
    EXPECT_EQ(received[0].immediate, 0xDEADBEEFu);
    EXPECT_TRUE(pair.same(0, 0, 1, 5040, 1000));
    const auto grh = read_grh(std::span<const std::byte, kGrhOctets>(pair.memory(1, 5000, kGrhOctets)));
    ASSERT_TRUE(grh);
    EXPECT_EQ(grh->source.octets.back(), 1);
    EXPECT_EQ(grh->destination.octets.back(), 2);
    EXPECT_EQ(grh->source.is_v4(), !ipv6);
    EXPECT_EQ(pair.log()[0].packet.bth.opcode, opcode::kUdSendOnlyImm);
  }
}

TEST(Ud, OneQpTalksToSeveral) {
  Pair pair({.type = QpType::kUd});
  Engine& engine = pair.engine(1);
  const QpNumber other = engine
                             .create_qp({.type = QpType::kUd,
                                         .domain = ProtectionDomain{1},
                                         .send_cq = pair.end(1).send_cq,
                                         .recv_cq = pair.end(1).recv_cq})
                             .value();
  using enum QpAttribute;
  const QpAttributes attributes{.q_key = 0x22};
  ASSERT_TRUE(engine.modify_qp({}, other, QpState::kInit, {kPKeyIndex, kPort, kQKey}, attributes));
  ASSERT_TRUE(engine.modify_qp({}, other, QpState::kRtr, {}, attributes));
  pair.receive(1, 7, 0, 200);
  ASSERT_TRUE(engine.post_recv({}, other, {.wr_id = 8, .sges = {pair.local(1, 1000, 200)}}));
  pair.post(0, datagram(pair, 0, 100));
  SendWr wr = datagram(pair, 0, 100);
  wr.remote_qp = other;
  wr.remote_q_key = 0x22;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS 8:SUCCESS");
}

TEST(Ud, AWrongQKeyIsDroppedAndThePrivilegedOneIsTheSendersOwn) {
  Pair pair({.type = QpType::kUd});
  pair.receive(1, 7, 0, 200);
  SendWr wr = datagram(pair, 0, 10);
  wr.remote_q_key = 0x12;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kQKey), 1u);
  wr.remote_q_key = 0x80000000;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.log()[1].packet.deth.q_key, 0x11u);
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
}

TEST(Ud, WhatDoesNotFitIsDroppedAndTakesNoReceiveRequest) {
  Pair pair({.type = QpType::kUd});
  pair.post(0, datagram(pair, 0, 10));
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kNoReceive), 1u);
  pair.receive(1, 7, 0, 139);
  pair.post(0, datagram(pair, 0, 100));
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kTooLong), 1u);
  pair.post(0, datagram(pair, 0, 99));
  pair.run();
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
  EXPECT_EQ(pair.engine(0).post_send({}, pair.end(0).qp, datagram(pair, 0, 4097)).error(), PostError::kTooLong);
  SendWr nowhere = datagram(pair, 0, 1);
  nowhere.ah = AhId{99};
  EXPECT_EQ(pair.engine(0).post_send({}, pair.end(0).qp, nowhere).error(), PostError::kUnknownAddress);
}

}  // namespace
}  // namespace railyard::roce
