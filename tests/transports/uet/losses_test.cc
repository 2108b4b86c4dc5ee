// Losses that nobody tells of: found by time (RACK-TLP, RFC 8985), long before the timer of all. What is only late is
// not taken for one.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr std::size_t kHundred = 100 * 1024;  // a hundred packets

// The timer of all is far away.
EngineConfig with_slow_timer() {
  EngineConfig config = test_config();
  config.rto_init = 50_ms;
  config.ack_trigger = 2048;
  return config;
}

std::uint64_t repeated(Pair& pair) { return pair.counters(0).retransmitted_packets.read(); }
std::uint64_t inferred(Pair& pair) { return pair.counters(0).inferred_losses.read(); }
std::uint64_t duplicates(Pair& pair) { return pair.counters(1).drops(Drop::kDuplicate); }

// One WRITE of all of it; all of it is there, without the timer.
void write_all(Pair& pair, std::size_t octets = kHundred) {
  pair.fill(0, 0, octets);
  pair.post(0, pair.write(0, 1, 0, kTo, octets));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, octets));
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
  pair.expect_clean();
}

// Sixteen paths, the slowest two round trips longer than the quickest.
TEST(Losses, SprayedPacketsThatAreOvertakenAreNotSentAgain) {
  for (const auto congestion : {true, false}) {
    EngineConfig config = with_slow_timer();
    if (!congestion) config.congestion = NoCongestionControl{};
    config.multipath = {.policy = PathPolicy::kOblivious, .paths = 16};
    Pair pair(config);
    pair.fate = [](const Seen& s) {
      return Fate{.late = s.request() != nullptr ? Duration{s.entropy % 16 * 300'000} : Duration{}};
    };
    write_all(pair);
    EXPECT_GT(pair.counters(1).placed_out_of_order.read(), 20u);
    EXPECT_EQ(repeated(pair) + duplicates(pair), 0u) << congestion;
  }
}

// All around it take their 2 us and their turn; it is away for as long again.
TEST(Losses, OnePacketThatIsLateBesideManyIsNotSentAgain) {
  Pair pair(with_slow_timer());
  pair.fate = [](const Seen& s) { return Fate{.late = s.request() != nullptr && s.index == 20 ? 3_us : 0_us}; };
  write_all(pair);
  EXPECT_EQ(repeated(pair) + duplicates(pair), 0u);
}

TEST(Losses, OneThatWasOvertakenLongAgoIsSentAgainAndNoOther) {
  Pair pair(with_slow_timer());
  Instant lost{}, found{};
  std::uint32_t psn = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from == 0 && s.index == 20) {
      lost = s.at;
      psn = s.request()->psn;
    }
    if (s.retx()) {
      found = s.at;
      EXPECT_EQ(s.request()->psn, psn);
    }
    return Fate{.lost = s.from == 0 && s.index == 20};
  };
  write_all(pair);
  EXPECT_EQ(repeated(pair), 1u);
  EXPECT_EQ(inferred(pair), 1u);
  EXPECT_EQ(duplicates(pair), 0u);
  EXPECT_GT(found - lost, 4_us) << "a round trip at least";
  EXPECT_LT(found - lost, 20_us);
}

EngineConfig in_lossless_class(bool ordered_paths = true) {
  EngineConfig config = with_slow_timer();
  config.lossless = true;
  config.ordered_paths = ordered_paths;
  config.multipath = {.policy = PathPolicy::kOblivious, .paths = 8};
  return config;
}

// Packets of one entropy value stay in order: the next of its value shows that it is lost.
TEST(Losses, InALosslessClassTheNextPacketOnItsPathShowsIt) {
  for (const std::size_t index : {5u, 20u, 60u}) {
    Pair pair(in_lossless_class());
    Instant lost{}, found{};
    pair.fate = [&](const Seen& s) {
      if (s.from == 0 && s.index == index) lost = s.at;
      if (s.retx()) found = s.at;
      return Fate{.lost = s.from == 0 && s.index == index};
    };
    write_all(pair);
    EXPECT_EQ(repeated(pair), 1u);
    EXPECT_EQ(inferred(pair), 1u);
    EXPECT_EQ(duplicates(pair), 0u);
    EXPECT_GT(found - lost, 2_us) << "a round trip at least";
    EXPECT_LT(found - lost, 25_us) << "8 packets later the next one, and a round trip and as long again";
  }
}

