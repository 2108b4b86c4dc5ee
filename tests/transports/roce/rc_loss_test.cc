// Go-back-N: what is lost, late, doubled or damaged, and how RC gets over it (roce-and-lossless §5.7, §5.9, §5.10,
// §18).
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

constexpr Duration kT = local_ack_timeout(8);  // rc_config()

TEST(RcLoss, EachLostPacketOfAWriteCostsOneNak) {
  for (std::uint32_t k = 0; k < 9; ++k) {
    Pair pair(rc_config());
    pair.fate = lose_first(0, psn_is(0x100 + k));
    pair.write_and_expect(2560);
    const auto naks = pair.count(1, [](const Seen& s) { return s.is_nak(NakCode::kPsnSequenceError); });
    EXPECT_EQ(naks, 1u) << k;
    EXPECT_EQ(
        pair.count(1, [&](const Seen& s) { return s.is_nak(NakCode::kPsnSequenceError) && s.psn() == 0x100 + k; }), 1u)
        << "it carries the PSN that is missing";
    EXPECT_EQ(pair.count(0, [](const Seen&) { return true; }), 10u + (10 - k)) << "all of it was in flight";
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
    EXPECT_EQ(pair.counters(1).out_of_sequence.read(), 1u);
    EXPECT_TRUE(pair.books_balance());
  }
}

TEST(RcLoss, TheLastPacketIsMissedByTheTimerOnly) {
  Pair pair(rc_config());
  pair.fate = lose_first(0, psn_is(0x109));
  pair.write_and_expect(2560);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
  EXPECT_EQ(pair.counters(0).packet_seq_err.read(), 0u);
  EXPECT_GE(pair.now(), Instant{} + kT);
}

TEST(RcLoss, ALostNakIsMissedByTheTimerOnly) {
  Pair pair(rc_config());
  pair.fate = [n = 0, data = false](const Seen& s) mutable {
    if (!data && s.from == 0 && s.psn() == 0x103) return data = true, Fate{.lost = true};
    return Fate{.lost = s.is_nak(NakCode::kPsnSequenceError) && n++ == 0};
  };
  pair.write_and_expect(2560);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
  EXPECT_EQ(pair.counters(1).out_of_sequence.read(), 1u) << "one NAK per gap";
}

// Where packets and their answers take many paths, nothing need be lost for that: the responder says NAK once for a gap
// (IBTA Vol 1 §9.7.5.2.8), and the packet that was late closes it. Its ACK overtakes the NAK, which then is of a PSN that
// is acknowledged, and says nothing (a ghost). What came behind the gap was thrown away, and nothing is under way.
TEST(RcLoss, ANakThatAnAckOvertakesIsMissedByTheTimerOnly) {
  Pair pair(rc_config());
  pair.fate = [](const Seen& s) {
    if (s.from == 0 && s.index == 3) return Fate{.late = Duration{1'000'000}};
    if (s.is_nak(NakCode::kPsnSequenceError)) return Fate{.late = Duration{10'000'000}};
    return Fate{};
  };
  pair.fill(0, 0, 2560);
  pair.post(0, pair.write(0, 1, 0, 0, 1024));
  pair.post(0, pair.write(0, 2, 1024, 1024, 1536));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 2560));
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.is_nak(NakCode::kPsnSequenceError); }), 1u);
  EXPECT_EQ(pair.counters(0).drops(Drop::kGhost), 1u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
}

TEST(RcLoss, ALostAckExecutesNothingTwice) {
  Pair pair(rc_config());
  pair.fate = lose_first(1, name_is("Acknowledge"));
  pair.receive(1, 1, 0, 100);
  pair.receive(1, 2, 1000, 100);
  pair.post(0, pair.send(0, 1, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "1:SUCCESS");
  EXPECT_EQ(pair.counters(1).duplicate_request.read(), 1u);
  EXPECT_EQ(pair.trace(1), "Acknowledge 100, Acknowledge 100");
}

TEST(RcLoss, EachLostReadResponseIsAskedForAgainFromThere) {
  for (std::uint32_t k = 0; k < 5; ++k) {
    Pair pair(rc_config());
    pair.fill(1, 0, 1200);
    pair.fate = lose_first(1, psn_is(0x100 + k));
    pair.post(0, pair.read(0, 1, 5000, 0, 1200));
    pair.run();
    EXPECT_TRUE(pair.same(1, 0, 0, 5000, 1200));
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
    std::vector<Seen> requests;
    for (const Seen& s : pair.log())
      if (s.from == 0) requests.push_back(s);
    ASSERT_EQ(requests.size(), 2u) << k;
    EXPECT_EQ(requests[1].psn(), 0x100 + k);
    EXPECT_EQ(requests[1].packet.reth.virtual_address, Pair::address(1) + 256 * k);
    EXPECT_EQ(requests[1].packet.reth.dma_length, 1200 - 256 * k);
    EXPECT_EQ(pair.counters(0).implied_nak_seq_err.read() > 0, k < 4) << "behind the last one nothing shows it";
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), k < 4 ? 0u : 1u);
  }
}

