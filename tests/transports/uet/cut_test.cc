// What switches cut (trim) not once but again and again.
#include <cstddef>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr std::size_t kOften = 255;  // as often as is counted

// In silence it would be given up after 400 us.
EngineConfig impatient() {
  EngineConfig config = test_config();
  config.rto_init = 100_us;
  config.retries = 1;
  config.target_idle = 1_ms;
  return config;
}

bool has_data(const Seen& s) { return s.request() != nullptr || std::holds_alternative<PdsRudiValues>(s.packet.pds); }

class Cut : public testing::TestWithParam<DeliveryMode> {
 protected:
  SendWr write(const Pair& pair, std::size_t octets) const {
    SendWr wr = pair.write(0, 1, 0, kTo, octets);
    wr.mode = GetParam();
    if (wr.mode == DeliveryMode::kRudi) wr.memory_key |= kIdempotentSafe;
    return wr;
  }
};
INSTANTIATE_TEST_SUITE_P(
    All, Cut, testing::Values(DeliveryMode::kRud, DeliveryMode::kRod, DeliveryMode::kRudi), [](const auto& mode) {
      return std::string(mode.param == DeliveryMode::kRud ? "rud" : mode.param == DeliveryMode::kRod ? "rod" : "rudi");
    });

// A switch that never has room for it: the message fails, nothing goes on, and nothing is left.
TEST_P(Cut, ForEverItsMessageFailsInTheEnd) {
  Pair pair(impatient());
  std::size_t sent = 0;
  pair.fate = [&](const Seen& s) {
    const bool cut = s.from == 0 && has_data(s);
    sent += cut ? 1u : 0u;
    return Fate{.trimmed = cut};
  };
  pair.post(0, write(pair, 3000));
  pair.run_for(100_ms);
  EXPECT_EQ(pair.text(0), "1:retry_exceeded");
  EXPECT_GE(sent, kOften);
  const std::size_t until_then = sent;
  pair.run();
  EXPECT_EQ(sent, until_then);
  pair.expect_clean();
}

// As often, but not for as long as silence is listened to; and for long, but not as often.
TEST_P(Cut, ForAWhileItGetsThereInTheEnd) {
  for (const bool often : {true, false}) {
    EngineConfig config = impatient();
    if (often) config.retries = 12;  // 0.8 s
    Pair pair(config);
    std::size_t sent = 0;
    pair.fate = [&](const Seen& s) {
      if (s.from != 0 || !has_data(s)) return Fate{};
      ++sent;
      return Fate{.late = often ? 0_us : 20_us, .trimmed = often ? sent < 8 * kOften : s.at < Instant{} + 2_ms};
    };
    pair.fill(0, 0, 1000);
    pair.post(0, write(pair, 1000));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success") << often;
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 1000));
    EXPECT_TRUE(often ? sent >= 8 * kOften : sent < kOften) << sent;
    pair.expect_clean();
  }
}

// Data of a READ: who sends them gives up, and who waits for them hears of it.
TEST(CutReads, ForEverFailInTheEnd) {
  Pair pair(impatient());
  std::size_t sent = 0;
  pair.fate = [&](const Seen& s) {
    const bool cut = s.from == 1 && s.request() != nullptr;
    sent += cut ? 1u : 0u;
    return Fate{.trimmed = cut};
  };
  pair.post(0, pair.read(0, 1, 0, kTo, 3000));
  pair.run();
  EXPECT_NE(pair.text(0), "");
  EXPECT_NE(pair.text(0), "1:success");
  EXPECT_GE(sent, kOften);
  EXPECT_LT(sent, 40 * kOften);
  pair.expect_clean();
}

// A PROBE finds that the network is empty and all but one packet lost; what it has found goes beyond the window, but no
// further when it is cut.
TEST(CutAfterAProbe, KeepsToTheWindow) {
  EngineConfig config = test_config();
  config.probe = true;
  config.infer_loss = false;
  config.rto_init = 10_ms;
  Pair pair(config);
  std::size_t again = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from != 0 || s.request() == nullptr) return Fate{};
    if (!s.retx()) return Fate{.lost = s.index > 0};
    ++again;
    return Fate{.trimmed = s.at < Instant{} + 500_us};
  };
  constexpr std::size_t kTwenty = 20 * 1024;
  pair.fill(0, 0, kTwenty);
  pair.post(0, pair.write(0, 1, 0, kTo, kTwenty));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_TRUE(pair.same(0, 0, 1, kTo, kTwenty));
  EXPECT_GT(pair.counters(0).probes_sent.read(), 0u);
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
  EXPECT_LT(again, 400u) << "one every round trip of 2 us, and not nineteen";
  pair.expect_clean();
}

}  // namespace
}  // namespace railyard::uet
