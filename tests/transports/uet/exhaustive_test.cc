// Short exchanges with every fault at every packet, and at every two: data is exact, every message happens once, in
// order where that is promised, and nothing is left over.
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

enum class Fault { kLost, kDoubled, kDoubledLate, kLate, kTrimmed, kCorrupted, kMarked };
constexpr Fault kFaults[] = {Fault::kLost,    Fault::kDoubled,   Fault::kDoubledLate, Fault::kLate,
                             Fault::kTrimmed, Fault::kCorrupted, Fault::kMarked};

Fate fate_of(Fault fault) {
  switch (fault) {
    case Fault::kLost:
      return {.lost = true};
    case Fault::kDoubled:
      return {.copies = 2};
    case Fault::kDoubledLate:  // long after all is over
      return {.copies = 2, .copy_late = Duration{3'000'000'000}};
    case Fault::kLate:
      return {.late = Duration{5'000'000}};
    case Fault::kTrimmed:
      return {.trimmed = true};
    case Fault::kCorrupted:
      return {.corrupted = true};
    case Fault::kMarked:
      return {.marked = true};
  }
  return {};
}

// What is done, and what must have happened in the end.
struct Exchange {
  std::string_view name;
  void (*begin)(Pair&, DeliveryMode);
  void (*check)(Pair&, DeliveryMode);
};

SendWr in(DeliveryMode mode, SendWr wr) {
  wr.mode = mode;
  return wr;
}

const Exchange kExchanges[] = {
    {"two sends",
     [](Pair& pair, DeliveryMode mode) {
       pair.fill(0, 0, 3000);
       pair.receive(1, 11, kTo, 1500);
       pair.receive(1, 12, kTo + 1500, 1500);
       pair.post(0, in(mode, pair.send(0, 1, 0, 1500)));
       pair.post(0, in(mode, pair.send(0, 2, 1500, 1500)));
     },
     [](Pair& pair, DeliveryMode mode) {
       EXPECT_EQ(pair.text(0), "1:success 2:success");
       EXPECT_EQ(pair.text(1), "11:success 12:success");
       const bool swapped = pair.same(0, 0, 1, kTo + 1500, 1500) && pair.same(0, 1500, 1, kTo, 1500);
       EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000) || (mode == DeliveryMode::kRud && swapped));
     }},
    {"write",
     [](Pair& pair, DeliveryMode mode) {
       pair.fill(0, 0, 3000);
       SendWr wr = in(mode, pair.write(0, 1, 0, kTo, 3000));
       wr.header_data = 5;
       pair.post(0, wr);
     },
     [](Pair& pair, DeliveryMode) {
       EXPECT_EQ(pair.text(0), "1:success");
       EXPECT_EQ(pair.text(1), "0:success") << "told once";
       EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
     }},
    {"read",
     [](Pair& pair, DeliveryMode mode) {
       pair.fill(1, 0, 2000);
       pair.post(0, in(mode, pair.read(0, 1, kTo, 0, 2000)));
     },
     [](Pair& pair, DeliveryMode) {
       EXPECT_EQ(pair.text(0), "1:success");
       EXPECT_TRUE(pair.same(0, kTo, 1, 0, 2000));
     }},
    {"two atomics",
     [](Pair& pair, DeliveryMode mode) {
       pair.post(0, in(mode, pair.fetch_add(0, 1, kTo, kCounter, 1)));
       pair.post(0, in(mode, pair.fetch_add(0, 2, kTo + 8, kCounter, 1)));
     },
     [](Pair& pair, DeliveryMode mode) {
       EXPECT_EQ(pair.text(0), "1:success 2:success");
       std::uint64_t first = 0, second = 0, value = 0;
       std::memcpy(&first, pair.memory(0, kTo, 8).data(), 8);
       std::memcpy(&second, pair.memory(0, kTo + 8, 8).data(), 8);
       std::memcpy(&value, pair.memory(1, kCounter, 8).data(), 8);
       EXPECT_EQ(value, 2u) << "each one once";
       EXPECT_EQ(first + second, 1u);
       if (mode == DeliveryMode::kRod) {
         EXPECT_EQ(first, 0u);
       }
     }},
    {"two tagged sends",
     [](Pair& pair, DeliveryMode mode) {
       pair.fill(0, 0, 3000);
       pair.receive(1, {.wr_id = 11, .local = pair.local(1, kTo, 1500), .tagged = true, .match_bits = 4, .ignore = 1});
       pair.receive(1, {.wr_id = 12, .local = pair.local(1, kTo + 1500, 1500), .tagged = true, .match_bits = 5});
       pair.receive(1, {.wr_id = 13, .local = pair.local(1, kTo + 3000, 1500), .tagged = true, .match_bits = 6});
       pair.post(0, in(mode, pair.tagged(0, 1, 0, 1500, 5)));
       pair.post(0, in(mode, pair.tagged(0, 2, 1500, 1500, 5)));
     },
     [](Pair& pair, DeliveryMode mode) {
       EXPECT_EQ(pair.text(0), "1:success 2:success");
       EXPECT_EQ(pair.text(1), "11:success 12:success") << "and not the other tag's";
       const bool swapped = pair.same(0, 0, 1, kTo + 1500, 1500) && pair.same(0, 1500, 1, kTo, 1500);
       EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000) || (mode == DeliveryMode::kRud && swapped));
     }},
    {"atomics that return nothing or compare",
     [](Pair& pair, DeliveryMode mode) {
       SendWr add = in(mode, pair.fetch_add(0, 1, 0, kCounter + 8, 5));
       add.operation = Operation::kAtomic;
       add.local = {};
       pair.post(0, add);
       for (std::uint64_t i = 0; i < 2; ++i) {  // from 0 to 7 and on to 9
         SendWr swap = in(mode, pair.fetch_add(0, 2 + i, kTo + 8 * i, kCounter, i == 0 ? 7 : 9));
         swap.atomic = AtomicOpcode::kCswap;
         swap.compare = i == 0 ? 0 : 7;
         pair.post(0, swap);
       }
     },
     [](Pair& pair, DeliveryMode mode) {
       EXPECT_EQ(pair.text(0), "1:success 2:success 3:success");
       std::uint64_t found[2]{}, value[2]{};
       std::memcpy(found, pair.memory(0, kTo, 16).data(), 16);
       std::memcpy(value, pair.memory(1, kCounter, 16).data(), 16);
       EXPECT_EQ(value[1], 5u) << "once";
       EXPECT_EQ(found[0], 0u);
       const bool second_was_first = found[1] == 0 && value[0] == 7;
       EXPECT_TRUE((found[1] == 7 && value[0] == 9) || (mode == DeliveryMode::kRud && second_was_first));
     }},
    {"small read and refusal",
     [](Pair& pair, DeliveryMode mode) {
       pair.fill(1, 0, 9);
       SendWr wrong = in(mode, pair.write(0, 1, 0, kTo, 1500));
       wrong.memory_key ^= 0x100;
       pair.post(0, wrong);
       pair.post(0, in(mode, pair.read(0, 2, kTo, 0, 9)));
     },
     [](Pair& pair, DeliveryMode) {
       EXPECT_EQ(pair.text(0), "1:refused BAD_MKEY 2:success");
       EXPECT_TRUE(pair.same(0, kTo, 1, 0, 9));
     }},
    {"both ways",
     [](Pair& pair, DeliveryMode mode) {
       for (std::size_t e = 0; e < 2; ++e) {
         pair.fill(e, 0, 1000);
         pair.receive(e, 10, kTo, 1000);
         pair.post(e, in(mode, pair.send(e, 1, 0, 1000)));
       }
     },
     [](Pair& pair, DeliveryMode) {
       for (std::size_t e = 0; e < 2; ++e) {
         EXPECT_EQ(pair.text(e), "1:success 10:success");
         EXPECT_TRUE(pair.same(e, 0, 1 - e, kTo, 1000));
       }
     }},
};

