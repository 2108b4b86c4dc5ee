// The notification point, and what CNPs do to a QP.
#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

using namespace literals;

Instant since_start(Duration d) { return Instant{} + d; }

TEST(CnpPacing, OneCnpAnIntervalAndTheFirstAtOnce) {
  CnpPacing np({.interval = 50_us});
  const wire::IpAddress peer(0x0A000001);
  EXPECT_TRUE(np.notify(since_start(3_us), 1, peer));
  EXPECT_FALSE(np.notify(since_start(3_us), 1, peer));
  EXPECT_FALSE(np.notify(since_start(53_us - 1_ps), 1, peer));
  EXPECT_TRUE(np.notify(since_start(53_us), 1, peer));
}

TEST(CnpPacing, ItsScopeIsASetting) {
  const wire::IpAddress a(0x0A000001), b(0x0A000002);
  CnpPacing qp({.scope = CnpScope::kQp});
  EXPECT_TRUE(qp.notify({}, 1, a));
  EXPECT_TRUE(qp.notify({}, 2, a));
  CnpPacing ip({.scope = CnpScope::kDestinationIp});
  EXPECT_TRUE(ip.notify({}, 1, a));
  EXPECT_FALSE(ip.notify({}, 2, a));
  EXPECT_TRUE(ip.notify({}, 2, b));
  CnpPacing port({.scope = CnpScope::kPort});
  EXPECT_TRUE(port.notify({}, 1, a));
  EXPECT_FALSE(port.notify({}, 2, b));
  CnpPacing none({.enabled = false});
  EXPECT_FALSE(none.notify({}, 1, a));
}

PairConfig controlled() {
  PairConfig config;
  config.attributes.path_mtu = PathMtu::k4096;
  config.engine.congestion = DcqcnConfig::paper(100_Gbps);
  return config;
}
bool is_cnp(const Seen& s) { return s.packet.bth.opcode == opcode::kCnp; }

TEST(Pacing, AMarkedFlowIsAnsweredByCnpsAndSlowsDown) {
  Pair pair(controlled());
  pair.fill(0, 0, 900'000);
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0 && s.index < 3}; };
  pair.post(0, pair.write(0, 1, 0, 0, 900'000));
  pair.run();
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 900'000));
  EXPECT_EQ(pair.counters(1).np_ecn_marked_roce_packets.read(), 3u);
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 1u) << "within 50 us";
  EXPECT_EQ(pair.counters(0).rp_cnp_handled.read(), 1u);
  Instant cnp{};
  for (const Seen& s : pair.log())
    if (is_cnp(s)) cnp = s.at + Pair::kDelay;
  // 4096 octets at 50 Gb/s, from the second packet after the CNP on: 4154 with headers, FCS, preamble and gap.
  std::vector<Instant> after;
  for (const Seen& s : pair.log())
    if (s.from == 0 && s.at > cnp) after.push_back(s.at);
  ASSERT_GT(after.size(), 10u);
  EXPECT_EQ(after[3] - after[2], Bytes{4096 + 12 + 4 + 42 + 24} / 50_Gbps) << "to the picosecond";
}

TEST(Pacing, TheResponderOfAReadIsTheOneThatSlowsDown) {
  Pair pair(controlled());
  pair.fill(1, 0, 500'000);
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 1 && s.index == 0}; };
  pair.post(0, pair.read(0, 1, 0, 0, 500'000));
  pair.run();
  EXPECT_TRUE(pair.same(1, 0, 0, 0, 500'000));
  EXPECT_EQ(pair.counters(0).np_cnp_sent.read(), 1u);
  EXPECT_EQ(pair.counters(1).rp_cnp_handled.read(), 1u);
}

TEST(Pacing, ACnpIsAsTheAnnexHasIt) {
  Pair pair(controlled());
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  const auto cnp = std::ranges::find_if(pair.log(), is_cnp);
  ASSERT_NE(cnp, pair.log().end());
  EXPECT_EQ(cnp->packet.bth, cnp_bth(pair.end(0).qp.value));
  EXPECT_EQ(cnp->packet.octets(), 32u);
}

// Of the class of CNPs, and of that alone.
constexpr PriorityMask kCnps = 1u << CnpConfig{}.priority;

// Twenty intervals go by, in each of which a CNP is to be told.
TEST(Pacing, OneCnpOfAQpWaitsWhileItsClassIsPaused) {
  Pair pair(controlled());
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0}; };
  pair.paused[1] = kCnps;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    pair.post(0, pair.write(0, i, 0, 0, 100));
    pair.run_until(since_start(60_us * static_cast<std::int64_t>(i)));
  }
  EXPECT_EQ(pair.counters(1).np_ecn_marked_roce_packets.read(), 20u);
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 0u);
  EXPECT_EQ(pair.sent(0).size(), 20u) << "its ACKs have another class";
  pair.paused[1] = 0;
  pair.run();
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 1u);
  EXPECT_EQ(pair.counters(0).rp_cnp_handled.read(), 1u);
  // Afterwards as ever.
  pair.post(0, pair.write(0, 21, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 2u);
}

// Nothing of it is left in the line, however many QPs come and go.
TEST(Pacing, ACnpThatWaitsGoesWithItsQp) {
  Pair pair(controlled());
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0}; };
  pair.paused[1] = kCnps;
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  Engine& engine = pair.engine(1);
  EXPECT_NE(engine.ready(pair.now()).classes & kCnps, 0);
  ASSERT_TRUE(engine.destroy_qp(pair.end(1).qp));
  EXPECT_EQ(engine.ready(pair.now()).classes & kCnps, 0);
  pair.paused[1] = 0;
  pair.run(1_ms);
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 0u);
}

TEST(Pacing, WithoutCongestionControlCnpsAreIgnored) {
  PairConfig config = controlled();
  config.engine.congestion = NoCongestionControl{};
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.counters(0).rp_cnp_ignored.read(), 1u);
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
}

TEST(Pacing, NoCnpGoesToAPeerThatMistakesThem) {
  PairConfig config = controlled();
  config.cnps = false;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.marked = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 100));
  pair.run();
  EXPECT_EQ(pair.counters(1).np_ecn_marked_roce_packets.read(), 1u);
  EXPECT_EQ(pair.counters(1).np_cnp_sent.read(), 0u);
}

TEST(Pacing, ARetransmissionIsPacedAndAnAckIsNot) {
  Pair pair(controlled());
  pair.fill(0, 0, 400'000);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.from == 0 && s.index == 40, .marked = s.from == 0}; };
  pair.post(0, pair.write(0, 1, 0, 0, 400'000));
  pair.run();
  EXPECT_TRUE(pair.same(0, 0, 1, 0, 400'000));
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS");
  EXPECT_GT(pair.counters(0).retransmitted_packets.read(), 0u);
}

}  // namespace
}  // namespace railyard::roce