// Each response that is overtaken is asked for again from there. The answer that is under way goes back to it; another
// one beside it would be thrown away, and asked for again, packet by packet.
TEST(RcLoss, ReadResponsesThatOvertakeEachOtherAreAnsweredByOneStream) {
  constexpr std::size_t kPackets = 100;
  for (const std::uint32_t late : {1u, 5u}) {
    Pair pair(rc_config(PathMtu::k4096));
    pair.fill(1, 0, kPackets * 4096);
    std::uint32_t delayed = 0;
    pair.fate = [&](const Seen& s) {
      const bool is_late = s.from == 1 && s.packet.info().operation == Operation::kReadResponse &&
                           s.psn() % 20 == 10 && delayed < late && ++delayed > 0;
      return Fate{.late = is_late ? Duration{1'000'000} : Duration{}};
    };
    pair.post(0, pair.read(0, 1, 0, 0, kPackets * 4096));
    pair.run();
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
    EXPECT_TRUE(pair.same(1, 0, 0, 0, kPackets * 4096));
    const std::size_t sent =
        pair.count(1, [](const Seen& s) { return s.packet.info().operation == Operation::kReadResponse; });
    // A round trip of 2 us is 6 packets of 0.34 us; what is late for 1 us is overtaken by 3, and each of those that
    // comes behind it may ask again.
    EXPECT_GT(sent, kPackets);
    EXPECT_LT(sent, kPackets + delayed * 4 * 9);
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
    EXPECT_TRUE(pair.books_balance());
  }
}

// The second half of the first READ is missed while the responder is at a later one. What goes again goes in the order of
// PSNs: were it sent behind the later READs, the requester would throw those away, and wait for them until its timer.
TEST(RcLoss, ReadsThatGoAgainAreAnsweredInOrder) {
  constexpr std::size_t kReads = 6, kPackets = 40, kOctets = kPackets * 256;
  Pair pair(rc_config());
  pair.fill(1, 0, kReads * kOctets);
  pair.fate = lose_first(1, psn_is(0x100 + 20));
  for (std::uint64_t i = 0; i < kReads; ++i) pair.post(0, pair.read(0, i + 1, i * kOctets, i * kOctets, kOctets));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS 5:SUCCESS 6:SUCCESS");
  EXPECT_TRUE(pair.same(1, 0, 0, 0, kReads * kOctets));
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
  EXPECT_EQ(pair.counters(0).implied_nak_seq_err.read() > 0, true);
  // A round trip of 2 us is 82 responses of 25 ns: so many are thrown away, and sent again.
  const std::size_t sent =
      pair.count(1, [](const Seen& s) { return s.packet.info().operation == Operation::kReadResponse; });
  EXPECT_GT(sent, kReads * kPackets + 60);
  EXPECT_LT(sent, kReads * kPackets + 100);
  EXPECT_TRUE(pair.books_balance());
}

