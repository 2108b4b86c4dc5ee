// In-band telemetry: what hops note is true to the picosecond, the same however the run is cut up, and changes nothing.
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/telemetry/int_collector.h"
#include "dataplane/run/wall_clock.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

using namespace literals;
using telemetry::IntCollector;
using telemetry::IntReport;

// All packets of the run; those that arrived, the slowest first, at most IntReport::kSlowest of them.
IntReport all_packets_of(Scenario& s) {
  IntCollector collector(s.lab());
  collector.start({.one_in = 1});
  s.run_to_the_end();
  collector.stop();
  return collector.report();
}

const IntReport::Packet& packet_of(const IntReport& r, const std::string& flow) {
  for (const IntReport::Packet& p : r.slowest)
    if (p.flow == flow) return p;
  throw std::out_of_range("no packet of " + flow);
}

//  h1 --3m-- leaf1 --30m-- spine1 --30m-- leaf2 --3m-- h2
std::string idle_path_of_five(const char* mode) {
  return std::string(R"(
name: idle-path
switches: { default: { latency: 450ns, mode: )") +
         mode + R"( } }
hosts: { default: { latency: 700ns } }
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1,
            host-link: { rate: 100Gbps, cable: 3m }, fabric-link: { rate: 400Gbps, cable: 30m } }
traffic: [ { name: t, from: h1, to: h2, payload: 4096B, bytes: 4096B } ]
run: { duration: 10ms }
)";
}

constexpr Bytes kIntFrame{14 + 20 + 8 + 12 + 4096 + 4 + 4};
constexpr Bytes kIntOnTheWire{kIntFrame.n + 8};  // with its preamble

// A frame is here when its last octet is, and leaves when the switch has had its latency: from the first octet in to
// the first octet out, latency and serialization.
TEST(InBandTelemetry, AnIdlePathIsTheSumOfItsParts) {
  Scenario s(idle_path_of_five("store-and-forward"));
  const IntReport r = all_packets_of(s);
  EXPECT_EQ(r.sampled, 1u);
  EXPECT_EQ(r.arrived, 1u);
  EXPECT_EQ(r.records, 5u);
  ASSERT_EQ(r.slowest.size(), 1u);
  const IntReport::Packet& p = r.slowest[0];
  EXPECT_EQ(p.flow, "t/h1->h2");
  ASSERT_EQ(p.hops.size(), 5u);

  struct Expected {
    const char* node;
    int in, out;
    Duration wire;  // from the departure before to this arrival
  };
  const Duration slow = kIntOnTheWire / 100_Gbps;
  const Duration fast = kIntOnTheWire / 400_Gbps;
  const std::vector<Expected> expected{{"leaf1", 1, 2, slow + 15_ns},
                                       {"spine1", 1, 2, fast + 150_ns},
                                       {"leaf2", 2, 1, fast + 150_ns},
                                       {"h2", 1, 0, slow + 15_ns}};
  EXPECT_EQ(p.hops[0].node, "h1");
  EXPECT_EQ(p.hops[0].in, 0);
  EXPECT_EQ(p.hops[0].out, 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const IntReport::Hop& h = p.hops[i + 1];
    EXPECT_EQ(h.node, expected[i].node);
    EXPECT_EQ(h.in, expected[i].in) << h.node;
    EXPECT_EQ(h.out, expected[i].out) << h.node;
    EXPECT_EQ(h.ingress - p.hops[i].egress, expected[i].wire) << h.node;
    EXPECT_EQ(h.waited, 0_ns) << h.node;
    EXPECT_EQ(h.queue_octets, 0u) << h.node;
    if (h.out != 0) {
      EXPECT_EQ(h.egress - h.ingress, 450_ns) << h.node;
    }
  }
  EXPECT_EQ(p.latency, 2 * slow + 2 * fast + 2 * 15_ns + 2 * 150_ns + 3 * 450_ns) << "up to the NIC's port";
}