// What is sent again has another path, and is found as well.
TEST(Losses, InALosslessClassARepetitionThatIsLostIsFoundAsWell) {
  Pair pair(in_lossless_class());
  std::uint32_t psn = 0;
  int losses = 0;
  pair.fate = [&](const Seen& s) {
    const auto* const r = s.request();
    if (s.from == 0 && s.index == 10) psn = r->psn;
    const bool lost = s.from == 0 && r != nullptr && psn != 0 && r->psn == psn && losses < 2;
    if (lost) ++losses;
    return Fate{.lost = lost};
  };
  write_all(pair, 2 * kHundred);
  EXPECT_EQ(losses, 2);
  EXPECT_EQ(repeated(pair), 2u);
  EXPECT_EQ(duplicates(pair), 0u);
}

// Data of a class, and PROBEs that ask after them, which take their way.
bool is_on_its_path(const Seen& s) { return s.request() != nullptr || s.is_cp(CtlType::kProbe); }

std::uint64_t probes(Pair& pair) { return pair.counters(0).probes_sent.read(); }

// One of eight paths is paused for fifty round trips; the others go on.
TEST(Losses, APausedPathIsNoLoss) {
  Pair pair(in_lossless_class());
  std::uint16_t paused = 0;
  const Instant until = Instant{} + 120_us;
  pair.fate = [&](const Seen& s) {
    if (!is_on_its_path(s)) return Fate{};
    if (s.index == 9) paused = s.entropy;
    // In order, when it goes on.
    const bool waits = s.index >= 9 && s.entropy == paused && s.at < until;
    return Fate{.late = waits ? until - s.at : Duration{}};
  };
  write_all(pair);
  EXPECT_GT(pair.counters(1).placed_out_of_order.read(), 20u);
  EXPECT_EQ(inferred(pair), 0u);
  EXPECT_EQ(repeated(pair) + duplicates(pair), 0u);
}

// All paths are paused for most of a timeout, thousands of round trips: PROBEs wait behind the data, and grow rare.
TEST(Losses, AClassThatIsPausedForLongLosesNothing) {
  Pair pair(in_lossless_class());
  const Instant until = Instant{} + 40_ms;
  pair.fate = [&](const Seen& s) {
    const bool waits = is_on_its_path(s) && s.index >= 20 && s.at < until;
    return Fate{.late = waits ? until - s.at : Duration{}};
  };
  write_all(pair);
  EXPECT_EQ(inferred(pair), 0u);
  EXPECT_EQ(repeated(pair) + duplicates(pair), 0u);
  EXPECT_GT(probes(pair), 0u);
  EXPECT_LT(probes(pair), 16u * 16u) << "of each of 8 paths one, each twice as long after the one before";
}

// Where switches spray the class those that came behind it on all paths show it; of the last ones, a series of PROBEs.
TEST(Losses, InASprayedLosslessClassWhatCameBehindItShowsIt) {
  for (const std::size_t index : {5u, 20u, 60u, 99u}) {
    SCOPED_TRACE(index);
    Pair pair(in_lossless_class(false));
    Instant lost{}, found{};
    pair.fate = [&](const Seen& s) {
      const auto* const r = s.request();
      const bool is_lost = s.from == 0 && s.index == index && r != nullptr && !r->retx;
      if (is_lost) lost = s.at;
      if (s.retx()) found = s.at;
      return Fate{.lost = is_lost};
    };
    write_all(pair);
    EXPECT_EQ(repeated(pair), 1u);
    EXPECT_EQ(inferred(pair), 1u);
    EXPECT_EQ(duplicates(pair), 0u);
    EXPECT_LT(found - lost, 100_us);
  }
}

// What was sent again, too.
TEST(Losses, InASprayedLosslessClassManyLossesAreFound) {
  Pair pair(in_lossless_class(false));
  int n = 0;
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.from == 0 && is_on_its_path(s) && ++n % 25 == 0}; };
  write_all(pair, 4 * kHundred);
  EXPECT_EQ(duplicates(pair), 0u);
  EXPECT_EQ(repeated(pair), inferred(pair));
  EXPECT_GE(inferred(pair), 15u);
}

