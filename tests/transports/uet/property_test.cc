// Random work over a random wire: whatever is lost, late, doubled, trimmed, marked or damaged, what arrives is exact,
// every message happens once, ROD's in order. First faults (safety), then none (liveness).
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

struct Wire {
  unsigned lost, doubled, late, trimmed, damaged, marked;  // per mille
};

constexpr std::size_t kSlots = 24;
constexpr std::size_t kSlot = 9000;
constexpr std::size_t kOwn = 4096;
constexpr std::size_t kPeer = kOwn + kSlots * kSlot;

struct Totals {
  std::uint64_t retransmitted = 0, timeouts = 0, trimmed = 0, duplicates = 0, out_of_order = 0, inferred = 0;
};

// One initiator's half.
class Work {
 public:
  Work(Pair& pair, std::size_t end, DeliveryMode mode, std::uint64_t seed)
      : pair_(pair), end_(end), mode_(mode), rng_(Seed{seed}, end == 0 ? "a" : "b") {}

  void post_one() {
    const std::uint64_t id = next_++;
    const std::size_t octets = rng_.below(4) == 0 ? rng_.below(20) : rng_.below(kSlot);
    const std::size_t mine = kOwn + id % kSlots * kSlot, theirs = kPeer + id % kSlots * kSlot;
    SendWr wr{};
    Kind kind = Kind::kThere;
    switch (rng_.below(5)) {
      case 0:
        pair_.fill(end_, mine, octets, id);
        wr = pair_.tagged(end_, id, mine, octets, id);
        pair_.receive(
            1 - end_,
            {.wr_id = kReceived + id, .local = pair_.local(1 - end_, theirs, kSlot), .tagged = true, .match_bits = id});
        ++receives_;
        break;
      case 1:
      case 2:
        pair_.fill(end_, mine, octets, id);
        wr = pair_.write(end_, id, mine, theirs, octets);
        break;
      case 3:
        pair_.fill(1 - end_, theirs, octets, id);
        wr = pair_.read(end_, id, mine, theirs, octets);
        break;
      default:
        wr = pair_.fetch_add(end_, id, mine, kCounter, 1);
        kind = Kind::kAtomic;
        break;
    }
    wr.mode = mode_;
    expected_[id] = {kind, mine, theirs, kind == Kind::kAtomic ? 8 : octets};
    pair_.post(end_, wr);
  }

  void on_completion(const Completion& c) {
    ASSERT_TRUE(c.ok()) << c.wr_id << " " << name(c.status) << " " << name(c.return_code);
    const auto at = expected_.find(c.wr_id);
    ASSERT_NE(at, expected_.end()) << "once";
    const Expected& e = at->second;
    if (e.kind == Kind::kThere) {
      ASSERT_TRUE(pair_.same(end_, e.mine, 1 - end_, e.theirs, e.octets)) << c.wr_id;
    } else {
      std::uint64_t before = 0;
      std::memcpy(&before, pair_.memory(end_, e.mine, 8).data(), 8);
      ASSERT_TRUE(counted_.insert({before, c.wr_id}).second) << "each one once";
    }
    expected_.erase(at);
    ++done_;
  }

  // What they found was found in the order in which they were posted. (Their answers may overtake each other.)
  bool atomics_in_order() const {
    std::uint64_t last = 0;
    for (const auto& [before, id] : counted_) {
      if (id < last) return false;
      last = id;
    }
    return true;
  }
  // No slot is used by two at a time.
  bool room() const { return expected_.empty() || next_ - expected_.begin()->first < kSlots; }
  std::size_t waiting() const { return expected_.size(); }
  std::uint64_t done() const { return done_; }
  std::uint64_t atomics() const { return counted_.size(); }
  std::uint64_t receives() const { return receives_; }
  static constexpr std::uint64_t kReceived = 1'000'000;

 private:
  enum class Kind { kThere, kAtomic };
  struct Expected {
    Kind kind;
    std::size_t mine, theirs, octets;
  };
  Pair& pair_;
  std::size_t end_;
  DeliveryMode mode_;
  RngStream rng_;
  std::map<std::uint64_t, Expected> expected_;
  std::map<std::uint64_t, std::uint64_t> counted_;
  std::uint64_t next_ = 0, done_ = 0, receives_ = 0;
};

