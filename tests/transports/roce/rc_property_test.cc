// Random work on a random wire: whatever is lost, late, doubled or damaged, what arrives is exact, atomics happen once,
// and completions come in order. First faults (safety), then none (liveness).
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/rng.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

struct Wire {
  unsigned lost, doubled, late, damaged;  // per mille
};

// One requester's half of a run.
class Work {
 public:
  Work(Pair& pair, std::size_t end, std::uint64_t seed)
      : pair_(pair), end_(end), rng_(Seed{seed}, end == 0 ? "a" : "b") {}

  void post_one() {
    const std::uint64_t id = next_++;
    const std::size_t octets = rng_.below(4) == 0 ? rng_.below(16) : rng_.below(6000);
    const std::size_t slot = id % kSlots;
    const std::size_t mine = kOwn + slot * kSlot;
    const std::size_t theirs = kPeer + slot * kSlot;
    SendWr wr{};
    switch (rng_.below(6)) {
      case 0:
      case 1:
        receives_.push_back({id, theirs});
        pair_.fill(end_, mine, octets, id);
        wr = pair_.send(end_, id, mine, octets);
        expected_[id] = {Kind::kThere, mine, theirs, octets};
        break;
      case 2:
      case 3:
        pair_.fill(end_, mine, octets, id);
        wr = pair_.write(end_, id, mine, theirs, octets);
        expected_[id] = {Kind::kThere, mine, theirs, octets};
        break;
      case 4:
        pair_.fill(1 - end_, theirs, octets, id);
        wr = pair_.read(end_, id, mine, theirs, octets);
        expected_[id] = {Kind::kThere, mine, theirs, octets};
        break;
      default:
        wr = pair_.fetch_add(end_, id, mine, kCounterAt, 1);
        expected_[id] = {Kind::kAtomic, mine, theirs, 8};
        break;
    }
    wr.fence = rng_.below(8) == 0;
    pair_.post(end_, wr);
  }

  // Receive requests are posted late: RNR NAKs come of it.
  void post_receives(std::size_t most) {
    for (; most > 0 && !receives_.empty(); --most, receives_.pop_front())
      pair_.receive(1 - end_, receives_.front().id, receives_.front().at, kSlot);
  }

  // What has completed is looked at while its place is still its own.
  void check() {
    for (const Completion& c : pair_.sent(end_)) {
      ASSERT_TRUE(c.ok()) << name(c.status);
      ASSERT_EQ(c.wr_id, done_++) << "in order";
      const Expected& e = expected_[c.wr_id];
      if (e.kind == Kind::kThere) {
        ASSERT_TRUE(pair_.same(end_, e.mine, 1 - end_, e.theirs, e.octets)) << c.wr_id;
      } else {
        std::uint64_t before = 0;
        std::memcpy(&before, pair_.memory(end_, e.mine, 8).data(), 8);
        ASSERT_EQ(before, atomics_++) << "each one once, in order";
      }
      expected_.erase(c.wr_id);
    }
    for (const Completion& c : pair_.received(1 - end_)) {
      ASSERT_TRUE(c.ok());
      ASSERT_GE(c.wr_id, received_) << "in order";
      received_ = c.wr_id + 1;
    }
  }

  std::size_t waiting() const { return next_ - done_; }
  std::uint64_t done() const { return done_; }
  std::uint64_t atomics() const { return atomics_; }

  static constexpr std::size_t kSlots = 32;
  static constexpr std::size_t kSlot = 6016;
  static constexpr std::size_t kOwn = 4096;
  static constexpr std::size_t kPeer = kOwn + kSlots * kSlot;  // in the peer's memory
  static constexpr std::size_t kCounterAt = 64;

 private:
  enum class Kind { kThere, kAtomic };
  struct Expected {
    Kind kind;
    std::size_t mine, theirs, octets;
  };
  struct Receive {
    std::uint64_t id;
    std::size_t at;
  };
  Pair& pair_;
  std::size_t end_;
  RngStream rng_;
  std::map<std::uint64_t, Expected> expected_;
  std::deque<Receive> receives_;
  std::uint64_t next_ = 0, done_ = 0, received_ = 0, atomics_ = 0;
};

// How often what is tested here has happened, over all runs.
struct Totals {
  std::uint64_t retransmitted = 0, sequence_naks = 0, implied_naks = 0, timeouts = 0, rnr_naks = 0, duplicates = 0;
  std::uint64_t placed_out_of_order = 0;
};

enum class Recovery { kGoBackN, kSelectiveRepeat };

