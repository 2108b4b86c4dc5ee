// NSCC, trimming and retransmission together: many send to one, through one queue.
//
//   ends 0, 2, 3, ... ---- 100 Gb/s ----[ queue ]---- 100 Gb/s ---- end 1
#include <algorithm>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr BitRate kLinkRate = 100_Gbps;
constexpr std::uint32_t kMtu = 4096;
constexpr std::size_t kOctets = 256 * 1024;  // of each sender
// Ethernet, IP, UDP, CRC, FCS, preamble and gap around a UET packet.
constexpr std::int64_t kAround = 14 + 20 + 8 + 4 + 24;

struct Outcome {
  double over_ideal = 0;  // of the time that the octets take on the last link
  std::uint64_t packets = 0, trims = 0, drops = 0, marks = 0, retransmitted = 0, timeouts = 0;
};

enum class Switch { kTrims, kDrops };

// `least`: of the window, packets.
Outcome incast(std::size_t senders, Switch kind, Duration queue_limit, double least = 1) {
  EngineConfig config = test_config();
  config.payload_mtu = kMtu;
  config.rto_init = 200_us;
  const Duration base_rtt = 3_us;
  NsccConfig nscc = NsccConfig::of({.rate = kLinkRate,
                                    .base_rtt = base_rtt,
                                    .mtu = kMtu,
                                    .packet_octets = kMtu + 56,
                                    .trimming = kind == Switch::kTrims});
  nscc.min_wnd *= least;
  config.congestion = nscc;
  config.multipath = {.policy = PathPolicy::kOblivious, .paths = 16};
  Pair pair(config, senders + 1);
  Outcome o;
  Instant free_at{};
  pair.fate = [&](const Seen& s) {
    if (s.request() == nullptr) return Fate{};
    ++o.packets;
    const Duration time = Bytes{static_cast<std::int64_t>(s.packet.octets()) + kAround} / kLinkRate;
    const Instant at = s.at + time;
    const Duration queue = std::max(Duration{}, free_at - at);
    if (queue > queue_limit) {
      ++(kind == Switch::kTrims ? o.trims : o.drops);
      return kind == Switch::kTrims ? Fate{.trimmed = true} : Fate{.lost = true};
    }
    free_at = std::max(free_at, at) + time;
    // From 0.2 to 0.8 of a round trip, as the reference's switches mark.
    const bool marked = queue * 10 > base_rtt * (2 + static_cast<std::int64_t>(o.packets * 7 % 6));
    o.marks += marked ? 1 : 0;
    return Fate{.late = free_at - s.at, .marked = marked};
  };
  for (std::size_t e = 0; e <= senders; ++e) {
    if (e == 1) continue;
    pair.fill(e, 0, kOctets, e);
    pair.post(e, pair.write(e, 1, 0, 0, kOctets));
  }
  Instant done{};
  for (std::size_t completed = 0; completed < senders && pair.now() < Instant{} + 100_ms;) {
    pair.run_for(1_us);
    for (std::size_t e = 0; e <= senders; ++e) {
      if (e == 1) continue;
      const std::string text = pair.text(e);
      EXPECT_TRUE(text.empty() || text == "1:success") << text;
      if (text.empty()) continue;
      ++completed;
      done = pair.now();
    }
  }
  pair.run();
  pair.expect_clean();
  const auto on_wire = static_cast<std::int64_t>(senders * (kOctets / kMtu)) * (kMtu + 56 + kAround);
  o.over_ideal = seconds(done - Instant{}) / seconds(Bytes{on_wire} / kLinkRate) - 1;
  for (std::size_t e = 0; e <= senders; ++e) {
    o.retransmitted += pair.counters(e).retransmitted_packets.read();
    o.timeouts += pair.counters(e).retransmission_timeouts.read();
  }
  return o;
}

TEST(Incast, WithTrimmingTheLastLinkIsFullAndNobodyWaitsForATimer) {
  // Many: within a twentieth of the time that the last link needs. Few on so short a way have windows of a few packets,
  // which a first burst of one and a half BDP each and its trims make smaller than they need be.
  struct Case {
    std::size_t senders;
    double most_over_ideal;
  };
  for (const auto& [senders, most] : {Case{1, 0.15}, Case{2, 0.40}, Case{8, 0.05}, Case{32, 0.05}}) {
    const Outcome o = incast(senders, Switch::kTrims, 3_us);
    EXPECT_LT(o.over_ideal, most) << senders;
    EXPECT_EQ(o.timeouts, 0u);
    EXPECT_EQ(o.retransmitted, o.trims) << "what was trimmed, and nothing else";
    if (senders >= 8) {
      EXPECT_GT(o.trims, 0u);
    }
  }
}

// Twice nine packets fit the path and the queue: of forty windows of one most are trimmed.
TEST(Incast, ManyMoreThanFitTheQueueSendPartsOfAPacketAndAreSeldomTrimmed) {
  const Outcome whole = incast(40, Switch::kTrims, 3_us);
  const Outcome parts = incast(40, Switch::kTrims, 3_us, 1.0 / 16);
  EXPECT_GT(whole.trims, 2 * parts.trims);
  EXPECT_LT(parts.over_ideal, 0.05);
  EXPECT_EQ(parts.timeouts, 0u);
  EXPECT_EQ(parts.retransmitted, parts.trims);
}

TEST(Incast, OneSenderIsNeverHeldBackNorRepeated) {
  const Outcome o = incast(1, Switch::kTrims, 3_us);
  EXPECT_EQ(o.trims + o.retransmitted, 0u);
}

TEST(Incast, WithoutTrimmingAllComesThroughByInferenceAndTimers) {
  for (const std::size_t senders : {2u, 8u}) {
    const Outcome o = incast(senders, Switch::kDrops, 15_us);
    EXPECT_LT(o.over_ideal, 3.0) << senders;
    EXPECT_GE(o.retransmitted, o.drops);
  }
}

}  // namespace
}  // namespace railyard::uet
