// Selective repeat: what is lost goes again and nothing else; what overtakes is placed (selective_repeat.h).
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

using namespace literals;

PairConfig selective(const SelectiveRepeatConfig& settings = {}, std::uint16_t reads = 16) {
  PairConfig config = rc_config(PathMtu::k256, reads);
  config.selective_repeat = settings;
  return config;
}
std::size_t all_of(const Pair& pair, std::size_t from) {
  return pair.count(from, [](const Seen&) { return true; });
}
// Packets of both ends that lose a race against up to `most` that were sent later.
std::function<Fate(const Seen&)> shuffle(std::uint64_t seed, Duration most) {
  return [rng = RngStream(Seed{seed}, "shuffle"), most](const Seen&) mutable {
    return Fate{.late = Duration{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most.ps)))}};
  };
}

// ---- On the wire ---------------------------------------------------------------------------------------------------

TEST(Selective, EveryPacketSaysWhereItBelongs) {
  Pair pair(selective());
  pair.receive(1, 7, 0, 0);
  pair.receive(1, 8, 20'000, 600);
  SendWr wr = pair.write(0, 1, 0, 5000, 600);
  wr.opcode = SendOpcode::kWriteImm;
  pair.post(0, wr);
  pair.post(0, pair.send(0, 2, 0, 600));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS 8:SUCCESS");
  std::uint32_t i = 0;
  for (const Seen& s : pair.log()) {
    const Packet& p = s.packet;
    EXPECT_EQ(p.bth.opcode & opcode::kTransportMask, kSelectiveRepeat);
    if (s.from == 1) {
      EXPECT_EQ(p.sack_eth.psn, p.bth.psn) << "nothing is missing";
      continue;
    }
    EXPECT_EQ(p.sr_eth.packet_index, i % 3);
    EXPECT_EQ(p.sr_eth.receive_number, i / 3);
    EXPECT_EQ(p.info().headers.has(Header::kReth), i < 3);
    if (i++ >= 3) continue;
    EXPECT_EQ(p.reth, (RethValues{Pair::address(1) + 5000, pair.end(1).key, 600}));
  }
  EXPECT_EQ(i, 6u);
}

TEST(Selective, ItsHeadersEncodeAndDecode) {
  for (std::size_t operation = 0; operation < 0x20; ++operation) {
    Packet packet;
    packet.bth.opcode = static_cast<std::uint8_t>(kSelectiveRepeat | operation);
    const OpcodeInfo& rc = kOpcodes[operation];
    const bool there = rc.known() && operation <= opcode::kRcSendOnlyInvalidate;
    EXPECT_EQ(packet.info().known(), there) << operation;
    if (!there) continue;
    EXPECT_EQ(packet.info().name, rc.name);
    EXPECT_EQ(transport_name(packet.bth.opcode), "RC-SR");
    if (packet.info().headers.has(Header::kSrEth))
      packet.sr_eth = {.packet_index = 0xABCDEF, .receive_number = 0x123456};
    if (packet.info().headers.has(Header::kSackEth)) packet.sack_eth = {.psn = 0xFEDCBA};
    if (packet.info().headers.has(Header::kReth)) packet.reth = {1, 2, 3};
    std::vector<std::byte> octets(packet.octets());
    ASSERT_EQ(encode(octets, packet, {}), octets.size() - wire::kIcrcOctets);
    EXPECT_EQ(decode(octets), packet);
  }
  const std::size_t bth = wire::Bth::kOctets;
  EXPECT_EQ(kOpcodes[kSelectiveRepeat | opcode::kRcSendMiddle].header_octets, bth + 8);
  EXPECT_EQ(kOpcodes[kSelectiveRepeat | opcode::kRcWriteMiddle].header_octets, bth + 8 + 16);
  EXPECT_EQ(kOpcodes[kSelectiveRepeat | opcode::kRcAcknowledge].header_octets, bth + 4 + 4);
}

TEST(Selective, ItIsForRcAndForBothEnds) {
  Engine engine({});
  const CqId cq = engine.create_cq(10);
  QpInit init{.type = QpType::kUc, .send_cq = cq, .recv_cq = cq};
  init.selective_repeat.emplace();
  EXPECT_EQ(engine.create_qp(init).error(), CreateError::kSelectiveRepeatNotRc);
  Pair pair(selective());
  Packet packet;
  packet.bth = {.opcode = opcode::kRcWriteOnly, .dest_qp = pair.end(1).qp.value, .psn = 0x100};
  pair.inject(1, packet);
  pair.run();
  EXPECT_EQ(pair.counters(1).drops(Drop::kWrongTransport), 1u);
}

// ---- Loss ----------------------------------------------------------------------------------------------------------

TEST(Selective, ALostPacketGoesAgainAlone) {
  for (std::uint32_t k = 0; k < 7; ++k) {
    Pair pair(selective());
    pair.fate = lose_first(0, psn_is(0x100 + k));
    pair.write_and_expect(2560);
    EXPECT_EQ(all_of(pair, 0), 11u) << k;
    EXPECT_EQ(pair.count(0, psn_is(0x100 + k)), 2u);
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
    EXPECT_EQ(pair.counters(1).placed_out_of_order.read(), 9 - k);
    for (const Seen& s : pair.log())
      if (s.is_nak(NakCode::kPsnSequenceError)) {
        EXPECT_EQ(s.psn(), 0x100 + k) << "cumulative";
        EXPECT_GT(s.packet.sack_eth.psn, 0x100 + k) << "what came instead";
      }
    EXPECT_TRUE(pair.books_balance());
  }
}

TEST(Selective, ManyLostPacketsGoAgainAloneEach) {
  Pair pair(selective());
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index < 40 && s.index % 3 == 1}; };
  pair.write_and_expect(256 * 60);
  EXPECT_EQ(all_of(pair, 0), 60u + 13);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 13u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
}