// One of some equal paths is paused for fifty round trips; switches go on to spray over all of them.
TEST(Losses, APausedPathOfASprayedClassIsNoLoss) {
  for (const unsigned paths : {2u, 4u, 8u}) {
    SCOPED_TRACE(paths);
    Pair pair(in_lossless_class(false));
    const Instant from = Instant{} + 30_us;
    const Instant until = Instant{} + 150_us;
    unsigned turn = 0;
    pair.fate = [&](const Seen& s) {
      if (!is_on_its_path(s)) return Fate{};
      const bool waits = turn++ % paths == 1 && s.at > from && s.at < until;
      return Fate{.late = waits ? until - s.at : Duration{}};
    };
    write_all(pair, 4 * kHundred);
    EXPECT_GT(pair.counters(1).placed_out_of_order.read(), 5u);
    EXPECT_EQ(inferred(pair), 0u);
    EXPECT_EQ(repeated(pair) + duplicates(pair), 0u);
  }
}

// All of them for most of a timeout: series of PROBEs wait behind the data, and grow rare.
TEST(Losses, ASprayedClassThatIsPausedForLongLosesNothing) {
  Pair pair(in_lossless_class(false));
  const Instant until = Instant{} + 40_ms;
  pair.fate = [&](const Seen& s) {
    const bool waits = is_on_its_path(s) && s.index >= 20 && s.at < until;
    return Fate{.late = waits ? until - s.at : Duration{}};
  };
  write_all(pair);
  EXPECT_EQ(inferred(pair), 0u);
  EXPECT_EQ(repeated(pair) + duplicates(pair), 0u);
  EXPECT_GT(probes(pair), 0u);
  EXPECT_LT(probes(pair), 16u * 32u) << "each series twice as long after the one before";
}

// Switches that choose the shortest queue send nothing behind it: this is no different from a loss. It goes again once,
// and those that wait so later are waited for.
TEST(Losses, AfterOnePacketOnAPausedPathThatSwitchesAvoidOthersAreWaitedFor) {
  Pair pair(in_lossless_class(false));
  int n = 0;
  pair.fate = [&](const Seen& s) {
    const bool waits = s.from == 0 && s.request() != nullptr && !s.retx() && ++n % 100 == 40;
    return Fate{.late = waits ? 60_us : Duration{}};
  };
  // One of them in each.
  for (int i = 0; i < 5; ++i) {
    pair.post(0, pair.write(0, 1, 0, kTo, kHundred));
    pair.run_for(90_us);
  }
  EXPECT_EQ(inferred(pair), 1u);
  EXPECT_EQ(duplicates(pair), 1u);
}

// The last packet on its path: nothing comes behind it, so a PROBE does.
TEST(Losses, InALosslessClassATailIsFoundByAProbe) {
  Pair pair(in_lossless_class());
  Instant lost{}, found{};
  pair.fate = [&](const Seen& s) {
    const auto* const r = s.request();
    const bool is_last = r != nullptr && !r->retx && s.index == 99;
    if (is_last) lost = s.at;
    if (s.retx()) found = s.at;
    return Fate{.lost = is_last};
  };
  write_all(pair);
  EXPECT_EQ(repeated(pair), 1u);
  EXPECT_EQ(duplicates(pair), 0u);
  EXPECT_GT(probes(pair), 0u);
  EXPECT_LT(found - lost, 60_us) << "four round trips of a full window, and the PROBE's";
}

// Nothing is left to come behind what is lost: the window is full of it. The last packets are lost three times more,
// and so is every other PROBE.
TEST(Losses, InALosslessClassAWindowThatIsLostIsFoundByProbes) {
  Pair pair(in_lossless_class());
  std::map<std::uint32_t, int> losses;
  bool odd = false;
  pair.fate = [&](const Seen& s) {
    if (s.from != 0) return Fate{};
    if (s.is_cp(CtlType::kProbe)) return Fate{.lost = odd = !odd};
    const auto* const r = s.request();
    if (r == nullptr) return Fate{};
    if (!r->retx) return Fate{.lost = s.index >= 60};
    return Fate{.lost = losses[r->psn]++ < 3 && s.index % 2 == 0};
  };
  const Instant before = pair.now();
  write_all(pair);
  EXPECT_GE(repeated(pair), 40u);
  EXPECT_EQ(duplicates(pair), 0u);
  EXPECT_LT(pair.now() - before, 50_ms / 8);
}