using Faults = std::function<Fate(std::size_t)>;  // of the i-th packet on the wire

// Returns how many packets there were.
std::size_t run(const Exchange& exchange, DeliveryMode mode, const EngineConfig& config, const Faults& faults) {
  Pair pair(config);
  std::size_t n = 0;
  pair.fate = [&](const Seen&) { return faults(n++); };
  exchange.begin(pair, mode);
  pair.run();
  exchange.check(pair, mode);
  pair.expect_clean();
  if (testing::Test::HasFailure()) std::puts((pair.trace(0) + "\n" + pair.trace(1)).c_str());
  return n;
}

class Exhaustive : public testing::TestWithParam<DeliveryMode> {};
INSTANTIATE_TEST_SUITE_P(All, Exhaustive, testing::Values(DeliveryMode::kRud, DeliveryMode::kRod),
                         [](const auto& p) { return std::string(name(p.param)); });

// Of two faults one pair in eight each time; the long test tries all.
unsigned one_pair_in() { return std::getenv("RAILYARD_EXHAUSTIVE") != nullptr ? 1 : 8; }

TEST_P(Exhaustive, EveryFaultAtEveryPacketAndEveryTwo) {
  const unsigned one_in = one_pair_in();
  unsigned pair = 0;
  for (const Exchange& exchange : kExchanges) {
    const std::size_t packets = run(exchange, GetParam(), test_config(), [](std::size_t) { return Fate{}; });
    ASSERT_GE(packets, 3u);
    // Beyond the exchange itself is what the first fault brings about.
    for (std::size_t i = 0; i < packets + 2; ++i)
      for (const Fault a : kFaults)
        for (std::size_t j = i; j < packets + 2; ++j)
          for (const Fault b : kFaults) {
            if (i == j && a != b) continue;
            if (i != j && pair++ % one_in != 0) continue;
            SCOPED_TRACE(std::string(exchange.name) + ": " + std::to_string(static_cast<int>(a)) + " at " +
                         std::to_string(i) + ", " + std::to_string(static_cast<int>(b)) + " at " + std::to_string(j));
            run(exchange, GetParam(), test_config(), [&](std::size_t n) {
              return n == i ? fate_of(a) : n == j ? fate_of(b) : Fate{};
            });
            if (HasFailure()) return;
          }
  }
}

