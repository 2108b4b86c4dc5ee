// Links between switches go down under traffic: what routing loses until it has found other ways.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/rerouting/tables.h"
#include "control/spec/spec_error.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace railyard::literals;
using testing::IsEmpty;
using testing::SizeIs;

// leafN: ports 1..4 to hosts, 5, 6 to spine1, spine2; spineN: port i to leaf i. From 2 ms on the link of spine1 to
// leaf2 is down: far from the senders, whose leaf has both of its own links.
std::string lab(const std::string& routing, const std::string& traffic, const std::string& end = "60ms") {
  return fmt::format(
      "name: cut\ntopology: {{ preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }}\n"
      "defaults: {{ link: {{ rate: 100Gbps, cable: 10m }} }}\n"
      "traffic:\n  - {{ name: t, pattern: pairs, from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], {} }}\n"
      "faults:\n  - {{ name: cut, on: \"spine1:2\", at: 2ms, down: true }}\n"
      "routing: {}\nrun: {{ duration: {}, drain: 10ms }}\n",
      traffic, routing, end);
}
const std::string kBgp = "{ carrier-delay: 1ms, processing: 1ms, message-delay: 100us, fib-delay: 1ms }";
const std::string kPlain = "payload: 1024B, rate: 1Gbps";

// A path of the flows that were hashed to spine1 is gone at 2 ms. leaf1 knows at 2 + 1 (carrier) + 1 (spine1 decides) +
// 0.1 (the message) + 1 (leaf1 decides) + 1 (its table).
TEST(Routing, LosesOnlyUntilTheWithdrawalIsInTheTable) {
  Scenario s(lab(kBgp, kPlain));
  s.run_until(6_ms);
  const std::uint64_t before = s.dropped();
  EXPECT_GT(before, 0u);
  s.run_until(6200_us);
  const std::uint64_t at_rest = s.dropped();
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), at_rest);
  const auto& r = s.routing().reroutings();
  ASSERT_THAT(r, SizeIs(1));
  EXPECT_EQ(r[0].began_ns, 2'000'000);
  EXPECT_NEAR(static_cast<double>(r[0].last_change_ns), 6'100'050, 60);
  EXPECT_TRUE(r[0].at_rest);
  // spine1, leaf1, leaf2, and spine2, which has lost its way to spine1's loopback by leaf2.
  EXPECT_EQ(r[0].switches, 4u);
}

// From the cut, when frames on the wire are lost, to the last of those that were sent into the black hole.
TEST(Routing, TellsWhatEachEventHasCost) {
  Scenario s(lab(kBgp, kPlain));
  s.run_to_the_end();
  ASSERT_THAT(s.routing().reroutings(), SizeIs(1));
  const auto& r = s.routing().reroutings()[0];
  EXPECT_EQ(r.lost, s.dropped());
  EXPECT_GE(r.first_lost_ns, 2'000'000);
  EXPECT_LT(r.first_lost_ns, 2'100'000);
  EXPECT_GT(r.last_lost_ns, 5'900'000);
  EXPECT_LT(r.last_lost_ns, 6'110'000);
}

// spine1 is 20 km away. What a sender has sent by it is overtaken when its flows move to spine2: on each of these, what
// was on the way for 200 us. The other way round, nothing is.
std::string with_a_long_way(const char* drained) {
  return fmt::format(
      "name: long\n"
      "nodes:\n  leaf1: {{ kind: switch }}\n  leaf2: {{ kind: switch }}\n  spine1: {{ kind: switch }}\n"
      "  spine2: {{ kind: switch }}\n  h1: {{ kind: host }}\n  h2: {{ kind: host }}\n"
      "links: [[h1:1, leaf1:1], [h2:1, leaf2:1], [leaf1:2, spine1:1, {{ cable: 20000m }}], [leaf2:2, spine1:2, "
      "{{ cable: 20000m }}], [leaf1:3, spine2:1], [leaf2:3, spine2:2]]\n"
      "traffic: [{{ name: t, from: h1, to: h2, flows: 8, payload: 1024B, rate: 1Gbps }}]\n"
      "faults: [{{ name: d, on: {}, at: 2ms, drain: true }}]\n"
      "routing: {{ carrier-delay: 1ms, processing: 1ms, message-delay: 100us, fib-delay: 1ms }}\n"
      "run: {{ duration: 20ms, drain: 10ms }}\n",
      drained);
}