// ROD has one path, which keeps its order: what is missing at its end is asked after there, in any class.
TEST(Losses, TheTailOfRodIsFoundByAProbe) {
  for (const bool lossless : {false, true}) {
    EngineConfig config = with_slow_timer();
    config.lossless = lossless;
    config.ordered_paths = true;
    Pair pair(config);
    Instant lost{}, found{};
    pair.fate = [&](const Seen& s) {
      const auto* const r = s.request();
      const bool is_tail = r != nullptr && !r->retx && s.index >= 95;
      if (is_tail) lost = s.at;
      if (s.retx() && found == Instant{}) found = s.at;
      return Fate{.lost = is_tail};
    };
    pair.fill(0, 0, kHundred);
    SendWr wr = pair.write(0, 1, 0, kTo, kHundred);
    wr.mode = DeliveryMode::kRod;
    pair.post(0, wr);
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, kHundred));
    EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
    EXPECT_EQ(repeated(pair), 5u);
    EXPECT_EQ(duplicates(pair), 0u);
    EXPECT_LT(found - lost, 60_us);
    pair.expect_clean();
  }
}

// ---- Timers of packets
// -------------------------------------------------------------------------------------------------

EngineConfig with_packet_timers(bool doubles) {
  EngineConfig config = with_slow_timer();
  config.infer_loss = false;
  config.rto_init = 50_us;
  config.packet_timers = true;
  config.rto_doubles = doubles;
  return config;
}

// Of one PDC two packets are lost, the second twice: neither waits for the timer of the other.
TEST(Losses, EachPacketHasItsTimer) {
  for (const bool doubles : {false, true}) {
    SCOPED_TRACE(doubles);
    Pair pair(with_packet_timers(doubles));
    std::map<std::uint32_t, std::vector<Instant>> sent;  // by PSN, of those that are lost
    std::uint32_t first = 0, second = 0;
    pair.fate = [&](const Seen& s) {
      const auto* const r = s.request();
      if (s.from != 0 || r == nullptr) return Fate{};
      if (s.index == 20) first = r->psn;
      if (s.index == 40) second = r->psn;
      if (r->psn != first && r->psn != second) return Fate{};
      auto& times = sent[r->psn];
      times.push_back(s.at);
      return Fate{.lost = times.size() <= (r->psn == first ? 1u : 3u)};
    };
    pair.fill(0, 0, kHundred);
    pair.post(0, pair.write(0, 1, 0, kTo, kHundred));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, kHundred));
    EXPECT_EQ(repeated(pair), 4u);
    EXPECT_EQ(duplicates(pair), 0u);
    const auto gap = [&](std::uint32_t psn, std::size_t n) { return sent[psn].at(n) - sent[psn].at(n - 1); };
    EXPECT_EQ(gap(first, 1), 50_us);
    EXPECT_EQ(gap(second, 1), 50_us);
    EXPECT_EQ(gap(second, 2), doubles ? 100_us : 50_us);
    EXPECT_EQ(gap(second, 3), doubles ? 200_us : 50_us);
    pair.expect_clean();
  }
}

// Nobody answers: a PDC gives up after the last of its packet's tries, as one with a timer of its own does.
TEST(Losses, APdcWithPacketTimersGivesUpInSilence) {
  for (const bool doubles : {false, true}) {
    EngineConfig config = with_packet_timers(doubles);
    config.retries = 3;
    Pair pair(config);
    pair.fate = [](const Seen&) { return Fate{.lost = true}; };
    pair.post(0, pair.write(0, 1, 0, kTo, 3000));
    const std::int64_t timeouts = doubles ? 1 + 2 + 4 + 8 : 4;
    pair.run_for(50_us * timeouts - 1_us);
    EXPECT_EQ(pair.text(0), "");
    pair.run_for(5_us);
    EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  }
}

TEST(Losses, WithoutInferenceOnlyTheTimerFindsIt) {
  EngineConfig config = with_slow_timer();
  config.infer_loss = false;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index == 20}; };
  pair.post(0, pair.write(0, 1, 0, kTo, kHundred));
  pair.run_for(49_ms);
  EXPECT_EQ(pair.text(0), "");
  pair.run_for(10_ms);
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 1u);
}