// One that is lost again, the last one, an ACK: the timer, low with at most three packets in flight, else high.
TEST(Selective, WhatNothingFollowsIsMissedByTheTimer) {
  const auto took = [](const SelectiveRepeatConfig& settings, std::function<Fate(const Seen&)> fate,
                       std::size_t octets) {
    Pair pair(selective(settings));
    pair.fate = std::move(fate);
    pair.write_and_expect(octets);
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 1u);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read() >= 1, true);
    return pair.log().back().at - Instant{};
  };
  const Duration low = took({}, lose_first(0, psn_is(0x101)), 512);
  EXPECT_GE(low, 100_us);
  EXPECT_LT(low, 110_us);
  const Duration ack = took({}, lose_first(1, name_is("Acknowledge")), 10);
  EXPECT_GE(ack, 100_us);
  EXPECT_LT(ack, 110_us);
  // Nobody has heard of any of them.
  const Duration high = took(
      {}, [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index < 10}; }, 2560);
  EXPECT_GE(high, 320_us);
  EXPECT_LT(high, 350_us) << "and then each answer sends the next one";
  const Duration again = took(
      {.rto_high = 700_us},
      [n = 0](const Seen& s) mutable { return Fate{.lost = s.from == 0 && s.psn() == 0x102 && n++ < 2}; }, 2560);
  EXPECT_GE(again, 700_us);
  EXPECT_LT(again, 710_us);
}

TEST(Selective, SilenceEndsAfterRetryCntTimeouts) {
  PairConfig config = selective();
  config.attributes.retry_cnt = 3;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 2560));
  pair.post(0, pair.write(0, 2, 0, 0, 100));
  pair.receive(0, 9, 0, 10);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:RETRY_EXC_ERR 2:WR_FLUSH_ERR");
  EXPECT_EQ(pair.received_text(0), "9:WR_FLUSH_ERR");
  EXPECT_EQ(pair.count(0, psn_is(0x100)), 4u);
  EXPECT_EQ(pair.count(0, psn_is(0x101)), 1u) << "a timeout sends one packet";
  // The first begins when the tenth packet leaves, which asks for an answer: 362 octets each with preamble and gap.
  EXPECT_EQ(pair.now(), Instant{} + Bytes{9 * 362} / 100_Gbps + 320_us * 4);
}