// A switch that cuts through notes the 128th octet. Between links of one rate it sends on at once.
TEST(InBandTelemetry, CutThroughIsNotedFromTheHeader) {
  Scenario s(idle_path_of_five("cut-through"));
  const IntReport r = all_packets_of(s);
  ASSERT_EQ(r.slowest.size(), 1u);
  const std::vector<IntReport::Hop>& hops = r.slowest[0].hops;
  ASSERT_EQ(hops.size(), 5u);
  EXPECT_EQ(hops[1].ingress - hops[0].egress, 136_B / 100_Gbps + 15_ns);
  // From slow to fast it waits until no octet will be missing: the last one is here as late as it is sent.
  const Duration rest = (kIntFrame - 128_B) / 100_Gbps;
  EXPECT_EQ(hops[1].egress - hops[1].ingress, 450_ns + rest - kIntOnTheWire / 400_Gbps);
  EXPECT_EQ(hops[2].egress - hops[2].ingress, 450_ns) << "the same rate in and out";
  EXPECT_EQ(hops[1].waited, 0_ns) << "that was not in a queue";
}

// Four frames come to one port at the same instant: each finds those before it, and waits for them to have left.
TEST(InBandTelemetry, BehindAKnownQueueTheWaitIsExact) {
  Scenario s(R"(
name: meet
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host }, h4: { kind: host },
         h5: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3], [h4:1, leaf1:4], [h5:1, leaf1:5]]
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic: [ { name: t, pattern: incast, from: [h1, h2, h3, h4], to: h5, payload: 4096B, bytes: 4096B } ]
run: { duration: 1ms }
)");
  const IntReport r = all_packets_of(s);
  EXPECT_EQ(r.arrived, 4u);
  const Duration one = (kIntFrame + 20_B) / 100_Gbps;  // with preamble and gap
  for (int i = 0; i < 4; ++i) {
    const IntReport::Packet& p = packet_of(r, "t/h" + std::to_string(i + 1) + "->h5");
    ASSERT_EQ(p.hops.size(), 3u);
    EXPECT_EQ(p.hops[1].in, i + 1);
    EXPECT_EQ(p.hops[1].out, 5);
    EXPECT_EQ(p.hops[1].waited, i * one) << i;
    EXPECT_EQ(p.hops[1].queue_octets, static_cast<std::uint64_t>(i * kIntFrame.n)) << i;
  }
  ASSERT_EQ(r.queues.size(), 1u);
  EXPECT_EQ(r.queues[0].node, "leaf1");
  EXPECT_EQ(r.queues[0].port, 5);
  EXPECT_EQ(r.queues[0].peer, "h5:1");
  EXPECT_EQ(r.queues[0].waited.count(), 4u);
  EXPECT_EQ(r.queues[0].waited.max(), static_cast<std::uint64_t>((3 * one).ps));
  EXPECT_EQ(r.queues[0].max_depth, static_cast<std::uint64_t>(3 * kIntFrame.n));
}

// Congested, marked, paused, dropped and trimmed; links lose, double and hold back frames, one goes down and one switch
// forgets everything.
constexpr const char* kBusyLab = R"(
name: busy
switches: { default: { buffer: 3MiB }, fast: { buffer: 4MiB, mode: cut-through, latency: 300ns } }
qos:
  default:
    classes:
      0: { queue-alpha: 1/8, weight: 10, trim: { keep: 128B, dscp: 40, class: 5 } }
      3: { lossless: true, alpha: 1/8, weight: 50, ecn: { kmin: 10KB, kmax: 200KB, pmax: 20% }, path: { policy: adaptive } }
      5: { strict: true, path: { policy: spray } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4,
            host-link: { rate: 100Gbps, cable: 3m }, fabric-link: { rate: 200Gbps, cable: 30m } }