TEST(Routing, TellsHowManyPacketsAnEventHasPutOutOfOrder) {
  Scenario from_long_to_short(with_a_long_way("spine1"));
  from_long_to_short.run_until(2_ms);
  std::size_t moved = 0;
  const std::uint64_t sent_by_spine1 = from_long_to_short.port("spine1:2").tx_packets();
  from_long_to_short.run_to_the_end();
  ASSERT_THAT(from_long_to_short.routing().reroutings(), SizeIs(1));
  const auto& r = from_long_to_short.routing().reroutings()[0];
  std::uint64_t reordered = 0;
  double on_the_way = 0;  // for 200 us of 20 ms, of all flows that have moved
  for (const report::FlowReport& f : from_long_to_short.report().flows) {
    reordered += f.reordered;
    if (f.reordered == 0) continue;
    ++moved;
    on_the_way += static_cast<double>(f.packets) / 100;
  }
  EXPECT_EQ(r.reordered, reordered);
  ASSERT_GT(moved, 0u);
  ASSERT_GT(sent_by_spine1, 0u);
  EXPECT_NEAR(static_cast<double>(reordered), on_the_way, 2.0 * static_cast<double>(moved));
  EXPECT_EQ(r.lost, 0u);

  Scenario from_short_to_long(with_a_long_way("spine2"));
  from_short_to_long.run_to_the_end();
  ASSERT_THAT(from_short_to_long.routing().reroutings(), SizeIs(1));
  EXPECT_EQ(from_short_to_long.routing().reroutings()[0].reordered, 0u);
}

// ---- Bundles: several links that are one ------------------------------------------------------------------------------

// leafN: ports 1..4 to hosts, 5, 6 to spine1 and 7, 8 to spine2. `faults` at 2 ms.
std::string bundled(const std::string& faults) {
  return fmt::format(
      "name: bundles\ntopology: {{ preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4, uplinks-per-spine: 2, "
      "fabric-link: {{ bundle: auto }} }}\n"
      "traffic:\n  - {{ name: t, pattern: all-to-all, payload: 1024B, rate: 1Gbps }}\n{}"
      "routing: {}\nrun: {{ duration: 20ms, drain: 10ms }}\n",
      faults.empty() ? "" : "faults:\n" + faults,
      "{ carrier-delay: 1ms, processing: 1ms, message-delay: 100us, fib-delay: 1ms, session-setup: 1ms }");
}

TEST(Bundles, AMemberThatFailsMovesItsOwnFlowsOnly) {
  Scenario whole(bundled(""));
  whole.run_to_the_end();
  Scenario cut(bundled("  - { name: cut, on: \"leaf1:5\", at: 2ms, down: true }\n"));
  cut.run_to_the_end();
  ASSERT_THAT(cut.routing().reroutings(), SizeIs(1));
  EXPECT_EQ(cut.routing().reroutings()[0].table_changes, 0u);
  for (const char* other : {"leaf1:7", "leaf1:8"})
    EXPECT_EQ(cut.port(other).tx_packets(), whole.port(other).tx_packets()) << other;
  EXPECT_GT(cut.port("leaf1:6").tx_packets(), whole.port("leaf1:6").tx_packets());
  EXPECT_LT(cut.dropped(), 20u) << "more than what was on its way";
  const report::Report r = cut.report();
  ASSERT_THAT(r.bundles, SizeIs(4));
  EXPECT_EQ(r.bundles[0].name, "leaf1-spine1");
  EXPECT_EQ(r.bundles[0].up(), 1u);
  EXPECT_EQ(r.bundles[0].members[1].packets_a_to_b, cut.port("leaf1:6").tx_packets());
}