// Of the oldest packet, that is: what comes behind it, and is acknowledged all the time, does not put it off.
TEST(Losses, TheTimerIsOfThePacketThatIsMissing) {
  EngineConfig config = with_slow_timer();
  config.infer_loss = false;
  config.rto_init = 20_us;
  config.congestion = NoCongestionControl{};
  Pair pair(config);
  Instant lost{}, found{}, last_ack{};
  pair.fate = [&](const Seen& s) {
    if (s.ack() != nullptr && found == Instant{}) last_ack = s.at;
    if (s.from == 0 && s.index == 20) lost = s.at;
    if (s.retx() && found == Instant{}) found = s.at;
    return Fate{.lost = s.from == 0 && s.index == 20};
  };
  pair.fill(0, 0, 4 * kHundred);
  pair.post(0, pair.write(0, 1, 0, kTo, 4 * kHundred));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 4 * kHundred));
  EXPECT_GE(found - lost, 20_us);
  EXPECT_LT(found - lost, 20_us + 200_ns);
  EXPECT_LT(found - last_ack, 2_us) << "not in silence";
  EXPECT_EQ(repeated(pair), 1u);
  EXPECT_EQ(duplicates(pair), 0u);
}

// What is answered slowly is not lost: the timer is not shorter than that has lately been.
TEST(Losses, ATimerBelowTheRoundTripLearnsIt) {
  for (const bool infers : {false, true}) {
    EngineConfig config = with_slow_timer();
    config.infer_loss = infers;
    config.rto_init = 20_us;
    Pair pair(config);
    pair.fate = [&](const Seen& s) {
      // A queue that grows.
      return Fate{.late = s.from == 0
                              ? Duration{static_cast<std::int64_t>(std::min<std::size_t>(s.index, 200)) * 200'000}
                              : 0_us};
    };
    pair.fill(0, 0, 8 * kHundred);
    pair.post(0, pair.write(0, 1, 0, kTo, 8 * kHundred));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_EQ(repeated(pair) + duplicates(pair), 0u) << infers;
  }
}

// Nor is what nobody can have answered yet. The round trip is 2 us and the packet, of the longest path they take 4 us.
TEST(Losses, ATimerBelowTheRoundTripWaitsForTheFirstAnswer) {
  for (const bool infers : {false, true})
    for (const std::size_t octets : {std::size_t{100}, kHundred}) {
      EngineConfig config = with_slow_timer();
      config.infer_loss = infers;
      config.rto_init = 1_us;
      Pair pair(config);
      write_all(pair, octets);
      EXPECT_EQ(repeated(pair) + duplicates(pair), 0u) << infers << ' ' << octets;
    }
}

// And if there is none for it was lost: after three of the longest, then twice that.
TEST(Losses, TheFirstTimerDoublesWithoutAnAnswer) {
  EngineConfig config = with_slow_timer();
  config.infer_loss = false;
  config.rto_init = 1_us;
  Pair pair(config);
  std::vector<Instant> sent;
  pair.fate = [&](const Seen& s) {
    if (s.request() != nullptr) sent.push_back(s.at);
    return Fate{.lost = s.from == 0 && sent.size() <= 2};
  };
  pair.post(0, pair.write(0, 1, 0, kTo, 100));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1] - sent[0], 12_us);
  EXPECT_EQ(sent[2] - sent[1], 24_us);
}

// What goes again is lost, too, twice: packets that were sent after it say so.
TEST(Losses, ARepetitionThatIsLostIsFoundAsWell) {
  Pair pair(with_slow_timer());
  std::map<std::uint32_t, unsigned> times;
  pair.fate = [&](const Seen& s) {
    if (s.request() == nullptr || s.from != 0) return Fate{};
    const unsigned nth = ++times[s.request()->psn];
    return Fate{.lost = times.size() == 21 && nth <= 1 ? true : s.retx() && nth <= 3};
  };
  write_all(pair, 4 * kHundred);
  EXPECT_EQ(repeated(pair), 3u);
}

// Nothing comes behind them that would overtake them: the last goes again, and its answer says of the others.
TEST(Losses, ATailIsFoundByItsLastPacket) {
  for (const unsigned tail : {1u, 2u, 30u}) {
    Pair pair(with_slow_timer());
    std::uint32_t last = 0;
    pair.fate = [&](const Seen& s) {
      if (s.from == 0 && s.index == 99) last = s.request()->psn;
      if (s.retx() && repeated(pair) == 1) {
        EXPECT_EQ(s.request()->psn, last);
      }
      return Fate{.lost = s.from == 0 && !s.retx() && s.index >= 100 - tail && s.index < 100};
    };
    write_all(pair);
    EXPECT_EQ(repeated(pair), tail);
    EXPECT_EQ(inferred(pair), tail - 1);
    EXPECT_EQ(duplicates(pair), 0u) << "nothing else";
  }
}

