// Numbers that come round: PSNs past 2^32, in both directions of a PDC, and message ids past 2^16 (uet §0.2, §6.2).
#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

// A Start_PSN that no initiator draws, but a target may ask for (NEW_START_PSN): so many before the end.
constexpr std::uint32_t kBeforeEnd = 12;
constexpr std::uint32_t kStart = 0u - kBeforeEnd;

class PsnWrap : public testing::TestWithParam<DeliveryMode> {
 protected:
  SendWr in_mode(SendWr wr) const {
    wr.mode = GetParam();
    return wr;
  }
  // All that was posted is sent anew from kStart on; nothing of it was heard before.
  static void start_near_the_end(Pair& pair) {
    pair.fate = [](const Seen&) { return Fate{.lost = true}; };
    pair.run_for(100_ns);
    const auto first = std::get<PdsRequestValues>(pair.log().at(0).packet.pds);
    pair.inject(
        1, 0,
        {.pds = PdsNackValues{
             .code = NackCode::kNewStartPsn, .nack_psn = first.psn, .dpdcid = first.spdcid, .payload = kStart}});
    pair.run_for(Pair::kDelay - 1_ns);
    pair.fate = nullptr;
  }
  // Work that has many packets each way: two SENDs and a WRITE one way, a READ the other, and two atomics between them.
  static constexpr std::size_t kOctets = 20'000;
  void post_all(Pair& pair) const {
    pair.fill(0, 0, 3 * kOctets);
    pair.fill(1, 700'000, kOctets, 2);
    pair.receive(1, 11, kTo, kOctets);
    pair.receive(1, 12, kTo + kOctets, kOctets);
    pair.post(0, in_mode(pair.send(0, 1, 0, kOctets)));
    pair.post(0, in_mode(pair.fetch_add(0, 2, 900'000, kCounter, 1)));
    pair.post(0, in_mode(pair.read(0, 3, 700'000, 700'000, kOctets)));
    pair.post(0, in_mode(pair.write(0, 4, 2 * kOctets, kTo + 2 * kOctets, kOctets)));
    pair.post(0, in_mode(pair.fetch_add(0, 5, 900'008, kCounter, 1)));
    pair.post(0, in_mode(pair.send(0, 6, kOctets, kOctets)));
  }
  void expect_all(Pair& pair) const {
    EXPECT_EQ(pair.text(0), "1:success 2:success 3:success 4:success 5:success 6:success");
    EXPECT_EQ(pair.text(1), "11:success 12:success");
    const bool swapped = pair.same(0, 0, 1, kTo + kOctets, kOctets) && pair.same(0, kOctets, 1, kTo, kOctets);
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 2 * kOctets) || (GetParam() == DeliveryMode::kRud && swapped));
    EXPECT_TRUE(pair.same(0, 2 * kOctets, 1, kTo + 2 * kOctets, kOctets));
    EXPECT_TRUE(pair.same(0, 700'000, 1, 700'000, kOctets));
    std::uint64_t value = 0, found[2]{};
    std::memcpy(&value, pair.memory(1, kCounter, 8).data(), 8);
    std::memcpy(found, pair.memory(0, 900'000, 16).data(), 16);
    EXPECT_EQ(value, 2u) << "each one once";
    EXPECT_EQ(found[0] + found[1], 1u);
    pair.expect_clean();
    // Both ends have sent on both sides of the end of the numbers.
    for (std::size_t end = 0; end < 2; ++end)
      for (const bool past : {false, true})
        EXPECT_GT(pair.count(end,
                             [&](const Seen& s) {
                               return s.request() != nullptr &&
                                      (past ? s.request()->psn < 1000 : s.request()->psn >= kStart);
                             }),
                  0u);
  }
};
INSTANTIATE_TEST_SUITE_P(All, PsnWrap, testing::Values(DeliveryMode::kRud, DeliveryMode::kRod),
                         [](const auto& p) { return std::string(name(p.param)); });

TEST_P(PsnWrap, WithoutLossNothingIsSentTwice) {
  Pair pair;
  post_all(pair);
  start_near_the_end(pair);
  const std::size_t seen = pair.log().size();
  pair.run();
  expect_all(pair);
  std::set<std::uint32_t> psns[2];
  for (std::size_t i = seen; i < pair.log().size(); ++i)
    if (const Seen& s = pair.log()[i]; s.request() != nullptr) {
      EXPECT_TRUE(psns[s.from].insert(s.request()->psn).second);
    }
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
  EXPECT_EQ(pair.counters(1).retransmitted_packets.read(), 0u);
}

// Every packet around the wrap is lost, late, doubled or cut once, whichever way it goes.
TEST_P(PsnWrap, AnyPacketAroundItIsLostLateDoubledOrCut) {
  const Fate faults[] = {{.lost = true}, {.late = 5_us}, {.copies = 2, .copy_late = 50_us}, {.trimmed = true}};
  for (std::size_t at = 0; at < 90; ++at)
    for (const Fate& fault : faults) {
      SCOPED_TRACE(at);
      Pair pair;
      post_all(pair);
      start_near_the_end(pair);
      std::size_t n = 0;
      pair.fate = [&](const Seen&) { return n++ == at ? fault : Fate{}; };
      pair.run();
      expect_all(pair);
      if (HasFailure()) return;
    }
}

TEST_P(PsnWrap, ManyOfThemAtRandom) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    EngineConfig config = test_config();
    config.retries = 14;
    config.ack_cc = seed % 4 != 0;
    config.window = seed % 3 == 0 ? 8 : 512;
    config.infer_loss = seed % 2 == 0;
    Pair pair(config);
    post_all(pair);
    start_near_the_end(pair);
    RngStream chance(Seed{seed}, "wrap");
    pair.fate = [&](const Seen&) {
      Fate f;
      f.lost = chance.below(100) < 8;
      f.copies = chance.below(100) < 8 ? 2 : 1;
      f.copy_late = Duration{static_cast<std::int64_t>(chance.below(100'000'000))};
      if (chance.below(100) < 15) f.late = Duration{static_cast<std::int64_t>(chance.below(8'000'000))};
      f.trimmed = chance.below(100) < 8;
      return f;
    };
    pair.run();
    expect_all(pair);
    if (HasFailure()) return;
  }
}

// A READ whose data do not come is open while 65,540 other messages come and go on its PDC: its id is nobody else's.
TEST(MessageIdWrap, AnIdOfAnOpenMessageIsSkippedAndOthersAreUsedAgain) {
  constexpr std::uint64_t kOthers = 65'540;
  constexpr std::size_t kRoom = 60'000, kPlaceOfRead = 1'000'000;
  EngineConfig config = test_config();
  config.ack_trigger = 4096;
  Pair pair(config);
  bool lost = true;
  pair.fate = [&](const Seen& s) { return Fate{.lost = lost && s.from == 1 && s.request() != nullptr}; };
  pair.fill(1, 0, 2000);
  pair.fill(0, 0, kRoom * 8, 5);
  pair.post(0, pair.read(0, kOthers, kPlaceOfRead, 0, 2000));
  for (std::uint64_t i = 0; i < kOthers; ++i) {
    SendWr wr = pair.write(0, i, i % kRoom * 8, kTo + i % kRoom * 8, 8);
    wr.signaled = i % 1000 == 0;
    pair.post(0, wr);
  }
  while (pair.engine(0).open_messages() > 1 && pair.now() < Instant{} + 1_s) pair.run_for(100_us);
  ASSERT_EQ(pair.engine(0).open_messages(), 1u) << "only the READ";
  EXPECT_EQ(pair.completions(0).size(), (kOthers + 999) / 1000);
  lost = false;
  pair.run();
  EXPECT_EQ(pair.text(0), std::to_string(kOthers) + ":success");
  EXPECT_TRUE(pair.same(0, kPlaceOfRead, 1, 0, 2000));
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, kRoom * 8));
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 1u);

  std::optional<std::uint16_t> of_read;
  std::vector<unsigned> used(1 << 16);
  std::set<std::uint32_t> psns;
  for (const Seen& s : pair.log()) {
    const auto* const ses = std::get_if<SesRequestValues>(&s.packet.ses);
    if (s.from != 0 || s.request() == nullptr || ses == nullptr) continue;
    if (ses->opcode == SesOpcode::kRead) {
      of_read = ses->message_id;
    } else if (psns.insert(s.request()->psn).second) {
      ++used[ses->message_id];
    }
  }
  ASSERT_TRUE(of_read);
  EXPECT_EQ(used[0], 0u) << "0 is no id";
  EXPECT_EQ(used[*of_read], 0u);
  EXPECT_EQ(std::ranges::count(used, 2u), kOthers - 65'534) << "that many came round";
  EXPECT_EQ(std::ranges::count(used, 1u), 65'534 - static_cast<std::ptrdiff_t>(kOthers - 65'534));
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
