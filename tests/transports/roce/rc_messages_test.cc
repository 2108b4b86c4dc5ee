// RC on a wire that loses nothing: every operation, and what of it is on the wire.
#include <cstring>

#include <gtest/gtest.h>

#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

TEST(RcMessages, ASendGoesToTheOldestReceiveRequest) {
  Pair pair(rc_config(PathMtu::k1024));
  pair.fill(0, 0, 2500);
  pair.receive(1, 7, 5000, 4000);
  SendWr wr = pair.send(0, 1, 0, 2500);
  wr.solicited = true;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.trace(0), "SEND First 100, SEND Middle 101, SEND Last 102");
  EXPECT_EQ(pair.trace(1), "Acknowledge 102");
  EXPECT_TRUE(pair.same(0, 0, 1, 5000, 2500));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  const auto received = pair.received(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].wr_id, 7u);
  EXPECT_EQ(received[0].octets, 2500u);
  EXPECT_EQ(received[0].opcode, WcOpcode::kRecv);
  EXPECT_TRUE(received[0].solicited);
  EXPECT_FALSE(received[0].with_immediate);
}

TEST(RcMessages, ImmediateDataComesWithTheCompletion) {
  Pair pair(rc_config(PathMtu::k256));
  pair.receive(1, 1, 0, 1000);
  pair.receive(1, 2, 0, 0);
  SendWr send = pair.send(0, 1, 0, 300);
  send.opcode = SendOpcode::kSendImm;
  send.immediate = 0xDEADBEEF;
  pair.post(0, send);
  pair.fill(0, 0, 600);
  SendWr write = pair.write(0, 2, 0, 4096, 600);
  write.opcode = SendOpcode::kWriteImm;
  write.immediate = 0xCAFEF00D;
  pair.post(0, write);
  pair.run();
  EXPECT_EQ(pair.trace(0), "SEND First 100, SEND Last+Imm 101, WRITE First 102, WRITE Middle 103, WRITE Last+Imm 104");
  const auto received = pair.received(1);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].immediate, 0xDEADBEEFu);
  EXPECT_EQ(received[1].immediate, 0xCAFEF00Du);
  EXPECT_EQ(received[1].opcode, WcOpcode::kRecvWriteImm);
  EXPECT_EQ(received[1].octets, 600u);
  EXPECT_TRUE(pair.same(0, 0, 1, 4096, 600));
}

TEST(RcMessages, ASendMayInvalidateAKeyOfThePeer) {
  Pair pair(rc_config(PathMtu::k1024));
  MemoryRegions& regions = pair.engine(1).memory();
  std::byte other[64];
  const auto key = regions
                       .add({.address = 0x5000,
                             .octets = 64,
                             .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite,
                             .domain = ProtectionDomain{1},
                             .memory = other})
                       .value();
  pair.receive(1, 1, 0, 100);
  SendWr wr = pair.send(0, 1, 0, 10);
  wr.opcode = SendOpcode::kSendInv;
  wr.immediate = key;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.trace(0), "SEND Only+Inv 100");
  EXPECT_EQ(regions.region(key), nullptr);
  const auto received = pair.received(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_TRUE(received[0].with_invalidate);
  EXPECT_EQ(received[0].immediate, key);
}

