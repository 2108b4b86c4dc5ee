// A sender keeps to what its peer takes (uet §5.4): MP_RANGE beyond the peer's CACK, whatever its own window.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

// The sender's window is four times what the other end takes.
EngineConfig wide(DeliveryMode mode = DeliveryMode::kRud) {
  EngineConfig c = test_config();
  c.window = c.mp_range = mode == DeliveryMode::kRud ? 512 : 1024;
  c.congestion = NoCongestionControl{};
  c.infer_loss = false;
  c.rto_init = 50_us;
  c.retries = 14;
  return c;
}
EngineConfig narrow() {
  EngineConfig c = wide();
  c.window = c.mp_range = 128;
  return c;
}

// One packet is lost again and again, so that CACK stays before it.
TEST(MpRange, NothingIsSentBeyondThePeersCackAndItsRange) {
  constexpr std::uint32_t kLost = 50;
  for (const DeliveryMode mode : {DeliveryMode::kRud, DeliveryMode::kRod}) {
    Pair pair({wide(mode), narrow()});
    std::uint32_t start = 0;
    bool lost = true;
    pair.fate = [&](const Seen& s) {
      if (s.from != 0 || s.request() == nullptr) return Fate{};
      if (s.index == 0) start = s.request()->psn;
      return Fate{.lost = lost && s.request()->psn == start + kLost};
    };
    pair.fill(0, 0, 600 * 1024);
    SendWr wr = pair.write(0, 1, 0, kTo, 600 * 1024);
    wr.mode = mode;
    pair.post(0, wr);
    pair.run_for(1_ms);
    std::uint32_t farthest = 0;
    for (const Seen& s : pair.log())
      if (s.from == 0 && s.request() != nullptr) farthest = std::max(farthest, s.request()->psn - start);
    EXPECT_EQ(farthest, kLost - 1 + 128) << "as far as it may, and no farther";
    lost = false;
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 600 * 1024));
    EXPECT_EQ(pair.counters(1).drops(Drop::kOutOfWindow), 0u);
    EXPECT_EQ(pair.counters(1).sent(NackCode::kPsnOorWindow), 0u);
    pair.expect_clean();
  }
}

// The other way round: a READ's data keep to what their reader takes.
TEST(MpRange, ATargetKeepsToItsReadersRange) {
  constexpr std::uint32_t kLost = 50;
  Pair pair({narrow(), wide()});
  std::uint32_t start = 0, farthest = 0;
  bool lost = true;
  pair.fate = [&](const Seen& s) {
    if (s.request() == nullptr) return Fate{};
    if (s.from == 0) {
      if (s.index == 0) start = s.request()->psn;
      return Fate{};
    }
    farthest = std::max(farthest, s.request()->psn - start);
    return Fate{.lost = lost && s.request()->psn == start + kLost};
  };
  pair.fill(1, 0, 600 * 1024);
  pair.post(0, pair.read(0, 1, kTo, 0, 600 * 1024));
  pair.run_for(1_ms);
  EXPECT_EQ(farthest, kLost - 1 + 128);
  lost = false;
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, kTo, 1, 0, 600 * 1024));
  EXPECT_EQ(pair.counters(0).drops(Drop::kOutOfWindow), 0u);
  pair.expect_clean();
}

// What an ACK that was overtaken says of the range is old; one that says nothing of it sets no limit.
TEST(MpRange, OnlyTheNewestAckCounts) {
  EngineConfig config = wide();
  config.idle_close = 1_s;
  Pair pair(config);
  pair.post(0, pair.write(0, 1, 0, kTo, 3000));
  pair.run_for(50_us);
  const auto first = std::get<PdsRequestValues>(pair.log().at(0).packet.pds);
  const Pdc* const pdc = pair.engine(0).pdc(PdcId{first.spdcid});
  ASSERT_NE(pdc, nullptr);
  const auto ack = [&](std::uint32_t psn, std::uint8_t mpr) {
    pair.inject(1, 0,
                {.pds = PdsAckValues{.type = PdsType::kAckCc,
                                     .next_hdr = NextHdr::kNone,
                                     .cack_psn = psn,
                                     .spdcid = pdc->remote,
                                     .dpdcid = first.spdcid,
                                     .mpr = mpr}});
    pair.run_for(5_us);
    return pdc->peer_range;
  };
  EXPECT_EQ(ack(first.psn + 2, 1), 128u);
  EXPECT_EQ(ack(first.psn + 1, 3), 128u) << "old";
  EXPECT_EQ(ack(first.psn + 2, 2), 256u);
  EXPECT_EQ(ack(first.psn + 2, 0), 0u) << "no limit";
}

// Answers are far away, and the first packet is lost: what is beyond the target's range has a syn, and would be none.
TEST(MpRange, BeforeAnyAckNoMoreIsSentThanAnyPeerTakes) {
  EngineConfig config = wide();
  config.first_range = 128;
  Pair pair({config, narrow()});
  pair.fate = [](const Seen& s) {
    return Fate{.lost = s.from == 0 && s.index == 0, .late = s.request() != nullptr ? 100_us : 0_us};
  };
  config.rto_init = 1_ms;
  pair.fill(0, 0, 300 * 1024);
  pair.post(0, pair.write(0, 1, 0, kTo, 300 * 1024));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, 300 * 1024));
  EXPECT_EQ(pair.counters(1).sent(NackCode::kInvalidSyn), 0u);
  EXPECT_EQ(pair.counters(0).pdcs_opened.read(), 1u);
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