std::string run(Recovery recovery, std::uint64_t seed, const Wire& wire, std::size_t messages, Totals& totals) {
  RngStream chance(Seed{seed}, "wire");
  PairConfig config;
  config.attributes.path_mtu = static_cast<PathMtu>(1 + chance.below(5));
  config.attributes.timeout = 4;  // 65 us
  config.attributes.min_rnr_timer = 1;
  config.attributes.max_rd_atomic = config.attributes.max_dest_rd_atomic =
      static_cast<std::uint16_t>(1 + chance.below(8));
  config.engine.retry_7_is_endless = true;
  config.engine.ack_every = static_cast<std::uint32_t>(1 + chance.below(20));
  config.engine.window_packets = static_cast<std::uint32_t>(chance.below(3) == 0 ? 0 : 1 + chance.below(40));
  if (recovery == Recovery::kSelectiveRepeat)
    config.selective_repeat = {.bdp_packets = static_cast<std::uint32_t>(1 + chance.below(100)),
                               .window_packets = static_cast<std::uint32_t>(1 + chance.below(200)),
                               .reorder_packets = static_cast<std::uint32_t>(1 + chance.below(8)),
                               .rto_low = Duration{30'000'000},
                               .rto_high = Duration{65'000'000}};
  config.psn0 = static_cast<std::uint32_t>(chance.next()) & Psn::kMax;
  config.psn1 = Psn::kMax - static_cast<std::uint32_t>(chance.below(200));
  Pair pair(config);
  bool faults = true;
  pair.fate = [&](const Seen&) {
    Fate f;
    if (!faults) return f;
    f.lost = chance.below(1000) < wire.lost;
    f.copies = chance.below(1000) < wire.doubled ? 2 : 1;
    if (chance.below(1000) < wire.late) f.late = Duration{static_cast<std::int64_t>(chance.below(3'000'000))};
    f.corrupted = chance.below(1000) < wire.damaged;
    return f;
  };
  Work a(pair, 0, seed), b(pair, 1, seed);
  for (std::size_t i = 0; i < messages;) {
    for (Work* w : {&a, &b})
      while (w->waiting() < Work::kSlots / 2 && i < messages && chance.below(4) != 0) w->post_one(), ++i;
    pair.run_until(pair.now() + Duration{static_cast<std::int64_t>(chance.below(50'000'000))});
    a.check();
    b.check();
    for (Work* w : {&a, &b}) w->post_receives(chance.below(6));
    if (testing::Test::HasFatalFailure()) return "";
  }
  pair.run_until(pair.now() + Duration{1'000'000'000});
  faults = false;
  for (Work* w : {&a, &b}) w->post_receives(Work::kSlots);
  pair.run();
  a.check();
  b.check();
  EXPECT_EQ(a.waiting() + b.waiting(), 0u) << "all is complete once the faults have stopped";
  EXPECT_EQ(a.done() + b.done(), messages);
  EXPECT_TRUE(pair.books_balance());
  for (std::size_t end = 0; end < 2; ++end) {
    std::uint64_t counter = 0;
    std::memcpy(&counter, pair.memory(end, Work::kCounterAt, 8).data(), 8);
    EXPECT_EQ(counter, (end == 0 ? b : a).atomics());
  }
  for (std::size_t end = 0; end < 2; ++end) {
    const Counters& c = pair.counters(end);
    totals.retransmitted += c.retransmitted_packets.read();
    totals.sequence_naks += c.packet_seq_err.read();
    totals.implied_naks += c.implied_nak_seq_err.read();
    totals.timeouts += c.local_ack_timeout_err.read();
    totals.rnr_naks += c.rnr_nak_received.read();
    totals.placed_out_of_order += c.placed_out_of_order.read();
    totals.duplicates += c.duplicate_request.read();
  }
  return pair.trace(0) + pair.trace(1);
}

Totals run_all(Recovery recovery) {
  constexpr Wire kWires[] = {{0, 0, 0, 0},  {10, 0, 0, 0},    {0, 30, 0, 0},   {0, 0, 30, 0},
                             {0, 0, 0, 10}, {10, 10, 10, 10}, {80, 50, 50, 30}};
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const Wire& wire : kWires) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", wire " + std::to_string(&wire - kWires));
      run(recovery, seed, wire, 60, totals);
      if (testing::Test::HasFatalFailure()) return totals;
    }
  EXPECT_GT(totals.timeouts, 1'000u);
  EXPECT_GT(totals.rnr_naks, 1'000u);
  EXPECT_GT(totals.duplicates, 1'000u);
  EXPECT_GT(totals.sequence_naks, 1'000u);
  return totals;
}

TEST(RcProperty, DataIsExactAndAtomicsHappenOnceWhateverTheWireDoes) {
  const Totals totals = run_all(Recovery::kGoBackN);
  EXPECT_GT(totals.retransmitted, 10'000u);
  EXPECT_GT(totals.implied_naks, 1'000u);
  EXPECT_EQ(totals.placed_out_of_order, 0u);
}

TEST(RcProperty, AndSoWithSelectiveRepeat) {
  const Totals totals = run_all(Recovery::kSelectiveRepeat);
  EXPECT_GT(totals.retransmitted, 5'000u);
  EXPECT_GT(totals.placed_out_of_order, 5'000u);
}

TEST(RcProperty, OneSeedIsOneRun) {
  const Wire wire{20, 20, 20, 20};
  Totals totals;
  for (const Recovery r : {Recovery::kGoBackN, Recovery::kSelectiveRepeat}) {
    EXPECT_EQ(run(r, 5, wire, 40, totals), run(r, 5, wire, 40, totals));
    EXPECT_NE(run(r, 5, wire, 40, totals), run(r, 6, wire, 40, totals));
  }
}

}  // namespace
}  // namespace railyard::roce