// At 1 Mb/s a packet takes 2.7 ms, and the timer 100 or 320 us: it runs for what an answer was asked for, from when that
// left.
TEST(Selective, WhatWaitsForItsRateIsNotLate) {
  // The packets that are lost, each time that they are named, and what is sent again: those, and, when nothing came behind
  // the last one, the oldest, whose answer says how far the responder is.
  struct Case {
    std::vector<std::uint32_t> lost;
    std::size_t timeouts, again;
  };
  for (const Case& c : {Case{{}, 0, 0}, Case{{0x103}, 0, 1}, Case{{0x102, 0x103, 0x104}, 0, 3}, Case{{0x109}, 1, 2},
                        Case{{0x109, 0x109}, 2, 3}, Case{{0x100, 0x100}, 1, 2}}) {
    PairConfig config = selective();
    config.attributes.retry_cnt = 2;
    Pair pair(config);
    pair.fill(0, 0, 2560);
    ASSERT_TRUE(pair.engine(0).set_rate_limit({}, pair.end(0).qp, 1_Mbps));
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

TEST(Selective, TimeoutZeroWaitsForEver) {
  PairConfig config = selective();
  config.attributes.timeout = 0;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "");
  EXPECT_EQ(pair.engine(0).ready(pair.now()).until, Instant::never());
}

TEST(Selective, PsnsWrapUnderLoss) {
  for (const std::uint32_t lost : {0xFFFFFFu, 0x000000u}) {
    PairConfig config = selective();
    config.psn0 = 0xFFFFF0;
    Pair pair(config);
    pair.fate = lose_first(0, psn_is(lost));
    pair.write_and_expect(64 * 256);
    EXPECT_EQ(all_of(pair, 0), 65u);
  }
}

// ---- READs and atomics ---------------------------------------------------------------------------------------------

TEST(Selective, OnlyTheMissingResponsesOfAReadAreAskedFor) {
  Pair pair(selective());
  pair.fill(1, 0, 2560);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && (s.index == 2 || s.index == 3)}; };
  pair.post(0, pair.read(0, 1, 5000, 0, 2560));
  pair.run();
  EXPECT_TRUE(pair.same(1, 0, 0, 5000, 2560));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_EQ(pair.count(0, "READ Request"), 3u);
  EXPECT_EQ(all_of(pair, 1), 12u) << "one by one as each is known to be lost";
  std::vector<Seen> requests;
  for (const Seen& s : pair.log())
    if (s.from == 0) requests.push_back(s);
  EXPECT_EQ(requests[1].packet.reth, (RethValues{Pair::address(1) + 512, pair.end(1).key, 256}));
  EXPECT_EQ(requests[2].psn(), 0x103u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
}

