// RUDI and UUD: packets that belong to no PDC (uet §5.12, §5.13).
#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

SendWr rudi(SendWr wr) {
  wr.mode = DeliveryMode::kRudi;
  wr.memory_key |= kIdempotentSafe;
  return wr;
}
SendWr datagram(SendWr wr) {
  wr.mode = DeliveryMode::kUud;
  wr.operation = Operation::kDatagram;
  return wr;
}

TEST(Rudi, WritesAndReadsWithoutAPdc) {
  Pair pair;
  for (const std::size_t octets : {0u, 1u, 1024u, 1025u, 100'000u}) {
    pair.fill(0, 0, octets, octets);
    pair.fill(1, 500'000, octets, octets);
    pair.post(0, rudi(pair.write(0, 1, 0, kTo, octets)));
    pair.post(0, rudi(pair.read(0, 2, 500'000, 500'000, octets)));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success 2:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, octets));
    EXPECT_TRUE(pair.same(0, 500'000, 1, 500'000, octets));
  }
  EXPECT_EQ(pair.counters(0).pdcs_opened.read() + pair.counters(1).pdcs_opened.read(), 0u);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
  pair.expect_clean();
}

TEST(Rudi, EveryFaultAtEveryPacket) {
  const Fate faults[] = {{.lost = true},
                         {.copies = 2},
                         {.copies = 2, .copy_late = Duration{3'000'000'000}},
                         {.late = Duration{5'000'000}},
                         {.trimmed = true},
                         {.corrupted = true},
                         {.marked = true}};
  for (std::size_t at = 0; at < 10; ++at)
    for (const Fate& fault : faults) {
      Pair pair;
      std::size_t n = 0;
      pair.fate = [&](const Seen&) { return n++ == at ? fault : Fate{}; };
      pair.fill(0, 0, 2000);
      pair.fill(1, 500'000, 2000, 2);
      pair.post(0, rudi(pair.write(0, 1, 0, kTo, 2000)));
      pair.post(0, rudi(pair.read(0, 2, 500'000, 500'000, 2000)));
      pair.run();
      EXPECT_EQ(pair.text(0), "1:success 2:success") << at;
      EXPECT_TRUE(pair.same(0, 0, 1, kTo, 2000));
      EXPECT_TRUE(pair.same(0, 500'000, 1, 500'000, 2000));
      pair.expect_clean();
    }
}

TEST(Rudi, OnlyWhatMayHappenTwice) {
  Pair pair;
  SendWr wr = pair.write(0, 1, 0, kTo, 100);
  wr.mode = DeliveryMode::kRudi;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused OP_VIOLATION") << "the key does not allow it";
  wr = rudi(pair.fetch_add(0, 2, 0, 0, 1));
  EXPECT_EQ(pair.engine(0).post(pair.now(), pair.end(0).context, wr).error(), PostError::kNotSupported);
  pair.post(0, rudi(pair.write(0, 3, 0, Pair::kMemory - 50, 100)));
  pair.run();
  EXPECT_EQ(pair.text(0), "3:refused BAD_ADDR");
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.post(0, rudi(pair.write(0, 4, 0, kTo, 3000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "4:retry_exceeded");
  pair.expect_clean();
}

TEST(Rudi, AnswersThatNobodyWaitsForAreDropped) {
  Pair pair;
  Packet p;
  p.pds = PdsRudiValues{.type = PdsType::kRudiResp, .next_hdr = NextHdr::kResponse, .pkt_id = 5};
  p.ses = SesResponseValues{};
  pair.inject(1, 0, p);
  p = {};
  p.pds = PdsNackValues{.nt = true, .code = NackCode::kTrimmed, .nack_psn = 0xFFFF'FFFF};
  pair.inject(1, 0, p);
  pair.run();
  EXPECT_EQ(pair.counters(0).drops(Drop::kUnknownPacketId), 2u);
}

TEST(Uud, ADatagramIsDeliveredOrForgotten) {
  Pair pair;
  pair.fill(0, 0, 3000);
  pair.receive(1, 7, kTo, 1024);
  for (std::uint64_t i = 0; i < 3; ++i) pair.post(0, datagram(pair.send(0, i, i * 1000, i * 500)));
  pair.run();
  EXPECT_EQ(pair.text(0), "0:success 1:success 2:success");
  EXPECT_EQ(pair.text(1), "7:success");
  EXPECT_EQ(pair.counters(1).drops(Drop::kNoMatch), 2u);
  EXPECT_EQ(pair.log().size(), 3u) << "nobody answers";
  SendWr wr = datagram(pair.send(0, 9, 0, 1025));
  EXPECT_EQ(pair.engine(0).post(pair.now(), pair.end(0).context, wr).error(), PostError::kTooLong);
  pair.expect_clean();
}

// Three datagrams of one packet: what comes is exact, and nobody sends anything again. One that the network doubles is
// two, for which there is a buffer.
TEST(Uud, EveryFaultAtEveryPacketCostsItsDatagramAtMost) {
  struct Case {
    Fate fate;
    std::size_t come;  // of the one that it happens to
  };
  const Case cases[] = {{{.lost = true}, 0},
                        {{.copies = 2}, 2},
                        {{.copies = 2, .copy_late = Duration{3'000'000'000}}, 2},
                        {{.late = Duration{5'000'000}}, 1},
                        {{.trimmed = true}, 0},
                        {{.corrupted = true}, 0},
                        {{.marked = true}, 1}};
  for (std::size_t at = 0; at < 3; ++at)
    for (const Case& c : cases) {
      SCOPED_TRACE(at);
      Pair pair;
      pair.fate = [&](const Seen& s) { return s.index == at ? c.fate : Fate{}; };
      for (std::uint64_t i = 0; i < 4; ++i) pair.receive(1, 10 + i, kTo + i * 1024, 1024);
      for (std::uint64_t i = 0; i < 3; ++i) {
        pair.fill(0, i * 1024, 500 + i, i + 1);
        pair.post(0, datagram(pair.send(0, i, i * 1024, 500 + i)));
      }
      pair.run();
      EXPECT_EQ(pair.text(0), "0:success 1:success 2:success");
      EXPECT_EQ(pair.log().size(), 3u) << "nobody answers";
      std::vector<std::size_t> came(3);
      for (const Completion& done : pair.completions(1)) {
        ASSERT_TRUE(done.ok() && done.octets >= 500 && done.octets < 503);
        const std::size_t i = done.octets - 500;
        ++came[i];
        EXPECT_TRUE(pair.same(0, i * 1024, 1, kTo + (done.wr_id - 10) * 1024, done.octets));
      }
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(came[i], i == at ? c.come : 1u);
      pair.expect_clean();
    }
}

}  // namespace
}  // namespace railyard::uet