nodes: { spine1: { kind: switch, profile: fast }, h1: { kind: host, profile: slow } }
hosts: { default: {}, slow: { receive: { rate: 40Gbps } } }
traffic:
  - { name: incast, pattern: incast, fan-in: 10, to: h1, dscp: 26, payload: 1024B, start: 20us, stagger: 700ns }
  - { name: permutation, pattern: permutation, dscp: 26 }
  - { name: lossy, pattern: incast, to: h7, flows: 2, dscp: 0, payload: 512B, on: 10us, off: 15us }
faults:
  - { on: h2, loss: 1% }
  - { on: h3, duplicate: true, probability: 2% }
  - { on: h4, corrupt: true, probability: 1% }
  - { on: h6, delay: { time: 300ns, jitter: 900ns }, at: 30us, for: 70us }
  - { on: h8, down: true, at: 40us, for: 10us }
  - { on: spine2, crash: true, at: 110us, for: 12us }
run: { duration: 150us }
)";

struct IntRecorded {
  std::string records;
  IntReport report;
  std::uint64_t digest;
};

// `looks`: how often what has ended is fetched.
IntRecorded record_int(const EngineVariation& variation = {}, std::size_t workers = 1, Duration looks = 20_us) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  config.variation = variation;
  Scenario s(kBusyLab, {}, config);
  const TemporaryFile file("int");
  IntCollector collector(s.lab());
  collector.write_to(std::make_shared<OutputFile>(file.name()));
  collector.start({.one_in = 5, .packets = 1 << 14});
  for (Duration t = looks; t < 200_us; t += looks) {
    s.run_until(t);
    collector.look();
  }
  s.run_to_the_end();
  collector.stop();
  collector.close();
  return {file.octets(), collector.report(), s.digest()};
}

const IntRecorded& reference_records() {
  static const IntRecorded r = record_int();
  return r;
}

TEST(InBandTelemetry, EverySampledPacketIsAccountedFor) {
  const IntReport& r = reference_records().report;
  EXPECT_GT(r.sampled, 1000u);
  EXPECT_EQ(r.not_kept, 0u);
  EXPECT_EQ(r.sampled, r.arrived + r.dropped + r.lost + r.under_way);
  EXPECT_EQ(r.under_way, 0u) << "nothing is left";
  EXPECT_GT(r.arrived, 1000u);
  EXPECT_GT(r.dropped, 3u);
  EXPECT_GT(r.lost, 2u);
  std::uint64_t lines = 0;
  for (const char c : reference_records().records) lines += c == '\n' ? 1 : 0;
  EXPECT_EQ(lines, r.records);
  std::uint64_t marked = 0;
  for (const IntReport::Queue& q : r.queues) marked += q.marked;
  EXPECT_GT(marked, 10u);
}

// What is dropped says where and why.
TEST(InBandTelemetry, ADropHasItsReason) {
  EXPECT_NE(reference_records().records.find(R"("dropped":"icrc_error")"), std::string::npos);
  EXPECT_NE(reference_records().records.find(R"("dropped":"link_down")"), std::string::npos) << "h8 has sent it";
  EXPECT_NE(reference_records().records.find(R"("end":"dropped")"), std::string::npos);
  EXPECT_NE(reference_records().records.find(R"("end":"lost")"), std::string::npos);
}

TEST(InBandTelemetry, NothingIsChangedByIt) {
  EngineConfig config;
  config.digest = true;
  Scenario s(kBusyLab, {}, config);
  s.run_to_the_end();
  EXPECT_EQ(s.digest(), reference_records().digest);
}

TEST(InBandTelemetry, RecordsAreTheSameForAnyWorkersAndSlices) {
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation v;
    v.always_parallel = true;
    v.shuffle = Seed{workers};
    v.slices = Seed{workers};
    const IntRecorded r = record_int(v, workers);
    EXPECT_TRUE(r.records == reference_records().records) << workers << " workers";
    EXPECT_EQ(r.digest, reference_records().digest) << workers << " workers";
  }
}