// Nothing arrives any more. Where the window is a part of a packet the last one goes again and again, and does not put
// the timeouts off: four of them, 20 ms in all but for the pacing of what goes after each.
TEST(Losses, TriesOfATailDoNotPutTimeoutsOff) {
  EngineConfig config = test_config();
  config.rto_init = 1_ms;
  config.retries = 3;
  NsccConfig& nscc = std::get<NsccConfig>(config.congestion);
  nscc.packet = 1080;
  nscc.min_wnd = 1080.0 / 64;
  Pair pair(config);
  Instant cut{}, last{};
  pair.fate = [&](const Seen& s) {
    if (s.from == 0 && s.index == 20) cut = s.at;
    if (s.request() != nullptr) last = s.at;
    return Fate{.lost = s.from == 0 && s.index >= 20};
  };
  pair.fill(0, 0, kHundred);
  pair.post(0, pair.write(0, 1, 0, kTo, kHundred));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 4u);
  EXPECT_GT(repeated(pair), 8u) << "of the tail";
  EXPECT_LT(last - cut, 30_ms);
}

// Of a PDC of which nothing was heard yet, and its target knows nothing.
TEST(Losses, AllOfAFirstWindowAndSomeOfItsRepetitions) {
  EngineConfig config = with_slow_timer();
  Pair pair(config);
  pair.fate = [&](const Seen& s) { return Fate{.lost = s.from == 0 && pair.now() < Instant{} + 200_us}; };
  write_all(pair, 10 * 1024);
  EXPECT_LT(pair.count(0, [](const Seen& s) { return s.request() != nullptr; }), 25u) << "doubling, not a stream";
  EXPECT_EQ(duplicates(pair), 0u);
}

// As long as all that is sent is delayed alike, by a pause of the link, the tail is tried with one packet now and then.
TEST(Losses, ASilenceCostsNoMoreThanAFewPackets) {
  Pair pair(with_slow_timer());
  pair.fate = [](const Seen& s) {
    const Instant from = Instant{} + 4_us, to = Instant{} + 400_us;
    return Fate{.late = s.at > from && s.at < to ? to - s.at : 0_us};
  };
  write_all(pair);
  EXPECT_LE(repeated(pair), 8u) << "every 16, 32 and then 64 us";
}

// A path becomes slower than all others were by far: the first such packets are taken for lost. That they were sent for
// nothing is learned, and fewer are.
TEST(Losses, PacketsThatCameAfterAllWidenTheWindow) {
  Pair pair(with_slow_timer());
  std::uint32_t start = 0;
  pair.fate = [&](const Seen& s) {
    if (s.request() == nullptr || s.from != 0 || s.retx()) return Fate{};
    if (s.index == 0) start = s.request()->psn;
    return Fate{.late = (s.request()->psn - start) % 10 == 9 ? 14_us : 0_us};
  };
  write_all(pair, 4 * kHundred);
  EXPECT_GE(repeated(pair), 1u);
  EXPECT_LE(repeated(pair), 12u) << "of forty";
}

// So late that the SACKs of those before it do not reach it: it has an ACK of its own.
TEST(Losses, APacketFarBehindTheNewestIsToldAtOnce) {
  EngineConfig config = with_slow_timer();
  config.ack_trigger = 4096;
  config.congestion =
      NsccConfig::of({.base_rtt = 10_us, .mtu = 1024, .packet_octets = 1080, .trimming = false});  // of a longer path
  Pair pair(config);
  pair.fate = [](const Seen& s) {
    return Fate{.lost = s.from == 0 && s.index == 10, .late = s.from == 0 && s.index == 12 ? 7_us : 0_us};
  };
  write_all(pair, 2 * kHundred);
  EXPECT_EQ(repeated(pair), 1u) << "the one that was lost";
  EXPECT_EQ(duplicates(pair), 0u);
}

// Plain ACKs do not say what has come behind a gap.
TEST(Losses, WithoutSacksNothingIsTakenForLostBecauseItWasOvertaken) {
  EngineConfig config = with_slow_timer();
  config.ack_cc = false;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.late = s.request() != nullptr && s.index == 20 ? 15_us : 0_us}; };
  write_all(pair);
  EXPECT_EQ(inferred(pair), 0u);
}

}  // namespace
}  // namespace railyard::uet
