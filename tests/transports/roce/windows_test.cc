// Work that concerns one NIC alone: it is done in its turn, and completes in its turn.
#include <gtest/gtest.h>

#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

SendWr bind(MemoryRegions::Key region, MemoryRegions::Key window, std::uint64_t wr_id,
            std::uint32_t octets = 4096) {
  SendWr wr;
  wr.wr_id = wr_id;
  wr.opcode = SendOpcode::kBindWindow;
  wr.sges.push({Pair::address(1), octets, region});
  wr.r_key = window;
  wr.access = Access::kRemoteWrite;
  return wr;
}

class Windows : public ::testing::TestWithParam<bool> {
 protected:
  Windows() : pair(config()) {
    MemoryRegions& memory = pair.engine(1).memory();
    MemoryRegion r = *memory.region(pair.end(1).key);
    r.access = Access::kLocalWrite | Access::kBindWindow;
    region = memory.add(r).value();
    window = memory.add_window(r.domain).value();
  }
  static PairConfig config() {
    PairConfig c = rc_config(PathMtu::k1024);
    if (GetParam()) c.selective_repeat.emplace();
    return c;
  }
  Pair pair;
  MemoryRegions::Key region = 0, window = 0;
};
INSTANTIATE_TEST_SUITE_P(Recovery, Windows, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "SelectiveRepeat" : "GoBackN"; });

TEST_P(Windows, ABindCompletesBehindWhatWasPostedBefore) {
  pair.post(1, pair.write(1, 1, 0, 8192, 5000));
  pair.post(1, bind(region, window, 2));
  pair.post(1, pair.write(1, 3, 0, 8192, 5000));
  pair.run();
  EXPECT_EQ(pair.sent_text(1), "1:SUCCESS 2:SUCCESS 3:SUCCESS");
  SendWr write = pair.write(0, 4, 0, 0, 4096);
  write.r_key = window;
  pair.post(0, write);
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "4:SUCCESS");
}

TEST_P(Windows, LossesBeforeAndBehindABindAreRepaired) {
  for (const std::uint32_t lost : {0x200u, 0x204u, 0x205u, 0x209u}) {
    Pair p(config());
    MemoryRegions& memory = p.engine(1).memory();
    MemoryRegion r = *memory.region(p.end(1).key);
    r.access = Access::kLocalWrite | Access::kBindWindow;
    const auto key = memory.add(r).value();
    const auto open = memory.add_window(r.domain).value();
    p.fill(1, 0, 5000);
    p.fate = lose_first(1, psn_is(lost));
    p.post(1, p.write(1, 1, 0, 8192, 5000));
    p.post(1, bind(key, open, 2));
    p.post(1, bind(key, open, 3));
    p.post(1, p.write(1, 4, 0, 20000, 5000));
    p.post(1, bind(key, open, 5));
    p.run();
    EXPECT_EQ(p.sent_text(1), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS 5:SUCCESS") << lost;
    EXPECT_TRUE(p.same(1, 0, 0, 8192, 5000));
    EXPECT_TRUE(p.same(1, 0, 0, 20000, 5000));
    EXPECT_TRUE(p.books_balance());
  }
}

TEST_P(Windows, WhatCannotBeBoundIsAnErrorInItsTurn) {
  pair.post(1, pair.write(1, 1, 0, 8192, 5000));
  pair.post(1, bind(region, window, 2, Pair::kMemory + 1));
  pair.post(1, pair.write(1, 3, 0, 8192, 5000));
  pair.run();
  EXPECT_EQ(pair.sent_text(1), "1:SUCCESS 2:MW_BIND_ERR 3:WR_FLUSH_ERR");
}

TEST_P(Windows, AFencedInvalidationWaitsForReads) {
  pair.post(1, pair.read(1, 1, 0, 8192, 5000));
  SendWr wr;
  wr.wr_id = 2;
  wr.opcode = SendOpcode::kInvalidateLocal;
  wr.immediate = region;
  wr.fence = true;
  pair.post(1, wr);
  pair.run_until(pair.now() + Pair::kDelay);
  EXPECT_NE(pair.engine(1).memory().region(region), nullptr) << "the answer is on its way";
  pair.run();
  EXPECT_EQ(pair.sent_text(1), "1:SUCCESS 2:SUCCESS");
  EXPECT_EQ(pair.engine(1).memory().region(region), nullptr);
}

}  // namespace
}  // namespace railyard::roce