TEST(Bundles, RoutingReactsWhenTheLastMemberIsDown) {
  Scenario s(bundled("  - { name: cut, on: [\"leaf1:5\", \"leaf1:6\"], at: 2ms, for: 5ms, down: true }\n"));
  s.run_until(6_ms);
  EXPECT_GT(s.routing().reroutings()[0].table_changes, 0u);
  s.run_until(15_ms);
  const std::uint64_t back = s.port("leaf1:5").tx_packets();
  s.run_to_the_end();
  EXPECT_GT(s.port("leaf1:5").tx_packets(), back) << "no failback";
}

TEST(Routing, StaticIsABlackHoleForEver) {
  Scenario s(lab("static", kPlain));
  s.run_until(30_ms);
  const std::uint64_t before = s.dropped();
  s.run_to_the_end();
  EXPECT_GT(s.dropped(), before);
  EXPECT_THAT(s.routing().reroutings(), IsEmpty());
}

// A controller that knows all at once: what is lost is on the wire, or waits in the port.
TEST(Routing, InstantLosesAlmostNothing) {
  Scenario s(lab("instant", kPlain));
  s.run_to_the_end();
  EXPECT_LT(s.dropped(), 5u);
  ASSERT_THAT(s.routing().reroutings(), SizeIs(1));
}

