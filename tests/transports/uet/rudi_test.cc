// RUDI: packets that belong to no PDC and may happen twice, and their congestion control (uet §5.12).
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

SendWr rudi(SendWr wr) {
  wr.mode = DeliveryMode::kRudi;
  wr.memory_key |= kIdempotentSafe;
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

// A WRITE and a READ of two packets each, so eight packets in all if none is lost.
void expect_exact(const std::function<Fate(std::size_t)>& fate) {
  Pair pair;
  std::size_t n = 0;
  pair.fate = [&](const Seen&) { return fate(n++); };
  pair.fill(0, 0, 2000);
  pair.fill(1, 500'000, 2000, 2);
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 2000)));
  pair.post(0, rudi(pair.read(0, 2, 500'000, 500'000, 2000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success");
  EXPECT_EQ(pair.text(1), "");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 2000));
  EXPECT_TRUE(pair.same(0, 500'000, 1, 500'000, 2000));
  EXPECT_EQ(pair.counters(0).pdcs_opened.read() + pair.counters(1).pdcs_opened.read(), 0u);
  pair.expect_clean();
}

TEST(Rudi, EveryFaultAtEveryPacketAndEveryTwo) {
  const Fate faults[] = {{.lost = true},
                         {.copies = 2},
                         {.copies = 2, .copy_late = Duration{3'000'000'000}},
                         {.late = Duration{5'000'000}},
                         {.trimmed = true},
                         {.corrupted = true},
                         {.marked = true}};
  for (std::size_t i = 0; i < 10; ++i)
    for (const Fate& a : faults)
      for (std::size_t j = i; j < 10; ++j)
        for (const Fate& b : faults) {
          SCOPED_TRACE(std::to_string(i) + ", " + std::to_string(j));
          expect_exact([&](std::size_t n) { return n == i ? a : n == j ? b : Fate{}; });
          if (testing::Test::HasFailure()) return;
        }
}

TEST(Rudi, EveryCombinationOfLossesAmongTheFirstTenPackets) {
  for (unsigned lost = 0; lost < 1u << 10; ++lost) {
    SCOPED_TRACE(lost);
    expect_exact([&](std::size_t n) { return Fate{.lost = n < 10 && (lost >> n & 1) != 0}; });
    if (testing::Test::HasFailure()) return;
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

// ---- Congestion control ----

const PdsRudiValues* as_rudi(const Seen& s) { return std::get_if<PdsRudiValues>(&s.packet.pds); }
bool is_request(const Seen& s) { return as_rudi(s) != nullptr && as_rudi(s)->type == PdsType::kRudiReq; }

// The most that were sent to `to` and not answered (by what is on the wire), of what was sent from `from` on.
std::size_t most_outstanding(const Pair& pair, Instant from = {}) {
  std::set<std::uint32_t> out;
  std::size_t most = 0;
  for (const Seen& s : pair.log()) {
    if (as_rudi(s) == nullptr || s.at < from) continue;
    if (is_request(s)) {
      out.insert(as_rudi(s)->pkt_id);
    } else {
      out.erase(as_rudi(s)->pkt_id);
    }
    most = std::max(most, out.size());
  }
  return most;
}

// 4 us at 100 Gb/s are 50 KB, a window one and a half of that.
constexpr std::size_t kWindow = 75'000 / (PdsRudi::kOctets + SesStd::kOctets + 1024);
constexpr std::size_t kReads = 75'000 / (PdsRudi::kOctets + SesResponseData::kOctets + 1024);

EngineConfig far_away() {
  EngineConfig config = test_config();
  config.rto_init = 50_ms;
  return config;
}

TEST(Rudi, AWindowFullIsSentAndNoMoreBeforeAnAnswer) {
  for (const bool reads : {false, true}) {
    Pair pair(far_away());
    // Answers take long, so that what may go has gone.
    pair.fate = [](const Seen& s) { return Fate{.late = is_request(s) ? 20_us : 0_us}; };
    pair.post(0, rudi(reads ? pair.read(0, 1, kTo, kTo, 200'000) : pair.write(0, 1, 0, kTo, 200'000)));
    pair.run_for(15_us);
    EXPECT_EQ(pair.log().size(), reads ? kReads : kWindow) << "a READ counts for what it brings";
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    pair.expect_clean();
  }
}

TEST(Rudi, WithoutCongestionControlThePacketsAreCounted) {
  EngineConfig config = far_away();
  config.congestion = NoCongestionControl{};
  config.rudi_window = 7;
  Pair pair(config);
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 100'000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(most_outstanding(pair), 7u);
}

// Every packet is marked, and waits for long, or nothing happens to it.
TEST(Rudi, MarksOfRequestsOrOfTheirDataMakeTheWindowSmaller) {
  const auto outstanding = [](bool reads, bool marked_there, bool marked_back) {
    Pair pair(far_away());
    pair.fate = [&](const Seen& s) {
      if (is_request(s)) return Fate{.late = 10_us, .marked = marked_there};
      return Fate{.marked = marked_back};
    };
    for (std::uint64_t i = 0; i < 10; ++i)
      pair.post(0, rudi(reads ? pair.read(0, i, kTo, kTo, 200'000) : pair.write(0, i, 0, kTo, 200'000)));
    pair.run_for(150_us);
    const Instant from = pair.now() - 30_us;
    pair.run_for(30_us);
    return most_outstanding(pair, from);
  };
  EXPECT_LT(outstanding(false, true, false), kWindow / 2);
  EXPECT_LT(outstanding(true, true, false), kWindow / 2);
  EXPECT_LT(outstanding(true, false, true), kWindow / 2);
  EXPECT_GT(outstanding(false, false, false), kWindow - 9);
}

// Both of what goes there and of the data that comes back.
TEST(Rudi, WhatIsCutGoesAgainAtOnceAndTheWindowIsSmaller) {
  for (const bool reads : {false, true}) {
    Pair pair(far_away());
    std::size_t cut = 0;
    pair.fate = [&](const Seen& s) {
      const bool data = is_request(s) != reads && as_rudi(s) != nullptr && !as_rudi(s)->retx;
      if (!data || s.index % 4 != 0) return Fate{};
      ++cut;
      return Fate{.trimmed = true};
    };
    pair.fill(reads ? 1 : 0, reads ? kTo : 0, 100'000);
    pair.post(0, rudi(reads ? pair.read(0, 1, 0, kTo, 100'000) : pair.write(0, 1, 0, kTo, 100'000)));
    pair.run_for(300_us);
    EXPECT_EQ(pair.text(0), "1:success") << "no timer was needed";
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 100'000));
    EXPECT_GT(cut, 20u);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), cut);
    EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
    pair.run();
    pair.expect_clean();
  }
}

// One of two peers hears nothing: the other has a window of its own.
TEST(Rudi, PeersShareNoWindow) {
  Pair pair(far_away(), 3);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 1}; };
  SendWr silent = rudi(pair.write(0, 1, 0, kTo, 200'000));
  SendWr other = rudi(pair.write(0, 2, 0, kTo, 200'000));
  silent.peer = pair.end(0).peers[1];
  other.peer = pair.end(0).peers[2];
  other.memory_key = pair.end(2).key | kIdempotentSafe;
  pair.post(0, silent);
  pair.post(0, other);
  pair.run_for(1_ms);
  EXPECT_EQ(pair.text(0), "2:success");
  EXPECT_TRUE(pair.same(0, 0, 2, kTo, 200'000));
}

// More than 65,536, all under way at once: each has a number of its own.
TEST(Rudi, EighteenPeersWithAWindowOfFourThousandEach) {
  constexpr std::size_t kPeers = 18, kWrites = 4, kOctets = 1000 * 1024;
  EngineConfig config = test_config();
  config.congestion = NoCongestionControl{};
  config.rudi_window = 4096;
  config.rto_init = 100_ms;
  Pair pair(config, kPeers + 1);
  std::set<std::uint32_t> numbers;
  pair.fate = [&](const Seen& s) {
    const auto* const rudi_header = std::get_if<PdsRudiValues>(&s.packet.pds);
    if (s.from != 0 || rudi_header == nullptr) return Fate{};
    numbers.insert(rudi_header->pkt_id);
    return Fate{.late = 20_ms};
  };
  std::string all;
  for (std::size_t e = 1; e <= kPeers; ++e)
    for (std::size_t n = 0; n < kWrites; ++n) {
      SendWr wr = rudi(pair.write(0, all.size(), 0, 0, kOctets));
      wr.peer = pair.end(0).peers[e];
      wr.memory_key = pair.end(e).key | kIdempotentSafe;
      pair.post(0, wr);
      all += '.';
    }
  pair.run();
  for (const Completion& c : pair.completions(0)) EXPECT_EQ(c.status, Status::kSuccess);
  EXPECT_EQ(numbers.size(), kPeers * kWrites * 1000);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
  pair.expect_clean();
}

// Whoever finds no number free waits until one is; none goes without an answer.
TEST(Rudi, WithoutAFreeNumberPacketsWait) {
  EngineConfig config = test_config();
  config.congestion = NoCongestionControl{};
  config.most_rudi = 3;
  Pair pair(config, 4);
  std::set<std::uint32_t> under_way;
  std::size_t most = 0;
  pair.fate = [&](const Seen& s) {
    const auto* const header = std::get_if<PdsRudiValues>(&s.packet.pds);
    if (header == nullptr) return Fate{};
    if (s.from != 0) {
      under_way.erase(header->pkt_id);
    } else {
      EXPECT_TRUE(under_way.insert(header->pkt_id).second);
      most = std::max(most, under_way.size());
    }
    return Fate{};
  };
  for (std::size_t e = 1; e < 4; ++e) {
    SendWr wr = rudi(pair.write(0, e, 0, 0, 20 * 1024));
    wr.peer = pair.end(0).peers[e];
    wr.memory_key = pair.end(e).key | kIdempotentSafe;
    pair.post(0, wr);
  }
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:success 3:success");
  EXPECT_LE(most, 3u);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
  pair.expect_clean();
}

// One that was overtaken, and the last one: long before the timer.
TEST(Rudi, LossesAreFoundByTime) {
  for (const std::size_t index : {20u, 97u}) {
    for (const bool lossless : {false, true}) {
      EngineConfig config = far_away();
      config.lossless = lossless;
      Pair pair(config);
      Instant lost{}, found{};
      pair.fate = [&](const Seen& s) {
        if (s.from != 0) return Fate{};
        if (as_rudi(s)->retx) found = s.at;
        if (s.index != index) return Fate{};
        lost = s.at;
        return Fate{.lost = true};
      };
      pair.fill(0, 0, 100'000);
      pair.post(0, rudi(pair.write(0, 1, 0, kTo, 100'000)));
      pair.run();
      EXPECT_EQ(pair.text(0), "1:success");
      EXPECT_TRUE(pair.same(0, 0, 1, kTo, 100'000));
      EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 1u) << "nothing goes for nothing";
      if (lossless) {
        EXPECT_EQ(found - lost, config.rto_init) << "it may have been paused";
      } else {
        EXPECT_LT(found - lost, 60_us);
        EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
        EXPECT_EQ(pair.counters(0).inferred_losses.read(), 1u);
      }
      pair.expect_clean();
    }
  }
}

// Nothing is answered: it goes once and `retries` times again, after twice the time each time.
TEST(Rudi, EachTimeoutCountsOnce) {
  EngineConfig config = test_config();
  config.infer_loss = false;
  Pair pair(config);
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 100)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  ASSERT_EQ(pair.log().size(), config.retries + 1u);
  for (std::size_t i = 1; i < pair.log().size(); ++i)
    EXPECT_EQ(pair.log()[i].at - pair.log()[i - 1].at, config.rto_init * (1 << (i - 1)));
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), config.retries + 1u);
}

// As long as nobody answers, losses are inferred within the first timeout alone: then it backs off.
TEST(Rudi, NothingIsInferredFromSilence) {
  Pair pair;
  ASSERT_TRUE(test_config().infer_loss);
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 100)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  const Instant first = pair.log().front().at + test_config().rto_init;
  EXPECT_EQ(std::ranges::count_if(pair.log(), [&](const Seen& s) { return s.at >= first; }), test_config().retries + 0u);
}

// With a packet that is given up its message has failed: what was not sent of it yet is not sent any more.
TEST(Rudi, AMessageFailsWithItsFirstPacketThatIsGivenUp) {
  Pair pair(far_away());
  pair.fate = [](const Seen&) { return Fate{.lost = true}; };
  pair.fill(0, 0, 300'000);
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 300'000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  EXPECT_LE(most_outstanding(pair), kWindow + 1) << "of 293";
  pair.fate = {};
  pair.post(0, rudi(pair.write(0, 2, 0, kTo, 300'000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "2:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 300'000));
  pair.expect_clean();
}

// A cut says that the peer is there: it is no try in vain, however often it happens.
TEST(Rudi, CutsAreNoTimeouts) {
  EngineConfig config = test_config();
  config.congestion = NoCongestionControl{};
  Pair pair(config);
  std::size_t cuts = 0;
  Instant lost{}, again{};
  pair.fate = [&](const Seen& s) {
    if (s.from != 0) return Fate{};
    if (cuts < 300) {
      ++cuts;
      return Fate{.trimmed = true};
    }
    if (lost == Instant{}) {
      lost = s.at;
      return Fate{.lost = true};
    }
    again = s.at;
    return Fate{};
  };
  pair.post(0, rudi(pair.write(0, 1, 0, kTo, 1000)));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 1u);
  EXPECT_EQ(again - lost, config.rto_init) << "the first in a row";
}

// As a PDC would be closed: what was learnt of the way is forgotten when it was not used for so long.
TEST(Rudi, AWayThatWasIdleForLongStartsAnew) {
  for (const bool idle : {false, true}) {
    Pair pair(far_away());
    bool bad = true;
    pair.fate = [&](const Seen& s) {
      return Fate{.late = !is_request(s) ? 0_us : bad ? 10_us : 20_us, .marked = is_request(s) && bad};
    };
    pair.post(0, rudi(pair.write(0, 1, 0, kTo, 300'000)));
    while (pair.completions(0).empty()) pair.run_for(1_us);
    const Duration rest = test_config().idle_close;
    pair.run_for(idle ? rest * 2 : rest / 100);
    bad = false;
    const Instant from = pair.now();
    pair.post(0, rudi(pair.write(0, 11, 0, kTo, 200'000)));
    pair.run_for(15_us);
    const std::size_t outstanding = most_outstanding(pair, from);
    EXPECT_TRUE(idle ? outstanding == kWindow : outstanding < kWindow / 2) << outstanding;
    pair.run();
    pair.expect_clean();
  }
}

}  // namespace
}  // namespace railyard::uet