// The same of an atomic among them.
TEST(RcLoss, AtomicsBetweenReadsGoAgainInOrder) {
  constexpr std::size_t kOctets = 40 * 256;
  Pair pair(rc_config());
  pair.fill(1, 0, 3 * kOctets);
  pair.fate = lose_first(1, psn_is(0x100 + 20));
  pair.post(0, pair.read(0, 1, 0, 0, kOctets));
  pair.post(0, pair.fetch_add(0, 2, 500'000, 400'000, 1));
  pair.post(0, pair.read(0, 3, kOctets, kOctets, kOctets));
  pair.post(0, pair.read(0, 4, 2 * kOctets, 2 * kOctets, kOctets));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
  EXPECT_TRUE(pair.same(1, 0, 0, 0, 3 * kOctets));
  EXPECT_EQ(pair.memory(1, 400'000, 1)[0], std::byte{1});
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
}

TEST(RcLoss, AnAckBehindAReadWithoutAnswerShowsThatItWasLost) {
  Pair pair(rc_config());
  pair.fill(1, 0, 100);
  pair.fate = lose_first(1, name_is("READ Response Only"));
  pair.post(0, pair.read(0, 1, 5000, 0, 100));
  pair.post(0, pair.write(0, 2, 0, 8000, 100));
  pair.run();
  EXPECT_EQ(pair.counters(0).implied_nak_seq_err.read(), 1u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
  EXPECT_TRUE(pair.same(1, 0, 0, 5000, 100));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
}

TEST(RcLoss, AnAtomicIsReplayedAndNotExecutedAgain) {
  Pair pair(rc_config());
  pair.fate = lose_first(1, name_is("Atomic Acknowledge"));
  std::uint64_t value = 5;
  std::memcpy(pair.memory(1, 64, 8).data(), &value, 8);
  pair.post(0, pair.fetch_add(0, 1, 0, 64, 3));
  pair.run();
  std::memcpy(&value, pair.memory(1, 64, 8).data(), 8);
  EXPECT_EQ(value, 8u) << "added once";
  std::memcpy(&value, pair.memory(0, 0, 8).data(), 8);
  EXPECT_EQ(value, 5u) << "the answer is that of the first time";
  EXPECT_EQ(pair.count(1, "Atomic Acknowledge"), 2u);
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

TEST(RcLoss, TwoNeighboursThatChangePlacesCostOneNak) {
  Pair pair(rc_config());
  pair.fate = [](const Seen& s) { return s.from == 0 && s.index == 8 ? Fate{.late = Duration{30'000}} : Fate{}; };
  pair.write_and_expect(2560);
  EXPECT_EQ(pair.counters(1).out_of_sequence.read(), 1u);
  EXPECT_EQ(pair.counters(1).duplicate_request.read(), 1u) << "nothing was lost";
}

TEST(RcLoss, WhatComesTwiceIsExecutedOnce) {
  Pair pair(rc_config());
  pair.fill(0, 0, 2560);
  pair.fill(1, 10'000, 1000);
  pair.fate = [](const Seen&) { return Fate{.copies = 2}; };
  for (std::uint64_t i = 1; i <= 3; ++i) pair.receive(1, i, i * 20'000, 3000);
  pair.post(0, pair.send(0, 1, 0, 2560));
  pair.post(0, pair.fetch_add(0, 2, 8000, 64, 1));
  pair.post(0, pair.read(0, 3, 9000, 10'000, 1000));
  pair.post(0, pair.send(0, 4, 0, 10));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.memory(1, 64, 1)[0], std::byte{1});
  EXPECT_TRUE(pair.same(1, 10'000, 0, 9000, 1000));
  EXPECT_TRUE(pair.books_balance());
}

TEST(RcLoss, ADamagedPacketIsAsGoodAsLost) {
  Pair pair(rc_config());
  pair.fate = [](const Seen& s) { return Fate{.corrupted = s.from == 0 && s.index == 3}; };
  pair.write_and_expect(2560);
  EXPECT_EQ(pair.counters(1).drops(Drop::kIcrc), 1u);
}

TEST(RcLoss, PsnsWrapUnderLoss) {
  for (const std::uint32_t lost : {0xFFFFFFu, 0x000000u}) {
    PairConfig config = rc_config();
    config.psn0 = 0xFFFFF0;
    Pair pair(config);
    pair.fill(0, 0, 64 * 256);
    pair.fate = lose_first(0, psn_is(lost));
    pair.post(0, pair.write(0, 1, 0, 0, 64 * 256));
    pair.run();
    EXPECT_TRUE(pair.same(0, 0, 1, 0, 64 * 256));
    EXPECT_EQ(pair.counters(0).packet_seq_err.read(), 1u);
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  }
}

TEST(RcLoss, SilenceEndsAfterRetryCntTimeouts) {
  for (const std::uint8_t retries : {std::uint8_t{0}, std::uint8_t{3}, std::uint8_t{7}}) {
    PairConfig config = rc_config();
    config.attributes.retry_cnt = retries;
    Pair pair(config);
    pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0}; };
    pair.post(0, pair.write(0, 1, 0, 0, 100));
    pair.post(0, pair.write(0, 2, 0, 0, 100));
    pair.receive(0, 9, 0, 10);
    pair.run();
    EXPECT_EQ(pair.sent_text(0), "1:RETRY_EXC_ERR 2:WR_FLUSH_ERR");
    EXPECT_EQ(pair.received_text(0), "9:WR_FLUSH_ERR");
    EXPECT_EQ(pair.state(0), QpState::kErr);
    EXPECT_EQ(pair.count(0, psn_is(0x100)), retries + 1u);
    EXPECT_EQ(pair.now(), Instant{} + kT * (retries + 1)) << "exactly that many timeouts";
  }
}

TEST(RcLoss, RetryCnt7MayBeEndlessAsRxeHasIt) {
  PairConfig config = rc_config();
  config.engine.retry_7_is_endless = true;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index < 50}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

TEST(RcLoss, ProgressReloadsTheRetryCount) {
  PairConfig config = rc_config();
  config.attributes.retry_cnt = 1;
  Pair pair(config);
  pair.fill(0, 0, 256 * 8);
  // Every packet is lost the first time it comes to be the oldest.
  pair.fate = [last = 0xFFu](const Seen& s) mutable {
    if (s.from == 1 || s.psn() <= last) return Fate{};
    last = s.psn();
    return Fate{.lost = true};
  };
  config.engine.window_packets = 1;
  pair.post(0, pair.write(0, 1, 0, 0, 256 * 8));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 256 * 8));
}

TEST(RcLoss, TimeoutZeroWaitsForEver) {
  PairConfig config = rc_config();
  config.attributes.timeout = 0;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "");
  EXPECT_EQ(pair.state(0), QpState::kRts);
  EXPECT_EQ(pair.engine(0).ready(pair.now()).until, Instant::never());
}

// At 1 Mb/s a packet of 256 octets takes 2.7 ms, two and a half timeouts. The timer runs for what an answer was asked for,
// from when that left: neither for the packets before, nor for one that goes again and waits for its turn.
TEST(RcLoss, WhatWaitsForItsRateIsNotLate) {
  // The packets that are lost, each time that they are named, and what is sent again for them. The NAK comes before the
  // next packet goes, so that two go again. A timeout sends the oldest one, and its answer the way to the last.
  struct Case {
    std::vector<std::uint32_t> lost;
    std::size_t timeouts, again;
  };
  for (const Case& c : {Case{{}, 0, 0}, Case{{0x103}, 0, 2}, Case{{0x109}, 1, 2}, Case{{0x109, 0x109}, 2, 3}}) {
    PairConfig config = rc_config();
    config.attributes.retry_cnt = 2;
    Pair pair(config);
    pair.fill(0, 0, 2560);
    ASSERT_TRUE(pair.engine(0).set_rate_limit({}, pair.end(0).qp, BitRate{1'000'000}));
    pair.fate = [lost = c.lost](const Seen& s) mutable {
      const auto at = s.from == 0 ? std::ranges::find(lost, s.psn()) : lost.end();
      if (at == lost.end()) return Fate{};
      lost.erase(at);
      return Fate{.lost = true};
    };
    pair.post(0, pair.write(0, 1, 0, 0, 2560));
    pair.run();
    EXPECT_EQ(pair.sent_text(0), "1:SUCCESS") << c.lost.size();
    EXPECT_TRUE(pair.same(0, 0, 1, 0, 2560));
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), c.timeouts) << c.lost.size();
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), c.again) << c.lost.size();
    EXPECT_TRUE(pair.books_balance());
  }
}

// A paused class holds back what goes again, too: no retry is used up.
TEST(RcLoss, WhatGoesAgainAndIsPausedIsNotLate) {
  PairConfig config = rc_config();
  config.attributes.retry_cnt = 1;
  Pair pair(config);
  pair.fate = lose_first(0, psn_is(0x100));
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run_until(Instant{} + kT / 2);
  pair.paused[0] = 0xFF;
  pair.run_until(Instant{} + kT * 20);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
  pair.paused[0] = 0;
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
}

TEST(RcLoss, AcksOfWhatWasNeverSentAndOldOnesAreIgnored) {
  Pair pair(rc_config());
  const auto ack = [&](std::uint32_t psn, Syndrome syndrome = Syndrome::ack(kNoCreditLimit)) {
    Packet packet;
    packet.bth = {.opcode = opcode::kRcAcknowledge, .dest_qp = pair.end(0).qp.value, .psn = psn};
    packet.aeth.syndrome = to_octet(syndrome);
    pair.inject(0, packet);
  };
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1}; };
  pair.post(0, pair.write(0, 1, 0, 0, 512));  // 0x100, 0x101
  ack(0xFF);
  ack(0x102);
  ack(0x102, Syndrome::nak(NakCode::kRemoteAccessError));
  ack(0x50, Syndrome::rnr_nak(1));
  ack(0x900000);
  pair.run_until(Instant{} + kT / 2);
  EXPECT_EQ(pair.counters(0).drops(Drop::kGhost), 5u);
  EXPECT_EQ(pair.sent_text(0), "");
  EXPECT_EQ(pair.state(0), QpState::kRts);
  ack(0x101);
  pair.run_until(Instant{} + kT);
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

TEST(RcLoss, OneBurstOfNaksIsOneRestart) {
  Pair pair(rc_config());
  pair.fate = [](const Seen& s) {
    if (s.from == 0 && s.index == 2) return Fate{.lost = true};
    return Fate{.copies = s.is_nak(NakCode::kPsnSequenceError) ? 5u : 1u};
  };
  pair.write_and_expect(2560);
  EXPECT_EQ(pair.count(0, psn_is(0x102)), 2u);
}

}  // namespace
}  // namespace railyard::roce
