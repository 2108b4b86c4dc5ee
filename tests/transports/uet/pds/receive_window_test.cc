// What a receiver knows of PSNs (uet §5.4..§5.6, §5.8), by hand and against a model that keeps sets.
#include "transports/uet/pds/receive_window.h"

#include <set>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard::uet {
namespace {

using Place = ReceiveWindow::Place;

ReceiveWindow begun(std::uint32_t start, std::uint32_t range = 128) {
  ReceiveWindow w(range);
  w.start(Psn(start));
  return w;
}

TEST(ReceiveWindow, NothingIsThereAtFirst) {
  const ReceiveWindow w = begun(0x12345);
  EXPECT_EQ(w.cack(), Psn(0x12344));
  EXPECT_EQ(w.place(Psn(0x12344)), Place::kDuplicate) << "before the first one";
  EXPECT_EQ(w.place(Psn(0x12345)), Place::kNew);
  EXPECT_EQ(w.place(Psn(0x12344 + 128)), Place::kNew);
  EXPECT_EQ(w.place(Psn(0x12344 + 129)), Place::kBeyond);
  EXPECT_EQ(w.place(Psn(0x12344 - 127)), Place::kDuplicate);
  EXPECT_EQ(w.place(Psn(0x12344 - 128)), Place::kBeyond) << "so old that it cannot be ours";
}

TEST(ReceiveWindow, CackFollowsWhatHasComeInSequence) {
  ReceiveWindow w = begun(100);
  w.accept(Psn(100), false);
  w.accept(Psn(102), false);
  w.accept(Psn(103), false);
  EXPECT_EQ(w.cack(), Psn(100));
  EXPECT_EQ(w.ooo_count(), 2u);
  EXPECT_EQ(w.place(Psn(102)), Place::kDuplicate);
  w.accept(Psn(101), false);
  EXPECT_EQ(w.cack(), Psn(103));
  EXPECT_EQ(w.ooo_count(), 0u);
}

TEST(ReceiveWindow, TheReferencesExampleOfASack) {
  // uet §15 E4: CACK 0x12350, ACK_PSN 0x12355; base 0x12352, bitmap 0x0B.
  ReceiveWindow w = begun(0x12345);
  for (std::uint32_t p = 0x12345; p <= 0x12350; ++p) w.accept(Psn(p), false);
  for (const std::uint32_t p : {0x12352u, 0x12353u, 0x12355u}) w.accept(Psn(p), false);
  EXPECT_EQ(w.cack(), Psn(0x12350));
  EXPECT_EQ(w.sack(Psn(0x12352)), 0x0Bu);
  EXPECT_EQ(w.ooo_count(), 3u);
}

TEST(ReceiveWindow, CackStopsAtAGuaranteedResponseUntilItIsCleared) {
  ReceiveWindow w = begun(100);
  w.accept(Psn(100), false);
  w.accept(Psn(101), true);
  w.accept(Psn(102), false);
  EXPECT_EQ(w.cack(), Psn(100));
  EXPECT_EQ(w.expected(), Psn(103));
  EXPECT_EQ(w.ooo_count(), 0u) << "nothing is missing";
  EXPECT_EQ(w.sack(Psn(101)) & 3, 3u);
  EXPECT_FALSE(w.clear(Psn(103))) << "of a packet that never came";
  EXPECT_TRUE(w.clear(Psn(101)));
  EXPECT_EQ(w.cack(), Psn(102));
  EXPECT_FALSE(w.clear(Psn(101))) << "said before";
}

TEST(ReceiveWindow, AResponseCanBeHeldLaterAndReleased) {
  ReceiveWindow w = begun(100);
  w.accept(Psn(101), false);
  EXPECT_TRUE(w.hold(Psn(101)));
  w.accept(Psn(100), false);
  EXPECT_EQ(w.cack(), Psn(100));
  EXPECT_FALSE(w.hold(Psn(100))) << "acknowledged already";
  EXPECT_FALSE(w.hold(Psn(102))) << "not there";
  w.release(Psn(101));
  EXPECT_EQ(w.cack(), Psn(101));
}

// The same with sets.
struct Model {
  std::uint32_t start, range;
  std::set<std::uint64_t> got{}, held{};  // counted from 0
  std::uint64_t cack = 0, clear = 0;      // how many are
  std::uint64_t in_sequence = 0;
  std::uint64_t expected() {
    while (got.contains(in_sequence)) ++in_sequence;
    return in_sequence;
  }
  void advance() {
    while (got.contains(cack) && !held.contains(cack)) ++cack;
  }
};

TEST(ReceiveWindow, IsAsTheModelSaysWhateverComes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RngStream chance(Seed{seed}, "window");
    Model m{.start = static_cast<std::uint32_t>(0) - static_cast<std::uint32_t>(chance.below(300)),
            .range = 128u << chance.below(3)};
    ReceiveWindow w = begun(m.start, m.range);
    const auto psn = [&](std::uint64_t i) { return Psn(static_cast<std::uint32_t>(m.start + i)); };
    for (int step = 0; step < 1500; ++step) {
      const std::uint64_t i = m.cack + chance.below(chance.below(4) == 0 ? m.range + 20 : 12);
      if (i >= m.cack + m.range) {
        ASSERT_EQ(w.place(psn(i)), Place::kBeyond);
      } else if (m.got.contains(i)) {
        ASSERT_EQ(w.place(psn(i)), Place::kDuplicate);
      } else {
        ASSERT_EQ(w.place(psn(i)), Place::kNew);
        const bool held = chance.below(10) == 0;
        w.accept(psn(i), held);
        m.got.insert(i);
        if (held) m.held.insert(i);
      }
      if (chance.below(6) == 0) {
        const std::uint64_t to = m.cack + chance.below(6);
        const bool can = to < m.expected() && to + 1 > m.clear;
        ASSERT_EQ(w.clear(psn(to)), can);
        if (can) {
          m.clear = to + 1;
          m.held.erase(m.held.begin(), m.held.upper_bound(to));
        }
      }
      m.advance();
      ASSERT_EQ(w.cack() + 1, psn(m.cack));
      ASSERT_EQ(w.expected(), psn(m.expected()));
      std::uint64_t beyond = 0;
      for (auto g = m.got.lower_bound(m.expected()); g != m.got.end(); ++g) ++beyond;
      ASSERT_EQ(w.ooo_count(), beyond);
      const std::uint64_t base = m.cack + chance.below(m.range + 100);
      std::uint64_t sack = 0;
      for (std::uint64_t b = 0; b < 64; ++b) sack |= std::uint64_t{m.got.contains(base + b) ? 1u : 0u} << b;
      ASSERT_EQ(w.sack(psn(base)), sack) << seed << " " << step;
    }
    EXPECT_GT(m.cack, 200u);
  }
}

}  // namespace
}  // namespace railyard::uet