// Too little room at the senders: the same ones are kept, and the rest is counted.
TEST(InBandTelemetry, WithoutRoomTheSamePacketsAreLeftOut) {
  const auto crowded = [](std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    config.variation.always_parallel = workers > 1;
    config.variation.slices = Seed{workers};
    Scenario s(kBusyLab, {}, config);
    const TemporaryFile file("int");
    IntCollector collector(s.lab());
    collector.write_to(std::make_shared<OutputFile>(file.name()));
    collector.start({.one_in = 5, .packets = 20});
    s.run_to_the_end();
    collector.stop();
    collector.close();
    EXPECT_EQ(collector.report().sampled, reference_records().report.sampled);
    EXPECT_GT(collector.report().not_kept, 100u);
    return file.octets();
  };
  const std::string one = crowded(1);
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(crowded(3) == one);
}

// What a link loses never comes to an end; its room is found again all the same.
TEST(InBandTelemetry, LostPacketsTakeNoRoomForEver) {
  Scenario s(R"(
name: lossy
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 1Gbps, bytes: 1MB } ]
faults: [ { on: h1, loss: 50% } ]
run: { duration: 20ms }
)");
  IntCollector collector(s.lab());
  collector.start({.one_in = 1, .packets = 40});
  for (Duration t = 50_us; t < 10_ms; t += 50_us) {
    s.run_until(t);
    collector.look();
  }
  s.run_to_the_end();
  collector.stop();
  const IntReport r = collector.report();
  EXPECT_EQ(r.sampled, 1000u);
  EXPECT_EQ(r.not_kept, 0u);
  EXPECT_EQ(r.arrived + r.lost, 1000u);
  EXPECT_NEAR(static_cast<double>(r.lost), 500, 80);
}

TEST(InBandTelemetry, TheSeedAndTheFlowDecideWhatIsSampled) {
  const auto sampled = [](const std::vector<std::string>& sets, const spec::IntSpec& what) {
    Scenario s(kBusyLab, sets);
    IntCollector collector(s.lab());
    collector.start(what);
    s.run_to_the_end();
    collector.stop();
    return collector.report();
  };
  const IntReport lossy = sampled({}, {.one_in = 5, .flows = {"lossy"}, .packets = 1 << 14});
  const IntReport rest = sampled({}, {.one_in = 5, .flows = {"incast", "permutation"}, .packets = 1 << 14});
  EXPECT_GT(lossy.sampled, 10u);
  EXPECT_EQ(lossy.sampled + rest.sampled, reference_records().report.sampled);
  EXPECT_EQ(sampled({}, {.one_in = 5, .classes = {0}, .packets = 1 << 14}).sampled, lossy.sampled);
  const IntReport one = sampled({}, {.one_in = 5, .flows = {"incast/h5->h1"}, .packets = 1 << 14});
  EXPECT_GT(one.sampled, 0u);
  for (const IntReport::Packet& p : one.slowest) EXPECT_EQ(p.flow, "incast/h5->h1");
}

