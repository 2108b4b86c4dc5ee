// What applications want of the buffers that they post, and of the names of their memory.
#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

TEST(Receives, OfOnePeerTakeItsMessagesOnly) {
  Pair pair(test_config(), 3);
  pair.receive(0, {.wr_id = 1, .local = pair.local(0, kTo, 100), .peer = pair.end(0).peers[2]});
  pair.receive(0, {.wr_id = 2,
                   .local = pair.local(0, kTo + 100, 100),
                   .tagged = true,
                   .match_bits = 5,
                   .peer = pair.end(0).peers[2]});
  SendWr from_1 = pair.send(1, 1, 0, 10), tagged_1 = pair.tagged(1, 2, 0, 10, 5);
  SendWr from_2 = pair.send(2, 1, 0, 20), tagged_2 = pair.tagged(2, 2, 0, 20, 5);
  for (SendWr* wr : {&from_1, &tagged_1}) {
    wr->peer = pair.end(1).peers[0];
    pair.post(1, *wr);
  }
  pair.run_for(Duration{50'000'000});
  EXPECT_TRUE(pair.completions(0).empty());
  for (SendWr* wr : {&from_2, &tagged_2}) {
    wr->peer = pair.end(2).peers[0];
    pair.post(2, *wr);
  }
  pair.run_for(Duration{50'000'000});
  const auto got = pair.completions(0);
  ASSERT_EQ(got.size(), 2u);
  for (const Completion& c : got) EXPECT_EQ(c.octets, 20u);
}

TEST(Receives, OfSeveralMessagesGiveEachItsPart) {
  Pair pair;
  pair.fill(0, 0, 1000);
  pair.post(0, pair.send(0, 1, 0, 300));  // before the buffer
  pair.run_for(Duration{50'000'000});
  pair.receive(1, {.wr_id = 9, .local = pair.local(1, kTo, 1000), .least_left = 250});
  pair.post(0, pair.send(0, 2, 300, 300));
  pair.run_for(Duration{50'000'000});
  pair.post(0, pair.send(0, 3, 600, 200));
  pair.run_for(Duration{50'000'000});
  const auto got = pair.completions(1);
  ASSERT_EQ(got.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i].wr_id, 9u);
    EXPECT_EQ(got[i].address, Pair::address(1) + kTo + 300 * i);
    EXPECT_EQ(got[i].last_of_buffer, i == 2);
  }
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 800));
}

TEST(Receives, AreTakenBack) {
  Pair pair;
  pair.receive(1, 1, kTo, 100);
  pair.receive(1, {.wr_id = 2, .local = pair.local(1, kTo + 100, 100), .tagged = true, .match_bits = 5});
  pair.receive(1, {.wr_id = 3, .local = pair.local(1, kTo + 200, 100), .least_left = 10});
  EXPECT_TRUE(pair.engine(1).cancel_receive(pair.end(1).context, 1));
  EXPECT_FALSE(pair.engine(1).cancel_receive(pair.end(1).context, 1));
  EXPECT_TRUE(pair.engine(1).cancel_receive(pair.end(1).context, 2));
  pair.post(0, pair.send(0, 1, 0, 30));
  pair.run_for(Duration{50'000'000});
  ASSERT_EQ(pair.completions(1).size(), 1u);
  const auto rest = pair.engine(1).cancel_receive(pair.end(1).context, 3);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->local.octets, 70u);
}

TEST(Receives, ClaimAMessageThatIsThere) {
  Pair pair;
  pair.fill(0, 0, 5000);
  pair.post(0, pair.tagged(0, 1, 0, 5000, 7));
  pair.run_for(Duration{50'000'000});
  const ContextId at = pair.end(1).context;
  EXPECT_FALSE(pair.engine(1).find_early(at, {.tagged = true, .match_bits = 8}));
  const auto found = pair.engine(1).find_early(at, {.tagged = true, .match_bits = 7});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->octets, 5000u);
  pair.engine(1).claim(*found);
  EXPECT_FALSE(pair.engine(1).find_early(at, {.tagged = true, .match_bits = 7}));
  pair.receive(1, {.wr_id = 1, .local = pair.local(1, kTo, 5000), .tagged = true, .match_bits = 7});
  EXPECT_TRUE(pair.completions(1).empty()) << "others do not get it";
  pair.engine(1).receive_claimed(pair.now(), *found, {.wr_id = 2, .local = pair.local(1, kTo + 5000, 5000)});
  const auto got = pair.completions(1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].wr_id, 2u);
  EXPECT_TRUE(pair.same(0, 0, 1, kTo + 5000, 5000));
}