TEST(Selective, AReadRequestThatIsLostGoesAgainAndWhatIsBehindItIsThere) {
  Pair pair(selective());
  pair.fill(1, 0, 1000);
  pair.fate = lose_first(0, name_is("READ Request"));
  pair.receive(1, 7, 30'000, 1000);
  pair.post(0, pair.read(0, 1, 5000, 0, 1000));
  pair.post(0, pair.fetch_add(0, 2, 0, 60'000, 3));
  pair.post(0, pair.send(0, 3, 5000, 1000));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS");
  EXPECT_TRUE(pair.same(1, 0, 0, 5000, 1000));
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 1u);
  EXPECT_EQ(pair.counters(1).placed_out_of_order.read(), 5u);
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
}

TEST(Selective, AnAtomicIsReplayedAndNotExecutedAgain) {
  Pair pair(selective());
  pair.fate = lose_first(1, name_is("Atomic Acknowledge"));
  pair.post(0, pair.fetch_add(0, 1, 0, 64, 3));
  for (std::uint64_t i = 2; i < 7; ++i) pair.post(0, pair.fetch_add(0, i, 8 * i, 128, 1));
  pair.run();
  EXPECT_EQ(pair.memory(1, 64, 1)[0], std::byte{3}) << "added once";
  EXPECT_EQ(pair.memory(1, 128, 1)[0], std::byte{5});
  EXPECT_EQ(pair.count(1, "Atomic Acknowledge"), 7u);
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS 5:SUCCESS 6:SUCCESS");
}

TEST(Selective, AReadLongerThanTheWindowArrivesUnderLoss) {
  Pair pair(selective({.bdp_packets = 16, .window_packets = 64}));
  pair.fill(1, 0, 256 * 2000);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1 && s.index % 50 == 20}; };
  pair.post(0, pair.read(0, 1, 500'000, 0, 256 * 2000));
  pair.run();
  EXPECT_TRUE(pair.same(1, 0, 0, 500'000, 256 * 2000));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

// ---- Receives ------------------------------------------------------------------------------------------------------

TEST(Selective, SendsThatOvertakeGoToTheReceiveRequestsOfTheirOwn) {
  for (const bool srq : {false, true}) {
    PairConfig config = selective();
    config.srq = srq;
    Pair pair(config);
    pair.fate = lose_first(0, psn_is(0x100));
    for (std::uint64_t i = 1; i <= 4; ++i) {
      pair.fill(0, i * 1000, 600, i);
      pair.receive(1, i, i * 1000, 600);
      pair.post(0, pair.send(0, i, i * 1000, 600));
    }
    pair.run();
    EXPECT_EQ(pair.received_text(1), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 1u);
    for (std::size_t i = 1; i <= 4; ++i) EXPECT_TRUE(pair.same(0, i * 1000, 1, i * 1000, 600));
  }
}

TEST(Selective, ReceiveRequestsThatAreHeldAreFlushedInOrder) {
  Pair pair(selective());
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.psn() == 0x100}; };
  for (std::uint64_t i = 1; i <= 4; ++i) {
    pair.receive(1, i, i * 1000, 600);
    pair.post(0, pair.send(0, i, i * 1000, 100));
  }
  pair.run_until(Instant{20'000'000});
  EXPECT_EQ(pair.received_text(1), "") << "nothing completes out of order";
  ASSERT_TRUE(pair.engine(1).modify_qp(pair.now(), pair.end(1).qp, QpState::kErr, {}, {}));
  EXPECT_EQ(pair.received_text(1), "1:WR_FLUSH_ERR 2:WR_FLUSH_ERR 3:WR_FLUSH_ERR 4:WR_FLUSH_ERR");
}

TEST(Selective, AReceiverThatIsNotReadyIsWaitedFor) {
  PairConfig config = selective();
  config.attributes.min_rnr_timer = 1;
  Pair pair(config);
  pair.fill(0, 0, 2000);
  pair.post(0, pair.send(0, 1, 0, 1000));
  pair.post(0, pair.send(0, 2, 1000, 1000));
  pair.run_until(Instant{5'000'000});
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.is_rnr(); }), 1u);
  pair.receive(1, 7, 0, 1000);
  pair.receive(1, 8, 1000, 1000);
  pair.run();
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS 8:SUCCESS");
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 2000));
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
}

// What has overtaken it may be refused when its turn comes.
TEST(Selective, AWriteWithImmediateThatOvertookMayStillMeetNoReceiveRequest) {
  PairConfig config = selective();
  config.attributes.min_rnr_timer = 1;
  Pair pair(config);
  pair.fate = lose_first(0, psn_is(0x100));
  pair.fill(0, 0, 600);
  SendWr wr = pair.write(0, 1, 0, 0, 600);
  wr.opcode = SendOpcode::kWriteImm;
  pair.post(0, wr);
  pair.post(0, pair.write(0, 2, 0, 2000, 600));
  pair.run_until(Instant{8'000'000});
  EXPECT_EQ(pair.sent_text(0), "");
  pair.receive(1, 7, 0, 0);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "7:SUCCESS");
  EXPECT_TRUE(pair.same(0, 0, 1, 2000, 600));
}

// ---- Errors --------------------------------------------------------------------------------------------------------