std::string run(DeliveryMode mode, std::uint64_t seed, const Wire& wire, std::size_t messages, Totals& totals) {
  RngStream chance(Seed{seed}, "wire");
  EngineConfig config = test_config();
  config.retries = 14;
  config.idle_close = Duration{static_cast<std::int64_t>(10'000'000 + chance.below(300'000'000))};
  config.ack_trigger = static_cast<std::uint32_t>(chance.below(32'768));
  config.ack_cc = chance.below(4) != 0;
  config.window = static_cast<std::uint32_t>(2 + chance.below(200));
  config.mp_range = 128u << chance.below(3);
  config.most_stored_responses = static_cast<std::uint32_t>(2 + chance.below(50));
  config.most_read_jobs = static_cast<std::uint32_t>(1 + chance.below(50));
  config.multipath = {.policy = static_cast<PathPolicy>(chance.below(5)),
                      .paths = static_cast<std::uint32_t>(1 + chance.below(64))};
  if (chance.below(4) == 0) config.congestion = NoCongestionControl{};
  if (chance.below(3) == 0) {
    const auto most = static_cast<std::int64_t>(1 + chance.below(100'000));
    config.credit = RcccConfig{.max_credit = most, .packet = 1084, .base_rtt = Duration{4'000'000}};
    config.grants = {.grant = static_cast<std::uint32_t>(256 + chance.below(8192)), .max_ahead = most};
  }
  config.probe = chance.below(2) == 0;
  config.infer_loss = chance.below(2) == 0;
  Pair pair(config);
  bool faults = true;
  pair.fate = [&](const Seen&) {
    Fate f;
    if (!faults) return f;
    f.lost = chance.below(1000) < wire.lost;
    f.copies = chance.below(1000) < wire.doubled ? 2 : 1;
    f.copy_late = Duration{static_cast<std::int64_t>(chance.below(200'000'000))};
    if (chance.below(1000) < wire.late) f.late = Duration{static_cast<std::int64_t>(chance.below(6'000'000))};
    f.trimmed = chance.below(1000) < wire.trimmed;
    f.corrupted = chance.below(1000) < wire.damaged;
    f.marked = chance.below(1000) < wire.marked;
    return f;
  };
  Work work[2] = {{pair, 0, mode, seed}, {pair, 1, mode, seed}};
  std::uint64_t received = 0;
  const auto check = [&] {
    for (std::size_t e = 0; e < 2; ++e)
      for (const Completion& c : pair.completions(e)) {
        if (c.wr_id < Work::kReceived) {
          work[e].on_completion(c);
        } else {
          ++received;
          ASSERT_TRUE(c.ok() && c.wr_id - Work::kReceived == c.match_bits);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
  };
  for (std::size_t i = 0; i < messages;) {
    for (Work& w : work)
      while (w.room() && i < messages && chance.below(4) != 0) w.post_one(), ++i;
    pair.run_for(Duration{static_cast<std::int64_t>(chance.below(100'000'000))});
    check();
    if (testing::Test::HasFatalFailure()) return "";
  }
  pair.run_for(Duration{1'000'000'000});
  faults = false;
  pair.run();
  check();
  EXPECT_EQ(work[0].waiting() + work[1].waiting(), 0u) << "all is complete once the faults have stopped";
  EXPECT_EQ(work[0].done() + work[1].done(), messages);
  EXPECT_EQ(received, work[0].receives() + work[1].receives());
  pair.expect_clean();
  for (std::size_t e = 0; e < 2; ++e) {
    std::uint64_t counter = 0;
    std::memcpy(&counter, pair.memory(e, kCounter, 8).data(), 8);
    EXPECT_EQ(counter, work[1 - e].atomics());
    EXPECT_TRUE(mode == DeliveryMode::kRud || work[1 - e].atomics_in_order());
    const Counters& c = pair.counters(e);
    totals.retransmitted += c.retransmitted_packets.read();
    totals.timeouts += c.retransmission_timeouts.read();
    totals.trimmed += c.received(NackCode::kTrimmed);
    totals.duplicates += c.drops(Drop::kDuplicate);
    totals.out_of_order += c.placed_out_of_order.read();
    totals.inferred += c.inferred_losses.read();
  }
  return pair.trace(0) + pair.trace(1);
}

Totals run_all(DeliveryMode mode) {
  constexpr Wire kWires[] = {{0, 0, 0, 0, 0, 0},      {10, 0, 0, 0, 0, 0}, {0, 30, 0, 0, 0, 0},
                             {0, 0, 30, 0, 0, 300},   {0, 0, 0, 50, 0, 0}, {10, 10, 10, 10, 10, 10},
                             {80, 50, 50, 50, 30, 50}};
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const Wire& wire : kWires) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", wire " + std::to_string(&wire - kWires));
      run(mode, seed, wire, 80, totals);
      if (testing::Test::HasFailure()) return totals;
    }
  EXPECT_GT(totals.retransmitted, 5'000u);
  EXPECT_GT(totals.timeouts, 300u);
  EXPECT_GT(totals.trimmed, 1'000u);
  EXPECT_GT(totals.duplicates, 1'000u);
  return totals;
}

TEST(UetProperty, DataIsExactAndMessagesHappenOnceOverRud) {
  const Totals totals = run_all(DeliveryMode::kRud);
  EXPECT_GT(totals.out_of_order, 5'000u);
  EXPECT_GT(totals.inferred, 0u);
}

TEST(UetProperty, AndOverRodInOrder) {
  const Totals totals = run_all(DeliveryMode::kRod);
  EXPECT_EQ(totals.out_of_order, 0u);
}

TEST(UetProperty, OneSeedIsOneRun) {
  const Wire wire{20, 20, 20, 20, 20, 20};
  Totals totals;
  EXPECT_EQ(run(DeliveryMode::kRud, 5, wire, 40, totals), run(DeliveryMode::kRud, 5, wire, 40, totals));
  EXPECT_NE(run(DeliveryMode::kRud, 5, wire, 40, totals), run(DeliveryMode::kRud, 6, wire, 40, totals));
}

}  // namespace
}  // namespace railyard::uet