// Its sender gives up in the middle of it.
TEST(Receives, ClaimAMessageThatNeverEnds) {
  Pair pair;
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index >= 2}; };
  pair.post(0, pair.tagged(0, 1, 0, 5000, 7));
  pair.run_for(Duration{5'000'000});
  const auto found = pair.engine(1).find_early(pair.end(1).context, {.tagged = true, .match_bits = 7});
  ASSERT_TRUE(found);
  pair.engine(1).claim(*found);
  pair.run();
  pair.engine(1).receive_claimed(pair.now(), *found, {.wr_id = 2, .local = pair.local(1, kTo, 5000)});
  const auto got = pair.completions(1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].wr_id, 2u);
  EXPECT_FALSE(got[0].ok());
  EXPECT_EQ(pair.engine(1).open_messages(), 0u);
}

TEST(Receives, OfAClosedContextAreOver) {
  Pair pair;
  pair.receive(1, 1, kTo, 100);
  pair.engine(1).close_context(pair.end(1).context);
  pair.post(0, pair.send(0, 1, 0, 30));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused BAD_INDEX");
  EXPECT_TRUE(pair.completions(1).empty());
}

TEST(Memory, IsNamedAsItsOwnerHasChosen) {
  EngineConfig config = test_config();
  config.chosen_keys = true;
  Pair pair(config);
  pair.fill(0, 0, 3000);
  EXPECT_TRUE(pair.engine(1).choose_key(0xC0DE'0000'0001, pair.end(1).key));
  EXPECT_FALSE(pair.engine(1).choose_key(0xC0DE'0000'0001, pair.end(1).key));
  SendWr wr = pair.write(0, 1, 0, kTo, 3000);
  pair.post(0, wr);  // by the region's own key
  wr.wr_id = 2;
  wr.memory_key = 0xC0DE'0000'0001;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:refused BAD_MKEY 2:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  pair.engine(1).give_up_key(0xC0DE'0000'0001);
  wr.wr_id = 3;
  pair.post(0, wr);
  pair.run();
  EXPECT_EQ(pair.text(0), "3:refused BAD_MKEY");
}

TEST(Memory, IsNamedByAddress) {
  EngineConfig config = test_config();
  config.virtual_addresses = true;
  Pair pair(config);
  pair.fill(0, 0, 3000);
  SendWr wr = pair.write(0, 1, 0, 0, 3000);
  wr.buffer_offset = Pair::address(1) + kTo;
  pair.post(0, wr);
  wr.wr_id = 2;
  wr.buffer_offset = Pair::address(1) - 1;
  pair.post(0, wr);
  SendWr read = pair.read(0, 3, kTo, 0, 3000);
  read.buffer_offset = Pair::address(1) + kTo;
  pair.run();
  pair.post(0, read);
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success 2:refused BAD_ADDR 3:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 3000));
  EXPECT_TRUE(pair.same(0, 0, 0, kTo, 3000));
}

TEST(Pdcids, AreThoseThatAnEngineWasGiven) {
  EngineConfig config = test_config();
  config.first_pdcid = 512;
  config.most_pdcs = 4;
  Pair pair(config);
  for (int i = 0; i < 20; ++i) {
    pair.receive(1, 1, kTo, 100);
    pair.post(0, pair.send(0, 1, 0, 100));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    pair.completions(1);
  }
  for (const Seen& s : pair.log())
    if (s.request() != nullptr) {
      EXPECT_GE(s.request()->spdcid, 512u);
      EXPECT_LT(s.request()->spdcid, 516u);
    }
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