TEST(Selective, AWrongPlaceChangesNothingEvenOutOfOrder) {
  Pair pair(selective());
  pair.fill(0, 0, 2560);
  pair.fate = lose_first(0, psn_is(0x100));
  SendWr wr = pair.write(0, 1, 0, 0, 2560);
  wr.remote_address = Pair::address(1) + Pair::kMemory - 2559;  // its last octet is outside
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:REM_ACCESS_ERR");
  EXPECT_EQ(pair.count(1, [](const Seen& s) { return s.is_nak(NakCode::kRemoteAccessError); }), 1u);
  EXPECT_TRUE(std::ranges::all_of(pair.memory(1, 0, Pair::kMemory), [](std::byte b) { return b == std::byte{}; }));
  EXPECT_EQ(pair.state(0), QpState::kErr);
  EXPECT_EQ(pair.state(1), QpState::kErr);
  EXPECT_TRUE(pair.books_balance());
}

// ---- Reordering ----------------------------------------------------------------------------------------------------

// A packet of 256 octets takes 27 ns: within 60 ns at most two overtake.
TEST(Selective, PacketsThatOvertakeEachOtherSendNothingAgainAndGoBackNDoes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Pair pair(selective());
    pair.fate = shuffle(seed, 60_ns);
    pair.write_and_expect(256 * 500);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
    EXPECT_EQ(all_of(pair, 0), 500u);
    EXPECT_GT(pair.counters(1).placed_out_of_order.read(), 50u);
    EXPECT_EQ(pair.counters(0).local_ack_timeout_err.read(), 0u);
    pair.fill(1, 0, 256 * 500);
    pair.post(0, pair.read(0, 2, 500'000, 0, 256 * 500));
    pair.run();
    EXPECT_TRUE(pair.same(1, 0, 0, 500'000, 256 * 500));
    EXPECT_EQ(pair.count(0, "READ Request"), 1u);

    Pair gbn(rc_config());
    gbn.fate = shuffle(seed, 60_ns);
    gbn.write_and_expect(256 * 500);
    EXPECT_GT(gbn.counters(0).retransmitted_packets.read(), 500u) << "though nothing was lost";
  }
}

// The paper's setting takes the first packet that overtakes for a loss.
TEST(Selective, HowManyMayOvertakeIsASetting) {
  const auto sent_again = [](std::uint32_t reorder) {
    Pair pair(selective({.reorder_packets = reorder}));
    pair.fate = shuffle(1, 400_ns);
    pair.write_and_expect(256 * 500);
    return pair.counters(0).retransmitted_packets.read();
  };
  EXPECT_GT(sent_again(1), sent_again(3));
  EXPECT_GT(sent_again(3), 0u);
  EXPECT_EQ(sent_again(20), 0u);
}

TEST(Selective, WhatComesTwiceIsExecutedOnce) {
  Pair pair(selective());
  pair.fill(0, 0, 2560);
  pair.fate = [shuffled = shuffle(3, 500_ns)](const Seen& s) {
    Fate f = shuffled(s);
    f.copies = 2;
    return f;
  };
  for (std::uint64_t i = 1; i <= 2; ++i) pair.receive(1, i, i * 20'000, 3000);
  pair.post(0, pair.send(0, 1, 0, 2560));
  pair.post(0, pair.fetch_add(0, 2, 8000, 64, 1));
  pair.post(0, pair.read(0, 3, 9000, 10'000, 1000));
  pair.post(0, pair.send(0, 4, 0, 10));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
  EXPECT_EQ(pair.received_text(1), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.memory(1, 64, 1)[0], std::byte{1});
  EXPECT_TRUE(pair.books_balance());
}

// ---- The cap -------------------------------------------------------------------------------------------------------

TEST(Selective, NoMoreAreInFlightThanTheCap) {
  for (const std::uint32_t cap : {1u, 8u, 40u}) {
    Pair pair(selective({.bdp_packets = cap}));
    std::int64_t acknowledged = 0, most = 0;
    pair.fate = [&](const Seen& s) {
      if (s.from == 0) most = std::max(most, std::int64_t{s.psn()} - 0xFF - acknowledged);
      if (s.from == 1) acknowledged = std::max(acknowledged, std::int64_t{s.psn()} - 0xFF);
      return Fate{.lost = s.from == 0 && s.index % 97 == 50};
    };
    pair.write_and_expect(256 * 500);
    EXPECT_LE(most, cap);
    EXPECT_GT(most, cap / 2);
  }
}

// ---- Goodput -------------------------------------------------------------------------------------------------------

// Payload octets a second over the line's, of `packets` WRITE packets of which one in `lose_nth` is lost.
struct Goodput {
  double of_line = 0;
  std::uint64_t sent_again = 0;
  std::uint64_t lost = 0;
};
Goodput goodput(PairConfig config, std::size_t packets, std::size_t lose_nth) {
  constexpr std::size_t kPerWrite = 1000;
  config.max_wr = 512;
  config.attributes.timeout = 4;  // 65 us
  if (config.selective_repeat) config.selective_repeat->rto_low = config.selective_repeat->rto_high = 65_us;
  Pair pair(config);
  std::uint64_t lost = 0;
  pair.fate = [&lost, lose_nth, rng = RngStream(Seed{lose_nth}, "loss")](const Seen& s) mutable {
    const bool this_one = s.from == 0 && lose_nth > 0 && rng.below(lose_nth) == 0;
    lost += this_one ? 1 : 0;
    return Fate{.lost = this_one};
  };
  pair.fill(0, 0, 256 * kPerWrite);
  for (std::size_t i = 0; i < packets / kPerWrite; ++i) pair.post(0, pair.write(0, i, 0, 0, 256 * kPerWrite));
  pair.run();
  EXPECT_EQ(pair.sent(0).size(), packets / kPerWrite);
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 256 * kPerWrite));
  // A timer that is not needed any more may still run.
  const double seconds = static_cast<double>((pair.log().back().at - Instant{}).ps) * 1e-12;
  return {.of_line = static_cast<double>(packets) * 256 * 8 / seconds / 100e9,
          .sent_again = pair.counters(0).retransmitted_packets.read(),
          .lost = lost};
}

// A round trip of 2 us holds some 75 packets of 27 ns: go-back-N sends that many again for each that is lost, selective
// repeat one. Of what the line carries 1 / (1 + 75 p) is left of the one, 1 - p of the other.
TEST(Selective, GoodputUnderLossIsThatOfWhatIsLostAndNotOfTheWindow) {
  PairConfig sr = selective({.bdp_packets = 200});
  const double gbn_clean = goodput(rc_config(), 20'000, 0).of_line;
  const double sr_clean = goodput(sr, 20'000, 0).of_line;
  EXPECT_GT(sr_clean, 0.85 * gbn_clean) << "24 more octets of headers in a packet";
  struct Row {
    std::size_t lose_nth, packets;
  };
  for (const auto& [lose_nth, packets] : {Row{10'000, 60'000}, Row{1000, 20'000}, Row{100, 20'000}}) {
    SCOPED_TRACE(lose_nth);
    const double p = 1.0 / static_cast<double>(lose_nth);
    const Goodput gbn = goodput(rc_config(), packets, lose_nth);
    const Goodput selective = goodput(sr, packets, lose_nth);
    const double gbn_left = gbn.of_line / gbn_clean, sr_left = selective.of_line / sr_clean;
    RecordProperty("gbn_" + std::to_string(lose_nth), std::to_string(gbn_left));
    RecordProperty("sr_" + std::to_string(lose_nth), std::to_string(sr_left));
    EXPECT_LT(gbn_left, 1 / (1 + 75 * p) * 1.03) << "at least a round trip of packets for each";
    EXPECT_GT(gbn_left, 1 / (1 + 75 * p) * 0.85);
    EXPECT_GT(sr_left, (1 - p) * 0.97);
    EXPECT_LE(selective.sent_again, selective.lost + selective.lost / 20) << "those that are lost, once each";
    EXPECT_GT(gbn.sent_again, 40 * selective.sent_again);
  }
}

}  // namespace
}  // namespace railyard::roce