// Every path MTU, and lengths around its multiples: each pad value, tails of one octet, nothing at all.
TEST(RcMessages, EveryLengthArrivesAtEveryPathMtu) {
  for (const PathMtu mtu : {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048, PathMtu::k4096}) {
    Pair pair(rc_config(mtu));
    const std::size_t m = octets(mtu);
    std::uint64_t id = 0;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, m - 1,
                                m, m + 1, 2 * m - 3, 2 * m, 2 * m + 1, 5 * m + 2}) {
      pair.fill(0, 0, n, ++id);
      pair.receive(1, id, 100'000, n);
      pair.post(0, pair.send(0, id, 0, n));
      pair.post(0, pair.write(0, id, 0, 200'000, n));
      pair.run();
      pair.post(0, pair.read(0, id, 300'000, 200'000, n));
      pair.run();
      ASSERT_TRUE(pair.same(0, 0, 1, 100'000, n)) << m << " " << n;
      ASSERT_TRUE(pair.same(0, 0, 1, 200'000, n)) << m << " " << n;
      ASSERT_TRUE(pair.same(0, 0, 0, 300'000, n)) << m << " " << n;
    }
    for (const Completion& c : pair.sent(0)) ASSERT_TRUE(c.ok());
    EXPECT_EQ(pair.received(1).size(), id);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
    EXPECT_EQ(pair.counters(1).all_drops(), 0u);
    EXPECT_TRUE(pair.books_balance());
  }
}

TEST(RcMessages, AReadReservesThePsnsOfItsResponses) {
  Pair pair(rc_config(PathMtu::k1024));
  pair.fill(1, 0, 2100);
  pair.post(0, pair.read(0, 1, 5000, 0, 2100));
  pair.post(0, pair.write(0, 2, 0, 8000, 8));
  pair.post(0, pair.read(0, 3, 9000, 0, 1));
  pair.run();
  EXPECT_EQ(pair.trace(0), "READ Request 100, WRITE Only 103, READ Request 104");
  EXPECT_EQ(pair.trace(1),
            "READ Response First 100, READ Response Middle 101, READ Response Last 102, Acknowledge 103, "
            "READ Response Only 104");
  EXPECT_TRUE(pair.same(1, 0, 0, 5000, 2100));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS");
}

TEST(RcMessages, AtomicsReturnWhatWasThere) {
  Pair pair(rc_config(PathMtu::k1024));
  std::uint64_t value = 40;
  std::memcpy(pair.memory(1, 64, 8).data(), &value, 8);
  pair.post(0, pair.fetch_add(0, 1, 0, 64, 2));
  pair.post(0, pair.compare_swap(0, 2, 8, 64, 42, 0x0123456789ABCDEF));
  pair.post(0, pair.compare_swap(0, 3, 16, 64, 42, 7));
  pair.post(0, pair.fetch_add(0, 4, 24, 64, ~std::uint64_t{0}));
  pair.run();
  EXPECT_EQ(pair.trace(0), "FetchAdd 100, CmpSwap 101, CmpSwap 102, FetchAdd 103");
  const auto at = [&](std::size_t end, std::size_t offset) {
    std::uint64_t v = 0;
    std::memcpy(&v, pair.memory(end, offset, 8).data(), 8);
    return v;
  };
  EXPECT_EQ(at(0, 0), 40u);
  EXPECT_EQ(at(0, 8), 42u);
  EXPECT_EQ(at(0, 16), 0x0123456789ABCDEFu) << "not what it was compared with";
  EXPECT_EQ(at(0, 24), 0x0123456789ABCDEFu);
  EXPECT_EQ(at(1, 64), 0x0123456789ABCDEEu) << "the sum wraps";
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
}

TEST(RcMessages, NoMoreReadsAreOutstandingThanThePeerTakes) {
  PairConfig config = rc_config(PathMtu::k1024);
  config.attributes.max_rd_atomic = config.attributes.max_dest_rd_atomic = 2;
  Pair pair(config);
  for (std::uint64_t i = 0; i < 6; ++i) pair.post(0, pair.read(0, i, i * 1000, 0, 1000));
  pair.run(Duration{1'500'000});
  EXPECT_EQ(pair.count(0, "READ Request"), 2u) << "no response is there yet";
  pair.run();
  EXPECT_EQ(pair.count(0, "READ Request"), 6u);
  EXPECT_EQ(pair.sent(0).size(), 6u);
  EXPECT_EQ(pair.counters(1).nak_sent.read(), 0u);
}

TEST(RcMessages, AFenceWaitsForReads) {
  Pair pair(rc_config(PathMtu::k1024));
  pair.fill(1, 0, 100);
  pair.post(0, pair.read(0, 1, 5000, 0, 100));
  SendWr write = pair.write(0, 2, 5000, 6000, 100);  // what was read
  write.fence = true;
  pair.post(0, write);
  pair.run(Duration{1'500'000});
  EXPECT_EQ(pair.trace(0), "READ Request 100");
  pair.run();
  EXPECT_TRUE(pair.same(1, 0, 1, 6000, 100));
}

TEST(RcMessages, OnlySignaledRequestsComplete) {
  Pair pair(rc_config(PathMtu::k1024));
  for (std::uint64_t i = 0; i < 6; ++i) {
    SendWr wr = pair.write(0, i, 0, 0, 100);
    wr.signaled = i % 3 == 2;
    pair.post(0, wr);
  }
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "2:SUCCESS 5:SUCCESS");
}

TEST(RcMessages, BothEndsSendAtOnce) {
  Pair pair(rc_config(PathMtu::k1024));
  pair.fill(0, 0, 20'000);
  pair.fill(1, 0, 20'000);
  pair.post(0, pair.write(0, 1, 0, 100'000, 20'000));
  pair.post(1, pair.write(1, 1, 0, 100'000, 20'000));
  pair.post(0, pair.read(0, 2, 200'000, 0, 20'000));
  pair.post(1, pair.read(1, 2, 200'000, 0, 20'000));
  pair.run();
  EXPECT_TRUE(pair.same(0, 0, 1, 100'000, 20'000));
  EXPECT_TRUE(pair.same(1, 0, 0, 100'000, 20'000));
  EXPECT_TRUE(pair.same(1, 0, 0, 200'000, 20'000));
  EXPECT_TRUE(pair.same(0, 0, 1, 200'000, 20'000));
}

TEST(RcMessages, PiecesAreGatheredAndScattered) {
  Pair pair(rc_config(PathMtu::k256));
  pair.fill(0, 0, 1000);
  const RecvWr receive{.wr_id = 1, .sges = {pair.local(1, 0, 333), pair.local(1, 333, 1), pair.local(1, 334, 700)}};
  ASSERT_TRUE(pair.engine(1).post_recv(pair.now(), pair.end(1).qp, receive));
  SendWr wr = pair.send(0, 1, 0, 0);
  wr.sges = {pair.local(0, 0, 100), pair.local(0, 100, 200), pair.local(0, 300, 700)};
  pair.post(0, wr);
  pair.run();
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 1000));
}

TEST(RcMessages, Ipv6CarriesTheSame) {
  PairConfig config = rc_config(PathMtu::k4096);
  config.ipv6 = true;
  Pair pair(config);
  pair.fill(0, 0, 10'001);
  pair.post(0, pair.write(0, 1, 0, 0, 10'001));
  pair.run();
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 10'001));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

TEST(RcMessages, PsnsWrap) {
  PairConfig config = rc_config(PathMtu::k256);
  config.psn0 = 0xFFFFF0;
  Pair pair(config);
  pair.fill(0, 0, 64 * 256);
  pair.post(0, pair.write(0, 1, 0, 0, 64 * 256));
  pair.run();
  EXPECT_EQ(pair.log().front().psn(), 0xFFFFF0u);
  EXPECT_EQ(pair.count(0, [](const Seen& s) { return s.psn() == 0x2F; }), 1u);
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 64 * 256));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

// ---- Promises: memory without octets -------------------------------------------------------------------------------

TEST(RcMessages, PromisesKeepTheirNames) {
  PairConfig config = rc_config(PathMtu::k256);
  config.elided = true;
  Pair pair(config);
  pair.receive(1, 7, 5000, 1000);
  pair.receive(1, 8, 0, 0);
  pair.post(0, pair.send(0, 1, 300, 999));
  SendWr write = pair.write(0, 2, 4096, 0, 3001);
  write.opcode = SendOpcode::kWriteImm;
  pair.post(0, write);
  pair.post(0, pair.read(0, 3, 0, 0, 777));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS");
  const auto received = pair.received(1);
  ASSERT_EQ(received.size(), 2u);
  for (const Completion& c : received) {
    EXPECT_TRUE(c.intact);
    EXPECT_EQ(c.stream, 100u) << "that of the sender's region";
  }
  EXPECT_EQ(received[0].offset, 300u);
  EXPECT_EQ(received[1].offset, 4096u);
}

TEST(RcMessages, AMessageOfSeveralPromisesIsNotIntact) {
  PairConfig config = rc_config(PathMtu::k256);
  config.elided = true;
  Pair pair(config);
  pair.receive(1, 7, 0, 1000);
  SendWr wr = pair.send(0, 1, 0, 0);
  wr.sges = {pair.local(0, 0, 256), pair.local(0, 512, 256)};
  pair.post(0, wr);
  pair.run();
  const auto received = pair.received(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_FALSE(received[0].intact);
}

TEST(RcMessages, AnAtomicOnAPromiseCannotBeDone) {
  PairConfig config = rc_config(PathMtu::k256);
  config.elided = true;
  Pair pair(config);
  pair.post(0, pair.fetch_add(0, 1, 0, 64, 1));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:REM_OP_ERR");
}

// ---- Acknowledging -------------------------------------------------------------------------------------------------

TEST(RcMessages, AckReqComesAtLeastEveryNPackets) {
  PairConfig config = rc_config(PathMtu::k256);
  config.engine.ack_every = 16;
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, 0, 256 * 100));
  pair.run();
  std::size_t since = 0, most = 0;
  for (const Seen& s : pair.log())
    if (s.from == 0) {
      most = std::max(most, ++since);
      if (s.packet.bth.ack_req) since = 0;
    }
  EXPECT_EQ(most, 16u);
  EXPECT_EQ(pair.count(1, "Acknowledge"), 7u);
}

TEST(RcMessages, AWindowOfOnePacketStillWorks) {
  PairConfig config = rc_config(PathMtu::k256);
  config.engine.window_packets = 1;
  Pair pair(config);
  pair.fill(0, 0, 2560);
  pair.post(0, pair.write(0, 1, 0, 0, 2560));
  pair.post(0, pair.read(0, 2, 100'000, 0, 2560));
  pair.run();
  EXPECT_EQ(pair.count(0, [](const Seen& s) { return s.packet.bth.ack_req; }), 11u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
  EXPECT_TRUE(pair.same(0, 0, 0, 100'000, 2560));
}

TEST(RcMessages, TheWindowIsNeverExceeded) {
  PairConfig config = rc_config(PathMtu::k256);
  config.engine.window_packets = 32;
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, 0, 256 * 500));
  std::int64_t outstanding = 0, most = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from == 0) most = std::max(most, std::int64_t{s.psn()} - (0x100 - 1) - outstanding);
    if (s.from == 1) outstanding = s.psn() - (0x100 - 1);
    return Fate{};
  };
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_LE(most, 32);
}

TEST(RcMessages, TheMsnCountsMessages) {
  Pair pair(rc_config(PathMtu::k256));
  pair.post(0, pair.write(0, 1, 0, 0, 1000));
  pair.run();
  pair.post(0, pair.read(0, 2, 0, 0, 1000));
  pair.run();
  pair.post(0, pair.fetch_add(0, 3, 0, 64, 1));
  pair.run();
  std::vector<std::uint32_t> msns;
  for (const Seen& s : pair.log())
    if (s.from == 1 && s.packet.info().headers.has(Header::kAeth)) msns.push_back(s.packet.aeth.msn);
  EXPECT_EQ(msns, (std::vector<std::uint32_t>{1, 2, 2, 3}));
}

}  // namespace
}  // namespace railyard::roce
