#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/switch/mmu.h"
#include "tests/dataplane/switch/cells.h"

namespace railyard {
namespace {

using namespace literals;
using Pfc = Mmu::Pfc;

// One cell is 100 octets, so sizes in cells are easily written.

// roce-and-lossless.md §11.3 written down with every part kept on its own.
struct Model {
  struct Group {
    std::uint32_t reserved = 0, shared = 0, headroom = 0;
    std::uint32_t reserved_max = 0, headroom_max = 0, xon_offset = 0, fixed = 0;
    int exponent = 0;
    bool lossless = false, paused = false;
  };
  struct Queue {
    std::uint32_t reserved = 0, shared = 0, reserved_max = 0;
    int exponent = 0;
    bool lossless = false;
  };
  std::uint32_t pool = 0, egress_pool = 0;
  std::vector<Group> groups;
  std::vector<Queue> queues;

  std::uint32_t shared_used() const {
    std::uint32_t sum = 0;
    for (const Group& g : groups) sum += g.shared;
    return sum;
  }
  std::uint32_t egress_used() const {
    std::uint32_t sum = 0;
    for (const Queue& q : queues) sum += q.shared;
    return sum;
  }
  static std::uint64_t scaled(std::uint64_t free, int exponent) {
    return exponent >= 0 ? free << exponent : free >> -exponent;
  }
  std::uint64_t threshold(const Group& g) const {
    return g.fixed > 0 ? g.fixed : scaled(pool - shared_used(), g.exponent);
  }

