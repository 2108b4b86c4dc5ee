// What a PDC does with NSCC's window: what is in flight, and when a packet leaves.
#include <algorithm>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

// The PDC of a request that end 0 has just sent.
const Pdc& pdc_of(Pair& pair, const Seen& s) { return *pair.engine(0).pdc(PdcId{s.request()->spdcid}); }

// Octets of packets that have left and are neither known to have arrived nor taken for lost.
double under_way(const Pdc& pdc) {
  const SentPackets& sent = pdc.sent;
  double octets = 0;
  for (Psn psn = sent.una(); psn - sent.next() < 0; ++psn)
    if (const SentPacket& p = sent.at(psn); !p.received && !p.lost) octets += p.octets;
  return octets;
}

// Whether a packet is known to have arrived.
bool is_known(const Pdc& pdc, Psn psn) { return psn - pdc.sent.una() < 0 || pdc.sent.at(psn).received; }

EngineConfig with_window(double packets) {
  EngineConfig config = test_config();
  config.rto_init = 5_ms;
  config.ack_trigger = 2048;
  NsccConfig nscc = NsccConfig::of({.base_rtt = 4_us, .mtu = 1024, .packet_octets = 1080});
  nscc.max_wnd_bdps = nscc.first_wnd_bdps = packets * 1080 / static_cast<double>((nscc.rate * nscc.base_rtt).n);
  config.congestion = nscc;
  return config;
}

// Packets are trimmed, lost and late; of those that are late some are taken for lost and come after all.
TEST(Window, NoMoreIsInFlightThanItAllows) {
  double most_unnamed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RngStream chance(Seed{seed}, "fate");
    Pair pair(with_window(24));
    std::size_t packets = 0, full = 0;
    std::map<std::uint32_t, double> octets;  // by PSN
    pair.fate = [&](const Seen& s) {
      if (s.from != 0 || s.request() == nullptr) return Fate{};
      const Pdc& pdc = pdc_of(pair, s);
      const Nscc& nscc = *pdc.congestion.nscc();
      ++packets;
      // An ACK counts all that has come, in units of 256 octets, but names what is up to the packet that it answers:
      // one that an old packet brings about leaves those unnamed that came since the ACK before. They are off the
      // window, and for the sender still under way: of the ten seeds two at most.
      octets[s.request()->psn] = pdc.sent.at(Psn(s.request()->psn)).octets;
      double named = 0;
      for (const auto& [psn, n] : octets) named += is_known(pdc, Psn(psn)) ? n : 0;
      const double unnamed = pdc.last_rcvd * 256.0 - named;
      EXPECT_NEAR(nscc.in_flight(), under_way(pdc) - unnamed, 256) << "packet " << s.index << ", seed " << seed;
      EXPECT_LE(unnamed, 2 * 1080);
      most_unnamed = std::max(most_unnamed, unnamed);
      // What was lost goes again at once, and the last packet when all is silent.
      if (!s.request()->retx) {
        EXPECT_LE(nscc.in_flight(), std::max(1080.0, nscc.cwnd()) + 256) << "seed " << seed;
      }
      if (nscc.in_flight() + 1080 > nscc.cwnd()) ++full;
      const std::uint64_t drawn = chance.below(100);
      return Fate{.lost = drawn < 2, .late = drawn >= 90 ? 25_us : 0_us, .trimmed = drawn >= 2 && drawn < 5};
    };
    pair.fill(0, 0, 500 * 1024);
    pair.post(0, pair.write(0, 1, 0, 0, 500 * 1024));
    pair.run();
    EXPECT_EQ(pair.text(0), "1:success");
    EXPECT_TRUE(pair.same(0, 0, 1, 0, 500 * 1024));
    EXPECT_GT(full, packets / 4) << "the window is what holds packets back";
    pair.expect_clean();
  }
  EXPECT_GT(most_unnamed, 1080);
}

// One that was taken for lost, and waits to go again, comes after all: it is taken off what is in flight once.
TEST(Window, WhatComesAfterAllIsCountedOnce) {
  EngineConfig config = with_window(8);
  Pair pair(config);
  std::size_t late = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from != 0 || s.request() == nullptr) return Fate{};
    const Pdc& pdc = pdc_of(pair, s);
    EXPECT_NEAR(pdc.congestion.nscc()->in_flight(), under_way(pdc), 256) << s.index;
    if (s.retx()) return Fate{};
    late += s.index % 3 == 0 ? 1 : 0;
    return Fate{.late = s.index % 3 == 0 ? 9_us : 0_us};
  };
  pair.post(0, pair.write(0, 1, 0, 0, 200 * 1024));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_GT(late, 20u);
}

// Its only packet is trimmed four times: of the window a sixteenth is left, and each try waits for its turn.
TEST(Window, APartOfAPacketLeavesWhenItsTimeHasCome) {
  EngineConfig config = with_window(1);
  std::get<NsccConfig>(config.congestion).min_wnd = 1080.0 / 16;
  Pair pair(config);
  std::optional<Instant> last;
  std::size_t tries = 0;
  pair.fate = [&](const Seen& s) {
    if (s.from != 0 || s.request() == nullptr || tries > 4) return Fate{};
    const Nscc& nscc = *pdc_of(pair, s).congestion.nscc();
    // Base RTT / window after the one before.
    if (last) {
      EXPECT_EQ(s.at - *last, Duration{4'000'000} * (std::int64_t{1} << tries)) << tries;
    }
    EXPECT_EQ(nscc.cwnd(), 1080.0 / (1 << tries));
    last = s.at;
    ++tries;
    return Fate{.trimmed = tries <= 4};
  };
  pair.post(0, pair.write(0, 1, 0, kTo, 1024));
  pair.run();
  EXPECT_EQ(pair.text(0), "1:success");
  EXPECT_EQ(tries, 5u);
  EXPECT_EQ(pair.counters(0).retransmission_timeouts.read(), 0u);
}

}  // namespace
}  // namespace railyard::uet