TEST_P(Exhaustive, EveryCombinationOfLossesAmongTheFirstTenPackets) {
  for (const Exchange& exchange : kExchanges)
    for (unsigned lost = 0; lost < 1u << 10; ++lost) {
      SCOPED_TRACE(std::string(exchange.name) + ": lost " + std::to_string(lost));
      run(exchange, GetParam(), test_config(),
          [&](std::size_t n) { return Fate{.lost = n < 10 && (lost >> n & 1) != 0}; });
      if (HasFailure()) return;
    }
}

// The same without state for congestion control in the ACKs, an ACK for each packet, several settings.
TEST_P(Exhaustive, EveryFaultAtEveryPacketWithOtherSettings) {
  EngineConfig plain = test_config();
  plain.ack_cc = false;
  plain.congestion = NoCongestionControl{};
  EngineConfig eager = test_config();
  eager.ack_trigger = 0;
  eager.window = 2;
  eager.multipath = {.policy = PathPolicy::kReps, .paths = 4};
  EngineConfig strict = test_config();
  strict.answer_all_duplicates = false;
  strict.probe = true;
  strict.multipath = {.policy = PathPolicy::kBitmap, .paths = 3};
  EngineConfig credit = test_config();
  credit.congestion = NoCongestionControl{};
  credit.credit = RcccConfig{.max_credit = 1500, .packet = 1084, .base_rtt = Duration{4'000'000}};
  credit.grants = {.grant = 1024, .max_ahead = 1500};
  EngineConfig both = credit;
  both.congestion = test_config().congestion;
  for (const EngineConfig& config : {plain, eager, strict, credit, both})
    for (const Exchange& exchange : kExchanges)
      for (std::size_t i = 0; i < 14; ++i)
        for (const Fault fault : kFaults) {
          SCOPED_TRACE(std::string(exchange.name) + ": " + std::to_string(static_cast<int>(fault)) + " at " +
                       std::to_string(i));
          run(exchange, GetParam(), config, [&](std::size_t n) { return n == i ? fate_of(fault) : Fate{}; });
          if (HasFailure()) return;
        }
}

}  // namespace
}  // namespace railyard::uet