  Admission admit(std::size_t gi, std::size_t qi, std::uint32_t n, Pfc& pfc) {
    Group& g = groups[gi];
    Queue& q = queues[qi];
    const std::uint32_t to_reserved = std::min(n, g.reserved_max - g.reserved);
    const std::uint32_t rest = n - to_reserved;
    const bool fits = g.shared + rest <= threshold(g) && shared_used() + rest <= pool;
    const bool fits_headroom = g.lossless && g.headroom + rest <= g.headroom_max;
    if (rest > 0 && !fits && !fits_headroom) return g.lossless ? Admission::kHeadroomFull : Admission::kIngressFull;
    const std::uint32_t q_reserved = std::min(n, q.reserved_max - q.reserved);
    const std::uint32_t q_rest = n - q_reserved;
    const std::uint64_t q_free = egress_pool > egress_used() ? egress_pool - egress_used() : 0;
    if (!q.lossless && q_rest > 0 && q.shared + q_rest > scaled(q_free, q.exponent)) return Admission::kEgressFull;
    g.reserved += to_reserved;
    (fits ? g.shared : g.headroom) += rest;
    q.reserved += q_reserved;
    q.shared += q_rest;
    pfc = Pfc::kNothing;
    if (g.lossless && !g.paused && (g.headroom > 0 || g.shared >= threshold(g))) {
      g.paused = true;
      pfc = Pfc::kXoff;
    }
    return Admission::kAdmitted;
  }
  Pfc release(std::size_t gi, std::size_t qi, std::uint32_t n) {
    Group& g = groups[gi];
    Queue& q = queues[qi];
    std::uint32_t left = n;
    for (std::uint32_t* part : {&g.headroom, &g.shared, &g.reserved}) {
      const std::uint32_t from = std::min(left, *part);
      *part -= from;
      left -= from;
    }
    left = n;
    for (std::uint32_t* part : {&q.shared, &q.reserved}) {
      const std::uint32_t from = std::min(left, *part);
      *part -= from;
      left -= from;
    }
    if (!g.paused || g.headroom > 0) return Pfc::kNothing;
    if (g.shared > 0 && g.shared + g.xon_offset > threshold(g)) return Pfc::kNothing;
    g.paused = false;
    return Pfc::kXon;
  }
};

TEST(Mmu, BehavesAsTheModelUnderRandomOperations) {
  std::uint64_t xoffs = 0;
  std::array<std::uint64_t, 4> answers{};
  for (std::uint64_t round = 0; round < 60; ++round) {
    RngStream rng(Seed{round}, "mmu_test");
    const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(rng.below(n)); };
    Mmu mmu({.size = cells(2000), .cell = kCell});
    Model model;
    std::vector<Mmu::Group> groups;
    std::vector<Mmu::Queue> queues;
    std::uint32_t aside = 0;
    std::uint32_t egress_aside = 0;
    for (int i = 0; i < 6; ++i) {
      const bool lossless = draw(2) == 0;
      const ClassBuffer c{.lossless = lossless,
                          .reserved = cells(draw(3) * 20),
                          .alpha = {static_cast<std::int8_t>(draw(7) - 4)},
                          .xoff = cells(draw(3) == 0 ? 100 + draw(200) : 0),
                          .headroom = cells(lossless ? draw(4) * 40 : 0),
                          .xon_offset = cells(draw(60)),
                          .queue_reserved = cells(draw(3) * 20),
                          .queue_alpha = {static_cast<std::int8_t>(draw(7) - 4)}};
      groups.push_back(mmu.make_group(c));
      queues.push_back(mmu.make_queue(c));
      const auto n = [](Bytes b) { return static_cast<std::uint32_t>(b.n / kCell.n); };
      model.groups.push_back({.reserved_max = n(c.reserved),
                              .headroom_max = n(c.headroom),
                              .xon_offset = n(c.xon_offset),
                              .fixed = n(c.xoff),
                              .exponent = c.alpha.exponent,
                              .lossless = lossless});
      model.queues.push_back(
          {.reserved_max = n(c.queue_reserved), .exponent = c.queue_alpha.exponent, .lossless = lossless});
      aside += n(c.reserved) + n(c.headroom);
      egress_aside += n(c.queue_reserved);
    }
    ASSERT_TRUE(mmu.commit().has_value());
    model.pool = 2000 - aside;
    model.egress_pool = 2000 - egress_aside;
    ASSERT_EQ(mmu.shared_size(), model.pool);

    struct Frame {
      std::size_t group, queue;
      std::uint32_t n;
    };
    std::vector<Frame> frames;
    std::uint32_t most_shared = 0;
    for (int i = 0; i < 4000; ++i) {
      const bool filling = i / 500 % 2 == 0;  // up and down
      if (frames.empty() || rng.below(10) < (filling ? 7u : 3u)) {
        const Frame f{rng.below(6), rng.below(6), static_cast<std::uint32_t>(1 + rng.below(40))};
        Pfc pfc = Pfc::kNothing;
        Pfc expected_pfc = Pfc::kNothing;
        const Admission answer = mmu.admit(groups[f.group], queues[f.queue], f.n, pfc);
        ASSERT_EQ(answer, model.admit(f.group, f.queue, f.n, expected_pfc)) << "round " << round << " step " << i;
        ++answers[static_cast<std::size_t>(answer)];
        if (answer == Admission::kAdmitted) {
          ASSERT_EQ(pfc, expected_pfc) << "round " << round << " step " << i;
          frames.push_back(f);
          xoffs += pfc == Pfc::kXoff;
        }
      } else {
        const std::size_t which = rng.below(frames.size());
        const Frame f = frames[which];
        frames[which] = frames.back();
        frames.pop_back();
        ASSERT_EQ(mmu.release(groups[f.group], queues[f.queue], f.n), model.release(f.group, f.queue, f.n))
            << "round " << round << " step " << i;
      }
      std::uint32_t in_groups = 0;
      std::uint32_t in_queues = 0;
      std::uint32_t in_frames = 0;
      for (const Frame& f : frames) in_frames += f.n;
      for (std::size_t g = 0; g < 6; ++g) {
        const Model::Group& m = model.groups[g];
        ASSERT_EQ(groups[g].held, m.reserved + m.shared + m.headroom);
        ASSERT_EQ(groups[g].headroom, m.headroom);
        ASSERT_EQ(groups[g].shared(), m.shared);
        ASSERT_LE(groups[g].held, groups[g].max_held);
        ASSERT_EQ(queues[g].cells, model.queues[g].reserved + model.queues[g].shared);
        in_groups += groups[g].held;
        in_queues += queues[g].cells;
      }
      ASSERT_EQ(in_groups, in_frames) << "every cell is charged to a group";
      ASSERT_EQ(in_queues, in_frames) << "and to a queue";
      ASSERT_EQ(mmu.shared_used(), model.shared_used());
      most_shared = std::max(most_shared, model.shared_used());
    }
    ASSERT_EQ(mmu.max_shared_used(), most_shared);
    for (const Frame& f : frames) mmu.release(groups[f.group], queues[f.queue], f.n);
    EXPECT_EQ(mmu.shared_used(), 0u);
    for (const Mmu::Group& g : groups) EXPECT_FALSE(g.xoff) << "nobody stays paused by an empty buffer";
  }
  // The scenario reached every answer, often.
  for (const std::uint64_t n : answers) EXPECT_GT(n, 1000u);
  EXPECT_GT(xoffs, 300u);
}

}  // namespace
}  // namespace railyard
