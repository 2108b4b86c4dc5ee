// What ends tell each other for congestion control and multipath, as it is seen on the wire (uet §8, §9, §10): the
// ECN echo, service time and received octets of ACKs; which ways packets take after what was heard of them; PROBEs.
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

using namespace literals;

TEST(Signals, AMarkIsEchoedAtOnceAndOnlyItsOwn) {
  EngineConfig config = test_config();
  config.ack_trigger = 1 << 20;  // no ACK for the sake of the count
  Pair pair(config);
  std::uint32_t marked = 0;
  pair.fate = [&](const Seen& s) {
    const auto* const request = s.request();
    if (request == nullptr || s.index != 5) return Fate{};
    marked = request->psn;
    return Fate{.marked = true};
  };
  pair.post(0, pair.write(0, 1, 0, 0, 10'000));
  pair.run();
  std::size_t echoes = 0;
  for (const Seen& s : pair.log())
    if (s.from == 1 && s.ack() != nullptr && s.ack()->m) {
      ++echoes;
      EXPECT_EQ(s.ack()->ack_psn(), marked);
    }
  EXPECT_EQ(echoes, 1u);
  EXPECT_EQ(pair.counters(1).ecn_marked_packets.read(), 1u);
  EXPECT_EQ(pair.counters(0).ecn_marked_acks.read(), 1u);
}

// While a packet is missing a sender that sprays has more to learn, and is told sooner.
TEST(Signals, MoreIsAcknowledgedWhilePacketsAreMissing) {
  EngineConfig config = test_config();
  config.infer_loss = false;
  config.ack_trigger = 8 * 1024;
  const auto acks = [&](std::uint32_t missing, std::size_t lost) {
    config.ack_trigger_missing = missing;
    Pair pair(config);
    pair.fate = [=](const Seen& s) {
      return Fate{.copies = s.request() != nullptr && !s.request()->retx && s.index == lost ? 0u : 1u};
    };
    pair.post(0, pair.write(0, 1, 0, 0, 64 * 1024));
    std::size_t before_again = 0;
    pair.run();
    for (const Seen& s : pair.log()) {
      if (s.request() != nullptr && s.request()->retx) break;
      if (s.from == 1 && s.ack() != nullptr) ++before_again;
    }
    return before_again;
  };
  constexpr std::size_t kNone = ~std::size_t{0};
  const std::size_t calm = acks(4 * 1024, kNone);
  EXPECT_EQ(acks(~std::uint32_t{0}, kNone), calm) << "nothing is missing";
  const std::size_t seldom = acks(~std::uint32_t{0}, 4);
  const std::size_t often = acks(4 * 1024, 4);
  EXPECT_GE(often, seldom + 5) << "of 59 packets behind the gap one in four is told, and not in eight";
  EXPECT_EQ(acks(1 << 20, 4), seldom) << "it only ever makes them more";
}

// A copy, and what was trimmed, is no octet that has come.
TEST(Signals, ReceivedOctetsAreThoseOfPacketsThatWereTaken) {
  EngineConfig config = test_config();
  config.ack_trigger = 0;
  Pair pair(config);
  pair.fate = [](const Seen& s) {
    if (s.request() == nullptr) return Fate{};
    return Fate{.copies = s.index == 2 ? 2u : 1u, .trimmed = s.index == 4};
  };
  pair.post(0, pair.write(0, 1, 0, 0, 8 * 1024));
  pair.run();
  std::map<std::uint32_t, std::uint64_t> octets;  // by PSN
  std::uint32_t said = 0;
  for (const Seen& s : pair.log()) {
    if (s.from == 0 && s.request() != nullptr) octets[s.request()->psn] = s.packet.octets();
    if (s.from == 1 && s.ack() != nullptr && s.ack()->next_hdr != NextHdr::kNone)
      said = std::max(said, nscc_state(s.ack()->cc_state).rcvd_bytes);
  }
  std::uint64_t sum = 0;
  for (const auto& [psn, n] : octets) sum += n;
  EXPECT_EQ(octets.size(), 8u);
  EXPECT_EQ(said, sum / kCreditOctets);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 1u);
}

TEST(Signals, ServiceTimeIsHowLongThePacketWaitedForItsAck) {
  for (const std::int64_t nanoseconds : {0, 127, 128, 12'800, 20'000'000}) {
    Pair pair;
    pair.post(0, pair.write(0, 1, 0, 0, 100));
    OutPacket out;
    ASSERT_TRUE(pair.engine(0).send(pair.now(), pair.engine(0).config().data, out));
    const AddressVector& way = pair.engine(0).address(out.to);
    InPacket in;
    in.packet = out.packet;
    in.payload = out.payload;
    in.source = way.source;
    in.destination = way.destination;
    EXPECT_FALSE(pair.engine(1).on_packet(pair.now(), in));
    OutPacket ack;
    const Instant later = pair.now() + Duration{nanoseconds * 1000};
    ASSERT_TRUE(pair.engine(1).send(later, pair.engine(1).config().control, ack));
    const NsccStateValues state = nscc_state(std::get<PdsAckValues>(ack.packet.pds).cc_state);
    EXPECT_EQ(state.service_time, nanoseconds > 8'388'000 ? kServiceTimeTooLong : nanoseconds / 128);
  }
}

// One of eight ways marks, cuts or loses what takes it. Who listens leaves it out; who does not, does not.
TEST(Signals, AWayOfWhichBadIsHeardIsUsedLess) {
  enum Bad { kMarks, kTrims, kLoses };
  const auto share = [](PathPolicy policy, Bad bad) {
    EngineConfig config = test_config();
    config.multipath = {.policy = policy, .paths = 8};
    config.ack_trigger = 0;
    Pair pair(config);
    std::optional<std::uint16_t> way;
    std::size_t all = 0, there = 0;
    std::set<std::uint16_t> ways;
    pair.fate = [&](const Seen& s) {
      if (s.from != 0 || s.request() == nullptr) return Fate{};
      if (!way) way = s.entropy;
      ++all;
      ways.insert(s.entropy);
      if (s.entropy != *way) return Fate{};
      ++there;
      return Fate{.lost = bad == kLoses, .marked = bad == kMarks, .trimmed = bad == kTrims};
    };
    for (std::uint64_t i = 0; i < 4; ++i) pair.post(0, pair.write(0, i, 0, 0, 250'000));
    pair.run();
    EXPECT_EQ(pair.text(0), "0:success 1:success 2:success 3:success");
    EXPECT_GE(ways.size(), policy == PathPolicy::kReps ? 6u : 8u) << "REPS draws";
    return static_cast<double>(ways.size()) * static_cast<double>(there) / static_cast<double>(all);
  };
  for (const Bad bad : {kMarks, kTrims, kLoses}) {
    EXPECT_NEAR(share(PathPolicy::kOblivious, bad), 1.0, 0.05) << bad;
    EXPECT_LT(share(PathPolicy::kBitmap, bad), 0.75) << bad;
    EXPECT_LT(share(PathPolicy::kMixed, bad), 0.75) << bad;
    EXPECT_LT(share(PathPolicy::kReps, bad), 0.75) << bad;
  }
}

// The last three packets are lost: nothing comes behind them that would tell.
TEST(Signals, AProbeFindsATailThatWasLostBeforeTheTimerDoes) {
  for (const bool probe : {false, true}) {
    EngineConfig config = test_config();
    config.probe = probe;
    config.infer_loss = false;
    Pair pair(config);
    pair.fate = [](const Seen& s) {
      return Fate{.lost = s.request() != nullptr && !s.retx() && s.index >= 7 && s.index < 10};
    };
    pair.fill(0, 0, 10 * 1024);
    pair.post(0, pair.write(0, 1, 0, kTo, 10 * 1024));
    pair.run_for(config.rto_init / 2);
    EXPECT_EQ(pair.text(0), probe ? "1:success" : "");
    EXPECT_EQ(pair.counters(0).probes_sent.read() > 0, probe);
    EXPECT_EQ(pair.count(0, "CP PROBE") > 0, probe);
    pair.run();
    EXPECT_TRUE(pair.same(0, 0, 1, kTo, 10 * 1024));
    EXPECT_EQ(pair.counters(0).retransmission_timeouts.read() == 0, probe);
    if (probe) {
      EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 3u) << "its answer says which";
    }
    pair.expect_clean();
  }
}

// A NIC that may not send control packets, for they are paused: of each kind one waits, however long that lasts.
TEST(Signals, ControlPacketsThatCannotGoDoNotPileUp) {
  EngineConfig config = test_config();
  config.probe = true;
  config.infer_loss = false;
  config.retries = 200;
  Pair pair(config);
  pair.fate = [](const Seen& s) { return Fate{.lost = s.index >= 5}; };
  pair.post(0, pair.write(0, 1, 0, kTo, 10 * 1024));
  pair.run_for(50_us);
  Engine& engine = pair.engine(0);
  const std::uint64_t asked = pair.counters(0).probes_sent.read();
  Instant now = pair.now();
  for (int i = 0; i < 10'000; ++i) engine.ready(now = now + 10_us);
  EXPECT_GT(pair.counters(0).probes_sent.read(), asked + 100) << "the timer goes on";
  OutPacket out;
  std::size_t waiting = 0;
  while (engine.send(now, config.control, out))
    waiting += std::holds_alternative<PdsCpValues>(out.packet.pds) ? 1u : 0u;
  EXPECT_LE(waiting, 2u) << "a PROBE, an ACK_REQ";
}

// And answers to what comes again and again are as many as could be under way.
TEST(Signals, AnswersThatCannotGoDoNotPileUp) {
  EngineConfig config = test_config();
  Pair pair(config);
  std::optional<Packet> request;
  pair.fate = [&](const Seen& s) {
    if (s.request() != nullptr && !request) request = s.packet;
    return Fate{};
  };
  pair.post(0, pair.write(0, 1, 0, kTo, 1024));
  pair.run_for(20_us);
  ASSERT_TRUE(request.has_value());
  const AddressVector& back = pair.engine(0).address(PeerId{0});
  const InPacket again{.packet = *request,
                       .source = back.source,
                       .destination = back.destination,
                       .source_mac = back.source_mac,
                       .destination_mac = back.next_hop_mac};
  Engine& engine = pair.engine(1);
  std::size_t duplicates = 0;
  for (int i = 0; i < 100'000; ++i) duplicates += engine.on_packet(pair.now(), again) == Drop::kDuplicate ? 1u : 0u;
  EXPECT_EQ(duplicates, 100'000u);
  OutPacket out;
  std::size_t waiting = 0;
  while (engine.send(pair.now(), config.control, out)) ++waiting;
  EXPECT_GT(waiting, 1u);
  EXPECT_LE(waiting, 2 * config.mp_range);
}

}  // namespace
}  // namespace railyard::uet