TEST(InBandTelemetry, AFlowThatIsNoneIsRefused) {
  Scenario s(kBusyLab);
  IntCollector collector(s.lab());
  try {
    collector.start({.flows = {"incast/h5->h2"}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "in-band telemetry: there is no flow 'incast/h5->h2'; did you mean 'incast/h5->h1'?");
  }
}

// The wall clock runs the same devices.
TEST(InBandTelemetry, ItIsTheSameUnderTheWallClock) {
  const auto fetch_at_the_end = [](bool wall) {
    Scenario s(kBusyLab, {wall ? "run.clock=wall" : "run.clock=virtual"});
    const TemporaryFile file(wall ? "wall" : "virtual");
    IntCollector collector(s.lab());
    collector.write_to(std::make_shared<OutputFile>(file.name()));
    collector.start({.one_in = 5, .packets = 1 << 14});
    if (wall) {
      WallClockConfig clock;
      clock.scale_denominator = 10;
      const std::atomic<bool> stop{false};
      run_wall(s.engine(), Instant{} + 10_s, clock, stop);
    } else {
      s.run_to_the_end();
    }
    collector.stop();
    collector.close();
    return file.octets();
  };
  const std::string records = fetch_at_the_end(false);
  EXPECT_GT(records.size(), 10'000u);
  EXPECT_TRUE(fetch_at_the_end(true) == records);
}

// It may end and begin again while packets of before are on their way: they are not followed any more.
TEST(InBandTelemetry, CanEndAndBeginAnew) {
  Scenario s(kBusyLab);
  IntCollector collector(s.lab());
  s.run_until(30_us);
  collector.start({.one_in = 5});
  s.run_until(60_us);
  collector.stop();
  EXPECT_GT(collector.report().under_way, 10u);
  EXPECT_FALSE(collector.running());
  s.run_until(70_us);
  const std::uint64_t sampled = collector.report().sampled;
  collector.start({.one_in = 3, .classes = {3}});
  s.run_until(100_us);
  collector.look();
  collector.stop();
  const IntReport r = collector.report();
  EXPECT_NE(r.sampled, sampled);
  EXPECT_EQ(r.sampled - r.not_kept, r.arrived + r.dropped + r.lost + r.under_way);
  for (const IntReport::Packet& p : r.slowest) EXPECT_GE(p.hops[0].egress, Instant{} + 70_us);
  s.run_to_the_end();
}

// topologies/scenarios/int.yaml: the incast waits in one queue, and telemetry finds it.
TEST(InBandTelemetry, FindsTheQueueInWhichAnIncastWaits) {
  Scenario s = Scenario::ready("int");
  IntCollector collector(s.lab());
  collector.start(*s.lab().spec().run.in_band);
  s.run_to_the_end();
  collector.stop();
  EXPECT_EQ(s.dropped(), 0u);
  const IntReport r = collector.report();
  std::uint64_t packets = 0;
  for (const build::Flow& f : s.lab().flows()) packets += f.sent().packets;
  EXPECT_EQ(r.arrived, r.sampled);
  EXPECT_GT(r.sampled, packets / 20);
  EXPECT_LT(r.sampled, packets / 5);

  ASSERT_FALSE(r.queues.empty());
  EXPECT_EQ(r.queues[0].node, "leaf2");
  EXPECT_EQ(r.queues[0].peer, "h5:1");
  const IntReport::Packet& slowest = r.slowest.at(0);
  EXPECT_EQ(slowest.flow.substr(0, 7), "incast/");
  ASSERT_EQ(slowest.hops.size(), 5u);
  const IntReport::Hop& last = slowest.hops[3];
  EXPECT_EQ(last.node, "leaf2");
  EXPECT_GT(last.waited, slowest.latency * 9 / 10) << "nearly all of its time";
  // As long as what it found takes, less what of the first frame had left already; each frame has 20 octets more on the
  // wire.
  const Duration found = Bytes{static_cast<std::int64_t>(last.queue_octets)} / 100_Gbps;
  EXPECT_GE(last.waited, found - 1_us);
  EXPECT_LE(last.waited, found * 11 / 10);

  Scenario aside = Scenario::ready("int", {"run.int.flows=aside", "run.int.one-in=1"});
  IntCollector of_aside(aside.lab());
  of_aside.start(*aside.lab().spec().run.in_band);
  aside.run_to_the_end();
  of_aside.stop();
  const IntReport a = of_aside.report();
  EXPECT_EQ(a.sampled, aside.flow("aside/h1->h6").sent().packets);
  for (const IntReport::Queue& q : a.queues)
    if (q.node == "leaf2") {
      EXPECT_LT(q.waited.max(), static_cast<std::uint64_t>((1_us).ps)) << q.peer;
    }
}

}  // namespace
}  // namespace railyard::test