// With go-back-N and the ACK timeout that NICs have: no QP fails, and everything arrives.
TEST(Routing, RoceSurvivesARemoteCut) {
  Scenario s(lab(kBgp, "transport: roce, message: 64KiB, bytes: 8MiB", "2s"));
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_THAT(r.flows, SizeIs(4));
  for (const report::FlowReport& f : r.flows) EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
  // Bounded by what four senders at 100 Gb/s put on the wire in 4.1 ms.
  EXPECT_LT(s.dropped(), 4u * 100'000'000'000ull / 8 / 1024 / 244);
}

TEST(Routing, FailsBack) {
  Scenario s(
      lab("{ carrier-delay: 100us, processing: 100us, message-delay: 10us, fib-delay: 100us, session-setup: 1ms }",
          kPlain) +
          "# back at 10 ms\n",
      {"faults.cut.for=8ms"});
  s.run_until(9_ms);
  const std::uint64_t by_spine1 = s.port("spine1:2").tx_packets();
  s.run_to_the_end();
  EXPECT_GT(s.port("spine1:2").tx_packets(), by_spine1);
  ASSERT_THAT(s.routing().reroutings(), SizeIs(2));
  EXPECT_TRUE(s.routing().reroutings()[1].at_rest);
}

// ---- Failures without loss of signal ---------------------------------------------------------------------------------

// spine1 sends all frames to leaf2 in vain from 2 ms on, and for `lasts`.
std::string silent(const std::string& routing, const std::string& lasts = "") {
  std::string text = lab(routing, kPlain, "6s");
  const std::string cut = "down: true";
  text.replace(text.find(cut), cut.size(), "loss: 100%" + (lasts.empty() ? "" : ", for: " + lasts));
  const std::string on = "spine1:2\"";
  return text.replace(text.find(on), on.size(), "spine1:2 out\"");
}
const std::string kFast = "{ bfd: { interval: 10ms, multiplier: 3 } }";

TEST(Routing, WithoutBfdASilentLinkIsABlackHole) {
  Scenario s(silent("bgp"));
  s.run_until(1000_ms);
  const std::uint64_t before = s.port("leaf2:5").lost_to_faults;
  EXPECT_GT(before, 0u);
  s.run_until(1100_ms);
  EXPECT_GT(s.port("leaf2:5").lost_to_faults, before + 1000);
  EXPECT_THAT(s.routing().reroutings(), IsEmpty());
}

// leaf2 hears nothing for 3 x 10 ms, and says so; then spine1 withdraws as if the link were down, without the delay of a
// carrier: 1 (decides) + 0.1 + 1 (leaf1 decides) + 1 (its table) later.
TEST(Routing, BfdFindsALinkThatLosesAllOneWay) {
  Scenario s(silent(kFast));
  s.run_until(2_ms + 30_ms + 10_ms + 4_ms);
  const std::uint64_t at_rest = s.port("leaf2:5").lost_to_faults;
  EXPECT_GT(at_rest, 0u);
  ASSERT_THAT(s.routing().reroutings(), SizeIs(1));
  const rerouting::Rerouting& r = s.routing().reroutings()[0];
  EXPECT_EQ(r.causes.front().what, "leaf2:5 BFD down");
  EXPECT_GE(r.began_ns, 22'000'000) << "the last packet may have come just before";
  EXPECT_LE(r.began_ns, 42'000'000);
  EXPECT_NEAR(static_cast<double>(r.last_change_ns - r.began_ns), 3'100'000, 5'000);
  s.run_until(200_ms);
  // Of the flows nothing; BFD goes on trying.
  EXPECT_LE(s.port("leaf2:5").lost_to_faults - at_rest, 2u);
}

TEST(Routing, BfdFailsBack) {
  Scenario s(silent(kFast, "100ms"));
  s.run_until(150_ms);
  const std::uint64_t by_spine1 = s.port("spine1:2").tx_packets();
  s.run_until(3000_ms);
  EXPECT_GT(s.port("spine1:2").tx_packets(), by_spine1 + 1000);
  // Down; up at one end, of which nothing comes; up at the other.
  ASSERT_THAT(s.routing().reroutings(), SizeIs(3));
  const rerouting::Rerouting& back = s.routing().reroutings().back();
  EXPECT_TRUE(back.at_rest);
  EXPECT_EQ(back.switches, 4u);
  EXPECT_LT(back.began_ns, 1'200'000'000) << "a session that is down sends once a second";
}

TEST(Routing, BfdOfAGoodFabricChangesNothing) {
  Scenario s(lab("{ bfd: { interval: 10ms, multiplier: 1 } }", kPlain, "2s"), {"faults.cut.at=5s"});
  s.run_until(2000_ms);
  EXPECT_THAT(s.routing().reroutings(), IsEmpty());
  EXPECT_EQ(s.dropped(), 0u);
}

// Maintenance: first others lead their traffic around the spine, then its links go down; nothing is lost in any class.
TEST(Routing, DrainedFirstNothingIsLost) {
  const std::string fabric =
      "name: maintenance\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
      "traffic:\n  - { name: lossless, pattern: pairs, from: [h1, h2], to: [h5, h6], payload: 1024B, rate: 10Gbps }\n"
      "  - { name: lossy, pattern: pairs, from: [h3, h4], to: [h7, h8], payload: 1024B, rate: 10Gbps, dscp: 0 }\n"
      "run: { duration: 60ms }\nfaults:\n";
  const std::string off = "  - { name: off, on: spine1, at: 20ms, for: 20ms, crash: true }\n";
  const std::string drain = "  - { name: drain, on: spine1, at: 2ms, for: 53ms, drain: true }\n";
  Scenario without(fabric + off);
  without.run_to_the_end();
  EXPECT_GT(without.dropped(), 0u);
  Scenario with(fabric + drain + off);
  with.run_until(19_ms);
  const std::uint64_t by_spine1 = with.port("spine1:1").tx_packets() + with.port("spine1:2").tx_packets();
  with.run_until(20_ms);
  EXPECT_EQ(with.port("spine1:1").tx_packets() + with.port("spine1:2").tx_packets(), by_spine1);
  with.run_to_the_end();
  EXPECT_EQ(with.dropped(), 0u);
}

// ---- What people are shown -----------------------------------------------------------------------------------------

rerouting::FlowKey key_of(const Scenario& s, const std::string& flow) {
  const build::Flow& f = s.flow(flow);
  rerouting::FlowKey key;
  key.from = f.plan.source;
  key.to = f.plan.destination;
  key.source_port = f.config().source_port;
  key.destination_qp = static_cast<int>(f.config().destination_qp);
  key.dscp = f.config().dscp;
  return key;
}

// Each flow alone: the ports that a path names are those that carry its packets.
TEST(Path, IsTheOneThatPacketsTake) {
  for (const bool cut : {false, true})
    for (int h = 1; h <= 4; ++h) {
      const std::string name = fmt::format("t/h{}->h{}", h, h + 4);
      Scenario s(lab("instant", kPlain),
                 {fmt::format("traffic.t.from=h{}", h), fmt::format("traffic.t.to=h{}", h + 4)});
      s.run_until(cut ? 3_ms : 1_ms);
      const auto path = rerouting::path_json(s.lab(), key_of(s, name));
      EXPECT_TRUE(path["arrives"].get<bool>());
      EXPECT_THAT(path["lost"], IsEmpty());
      ASSERT_THAT(path["hops"], SizeIs(3)) << path.dump(1);
      std::vector<std::uint64_t> before;
      for (const auto& hop : path["hops"]) before.push_back(s.port(hop["out"].get<std::string>()).tx_packets());
      s.run_until(cut ? 4_ms : 2_ms);
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_GT(s.port(path["hops"][i]["out"].get<std::string>()).tx_packets(), before[i] + 50)
            << name << " hop " << i;
    }
}

// Between the cut and the withdrawal the path of half of the flows ends at spine1.
TEST(Path, SaysWhereABlackHoleIs) {
  Scenario s(lab(kBgp, kPlain));
  s.run_until(2500_us);
  int lost = 0;
  for (int port = 0xC000; port < 0xC000 + 64; ++port) {
    rerouting::FlowKey key{.from = {"h1", 1}, .to = {"h5", 1}, .source_port = port};
    const auto path = rerouting::path_json(s.lab(), key);
    if (path["arrives"].get<bool>()) continue;
    ++lost;
    EXPECT_EQ(path["lost"][0].get<std::string>(), "spine1 has no link that is up");
  }
  EXPECT_GT(lost, 16);
  EXPECT_LT(lost, 48);
}

TEST(Path, ShowsAllWaysOfASprayedPacket) {
  Scenario s(lab("bgp", kPlain), {"qos.default.classes.3.path=spray"});
  const auto path = rerouting::path_json(s.lab(), {.from = {"h1", 1}, .to = {"h5", 1}});
  EXPECT_TRUE(path["hops"][0]["out"].is_null());
  EXPECT_THAT(path["hops"], SizeIs(5));  // leaf1, both spines, leaf2 from each
}

TEST(Path, OfANicThatIsNotThereIsAnError) {
  Scenario s(lab("bgp", kPlain));
  for (const spec::PortName& nic : {spec::PortName{"h9", 1}, {"h1", 2}, {"leaf1", 1}}) {
    EXPECT_THROW(rerouting::path_json(s.lab(), {.from = nic, .to = {"h5", 1}}), std::out_of_range);
    EXPECT_THROW(rerouting::path_json(s.lab(), {.from = {"h1", 1}, .to = nic}), std::out_of_range);
  }
}

TEST(Routes, AreThoseOfTheInstant) {
  Scenario s(lab(kBgp, kPlain));
  const auto ports_to_leaf2 = [&] {
    const auto all = rerouting::routes_json(s.lab(), s.routing(), "leaf1");
    for (const auto& r : all["switches"][0]["routes"])
      if (r["behind"] == "leaf2" && r["prefix"].get<std::string>().find("/32") == std::string::npos)
        return r["next_hops"].size();
    return std::size_t{0};
  };
  EXPECT_EQ(ports_to_leaf2(), 2u);
  s.run_until(10_ms);
  EXPECT_EQ(ports_to_leaf2(), 1u);
  EXPECT_THROW(rerouting::routes_json(s.lab(), s.routing(), "leaf9"), std::out_of_range);
}

// On one worker and on two, in one piece and in random ones.
TEST(Routing, IsTheSameOnAnyNumberOfWorkers) {
  std::set<std::uint64_t> digests;
  for (const std::string& routing : {kBgp, std::string("instant")}) {
    digests.clear();
    for (int variant = 0; variant < 3; ++variant) {
      EngineConfig c;
      c.digest = true;
      c.workers = variant == 1 ? 2 : 1;
      c.variation.always_parallel = variant == 1;
      if (variant == 2) c.variation.slices = Seed{7};
      Scenario s(lab(routing, kPlain, "8ms"), {}, c);
      s.run_to_the_end();
      digests.insert(s.digest());
    }
    EXPECT_THAT(digests, SizeIs(1)) << routing;
  }
}

}  // namespace
}  // namespace railyard::test
