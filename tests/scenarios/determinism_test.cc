// One result: whatever the order of devices, the portions of time, the number of workers, the clock.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataplane/run/wall_clock.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Marks, pauses, drops, six classes, all path policies, cut-through in a spine, links that fail: everything that could
// disagree.
constexpr const char* kEverything = R"(
name: everything
switches:
  default: { buffer: 3MiB }
  fast: { buffer: 4MiB, mode: cut-through, latency: 300ns }
qos:
  default:
    classes:
      0: { queue-alpha: 1/8, weight: 10, path: { policy: flowlet, gap: 3us } }
      1: { path: { policy: spray, order: random } }
      2: { path: { policy: adaptive, per: flowlet, gap: 1us } }
      3: { lossless: true, alpha: 1/8, weight: 50, ecn: { kmin: 10KB, kmax: 200KB, pmax: 20% } }
      4: { lossless: true, alpha: 1/2, weight: 30, path: adaptive }
      5: { path: wcmp }
      6: { strict: true, path: { policy: spray, order: least-loaded } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4,
            host-link: { rate: 100Gbps, cable: 3m }, fabric-link: { rate: 200Gbps, cable: 30m } }
nodes: { spine1: { kind: switch, profile: fast }, h1: { kind: host, profile: slow } }
hosts: { default: {}, slow: { receive: { rate: 40Gbps } } }
traffic:
  - { name: permutation, pattern: permutation, dscp: 26 }
  - { name: incast, pattern: incast, fan-in: 10, to: h1, dscp: 26, payload: 1024B, start: 20us, stagger: 700ns }
  - { name: sprayed, pattern: random, flows: 2, dscp: 34, payload: 2048B, rate: 30Gbps }
  - { name: lossy, pattern: incast, to: h7, flows: 2, dscp: 0, payload: 512B, on: 10us, off: 15us }
  - { name: one, pattern: random, dscp: 8, payload: 700B, rate: 2Gbps }
  - { name: two, pattern: random, dscp: 16, payload: 3000B, rate: 3Gbps, on: 2us, off: 2us }
  - { name: five, pattern: random, flows: 4, dscp: 40, payload: 1000B, rate: 1Gbps }
  - { name: control, pattern: random, dscp: 48, payload: 64B, rate: 1Gbps }
  - { name: six, pattern: random, ip: 6, dscp: 26, payload: 1500B, rate: 5Gbps }
run: { duration: 200us }
)";

// Two links fail on the way and come back: one from a host, one of a switch that cuts through.
void let_links_fail(Scenario& s) {
  Fabric& fabric = s.lab().fabric();
  const PortRef host_link = s.lab().port({"h3", 1});
  const PortRef spine_link = s.lab().port({"spine1", 2});
  fabric.link_down_at(Instant{} + 60'000'001_ps, host_link);
  fabric.link_down_at(Instant{} + 70_us, spine_link);
  fabric.link_up_at(Instant{} + 75_us, host_link);
  fabric.link_up_at(Instant{} + 90_us, spine_link);
  s.engine().wake_all();
}

// Everything that can be set while a lab is up, while it is congested, and some of it back again.
void change_settings(Scenario& s) {
  s.set_at(50_us, {"qos.default.classes.3.ecn.kmin=2KB", "qos.default.classes.3.ecn.kmax=50KB"});
  s.set_at(60_us, {"qos.default.classes.3.alpha=1/64", "qos.default.classes.4.alpha=",
                   "qos.default.classes.4.xoff=20KB", "qos.default.classes.0.queue-alpha=2"});
  s.set_at(80'000'001_ps, {"topology.host-link.rate=40Gbps", "qos.default.classes.0.weight=70"});
  s.set_at(100_us, {"qos.default.classes.3.path=spray", "qos.default.classes.4.path=ecmp",
                    "qos.default.classes.5.path=adaptive", "qos.default.classes.2.path={ policy: flowlet, gap: 2us }",
                    "switches.default.ecmp.fields=[addresses]", "qos.default.classes.6.strict=false"});
  s.set_at(120_us,
           {"topology.host-link.rate=200Gbps", "traffic.sprayed.rate=60Gbps", "traffic.permutation.rate=20Gbps"});
  s.set_at(140_us, {"qos.default.classes.3.alpha=2", "traffic.six.rate=greedy", "qos.default.classes.3.ecn=off"});
  s.set_at(160_us, {"qos.default.classes.3.weight=", "qos.default.classes.3.strict=true",
                    "topology.host-link.rate=100Gbps"});
}

enum class Settings { kStay, kChange };

struct Outcome {
  std::uint64_t digest;
  std::uint64_t marks = 0, xoffs = 0, drops = 0, lost = 0, trims = 0, storms = 0, restored = 0, reports = 0;
  std::vector<fault::FaultStatus> faults = {};
};

Outcome run(EngineVariation variation = {}, std::size_t workers = 1, const std::vector<std::string>& sets = {},
            Settings settings = Settings::kStay) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  config.variation = variation;
  Scenario s(kEverything, sets, config);
  let_links_fail(s);
  if (settings == Settings::kChange) change_settings(s);
  s.run_to_the_end();
  s.expect_books_balance();
  Outcome o{s.digest()};
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports) {
      o.lost += p.lost;
      o.reports += p.quality_reports_received;
      for (const ClassCounters& c : p.classes) {
        o.marks += c.ecn_marked, o.xoffs += c.xoff_sent, o.trims += c.trimmed;
        o.storms += c.storms_detected, o.restored += c.storms_restored;
      }
    }
  o.drops = s.dropped();
  o.faults = s.faults().status(s.engine().reached());
  return o;
}

const Outcome& reference() {
  static const Outcome o = run();
  return o;
}

TEST(Determinism, TheRunIsCongestedInEveryWay) {
  EXPECT_GT(reference().marks, 1000u);
  EXPECT_GT(reference().xoffs, 100u);
  EXPECT_GT(reference().drops, 100u);
  EXPECT_GT(reference().lost, 1u);
}

TEST(Determinism, TheSameSeedGivesTheSameOctetsAtTheSameInstants) { EXPECT_EQ(run().digest, reference().digest); }

// The same on every machine, in every build (release, sanitizers) and ever after: whoever changes what a run does says
// so here.
TEST(Determinism, TheDigestIsTheOneThatItAlwaysWas) { EXPECT_EQ(reference().digest, 14365386910686849183u); }

TEST(Determinism, AnotherSeedDoesNot) { EXPECT_NE(run({}, 1, {"run.seed=2"}).digest, reference().digest); }

// The sequential reference: windows of one picosecond leave nothing to the order of devices.
TEST(Determinism, WindowsOfOnePicosecondGiveTheSame) {
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v).digest, reference().digest);
}

TEST(Determinism, TheOrderOfDevicesDoesNotMatter) {
  for (const std::uint64_t seed : {1ull, 2ull, 3ull}) {
    EngineVariation v;
    v.shuffle = Seed{seed};
    EXPECT_EQ(run(v).digest, reference().digest) << seed;
  }
}

TEST(Determinism, RandomSlicesOfTimeDoNotMatter) {
  for (const std::uint64_t seed : {1ull, 2ull, 3ull}) {
    EngineVariation v;
    v.slices = Seed{seed};
    EXPECT_EQ(run(v).digest, reference().digest) << seed;
  }
}

TEST(Determinism, TheNumberOfWorkersDoesNotMatter) {
  for (const std::size_t workers : {2ull, 3ull, 4ull}) {
    EngineVariation v;
    v.always_parallel = true;
    EXPECT_EQ(run(v, workers).digest, reference().digest) << workers << " workers";
    v.shuffle = Seed{workers};
    v.slices = Seed{workers};
    EXPECT_EQ(run(v, workers).digest, reference().digest) << workers << " workers, random placement and slices";
  }
}

TEST(Determinism, DevicesThatGoToOtherWorkersOnTheWayDoTheSame) {
  for (const std::size_t workers : {2ull, 3ull, 4ull}) {
    for (const std::uint64_t every : {1ull, 7ull, 100ull}) {
      EngineVariation v;
      v.always_parallel = true;
      v.shuffle = Seed{workers};
      v.replace_every = every;
      EXPECT_EQ(run(v, workers).digest, reference().digest) << workers << " workers, others every " << every << " windows";
    }
  }
}

TEST(Determinism, SettingsThatChangeOnTheWayDoSoForEverybodyAtOneInstant) {
  const Outcome o = run({}, 1, {}, Settings::kChange);
  EXPECT_NE(o.digest, reference().digest);
  EXPECT_GT(o.marks, 100u);
  EXPECT_GT(o.xoffs, 100u);
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v, 1, {}, Settings::kChange).digest, o.digest) << "windows of one picosecond";
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation w;
    w.always_parallel = true;
    w.shuffle = Seed{workers};
    w.slices = Seed{workers};
    EXPECT_EQ(run(w, workers, {}, Settings::kChange).digest, o.digest) << workers << " workers";
  }
}

// Trimming, a PFC watchdog that is quick to see a storm, and headroom from a pool.
TEST(Determinism, TrimmingWatchdogAndHeadroomPoolGoTheSameWayToo) {
  const std::vector<std::string> sets{
      "qos.default.classes.0.trim={ keep: 128B, dscp: 40, class: 5 }",
      "qos.default.classes.5.strict=true",
      "switches.default.headroom-pool=1MiB",
      "switches.default.pfc-watchdog={ detect: 4us, restore: 2us, poll: 1us }",
      "switches.fast.pfc-watchdog={ detect: 3us, restore: 3us, poll: 1us, action: forward }"};
  const Outcome o = run({}, 1, sets);
  EXPECT_NE(o.digest, reference().digest);
  EXPECT_GT(o.trims, 100u);
  EXPECT_GT(o.storms, 2u);
  EXPECT_EQ(o.storms, o.restored) << "all is over in the end";
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v, 1, sets).digest, o.digest) << "windows of one picosecond";
  EXPECT_EQ(run({}, 1, [&] { auto real = sets; real.push_back("run.payload=real"); return real; }()).digest, o.digest);
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation w;
    w.always_parallel = true;
    w.shuffle = Seed{workers};
    w.slices = Seed{workers};
    EXPECT_EQ(run(w, workers, sets).digest, o.digest) << workers << " workers";
  }
}

// Averages of samples, taken whenever somebody looks; two classes sample in the same way, one in another.
TEST(Determinism, SampledLoadsToo) {
  const std::vector<std::string> sets{
      "topology.spines=3",
      "qos.default.classes.1.path={ policy: adaptive, sample-every: 300ns, average: 1 }",
      "qos.default.classes.2.path={ policy: adaptive, per: flowlet, gap: 1us, sample-every: 1us, average: 1/8 }",
      "qos.default.classes.4.path={ policy: adaptive, sample-every: 1us, average: 1/8, band: 200ns }"};
  const Outcome o = run({}, 1, sets);
  auto instant = sets;
  for (std::string& set : instant) set = set.substr(0, set.find(", sample-every")) + (set.back() == '}' ? " }" : "");
  EXPECT_NE(o.digest, run({}, 1, instant).digest);
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v, 1, sets).digest, o.digest) << "windows of one picosecond";
  const std::uint64_t changed = run({}, 1, sets, Settings::kChange).digest;
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation w;
    w.always_parallel = true;
    w.shuffle = Seed{workers};
    w.slices = Seed{workers};
    EXPECT_EQ(run(w, workers, sets).digest, o.digest) << workers << " workers";
    EXPECT_EQ(run(w, workers, sets, Settings::kChange).digest, changed) << workers << " workers, settings change";
  }
}

// Reports from switch to switch, of queues that change all the time, while links fail and settings change.
TEST(Determinism, GlobalLoadBalancingToo) {
  const std::vector<std::string> sets{
      "topology.spines=3",
      "qos.default.classes.2.path={ policy: adaptive, per: flowlet, gap: 1us, global: true }",
      "qos.default.classes.4.path={ policy: adaptive, global: true, report-every: 700ns, band: 200ns }"};
  const Outcome o = run({}, 1, sets);
  EXPECT_NE(o.digest, run({}, 1, {"topology.spines=3"}).digest);
  EXPECT_GT(o.reports, 300u);
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v, 1, sets).digest, o.digest) << "windows of one picosecond";
  const std::uint64_t changed = run({}, 1, sets, Settings::kChange).digest;
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation w;
    w.always_parallel = true;
    w.shuffle = Seed{workers};
    w.slices = Seed{workers};
    EXPECT_EQ(run(w, workers, sets).digest, o.digest) << workers << " workers";
    if (workers % 2 == 0) {
      EXPECT_EQ(run(w, workers, sets, Settings::kChange).digest, changed) << workers << " workers, other settings";
    }
  }
}

// Everything that can go wrong, at once and again and again.
const std::vector<std::string> kFaults{
    "faults=[{ on: 'h*', loss: 0.5%, for: 90us },"
    "{ on: 'leaf*', loss: { good-to-bad: 0.1%, bad-to-good: 20% }, at: 20us },"
    "{ on: spine2, bit-errors: 1e-6 }, { on: h2, corrupt: true, probability: 1% },"
    "{ on: h4, duplicate: true, probability: 2% }, { on: h5, truncate: 100B, match: { nth: 7 }, every: 9us, for: 5us },"
    "{ on: leaf1, mark: true, probability: 3% }, { on: h6, delay: { time: 300ns, jitter: 900ns }, at: 30us, for: 70us "
    "},"
    "{ on: 'leaf2 in', reorder: { behind: 4, within: 3us }, probability: 2% },"
    "{ on: h7, lose-pause: true, probability: 30% }, { on: leaf2:1/3, drop: true, count: 50 },"
    "{ on: h8, flap: { down: 3us, up: 11us }, at: 40us, for: 60us }, { on: h9, rate: 1/3, at: 20us, for: 50us },"
    "{ on: h10, pfc-storm: [3, 4], every: 30us, for: 8us, count: 6, probability: 70% },"
    "{ on: 'leaf*', ignore-pause: true, at: 40us, for: 50us }, { on: h11, mtu: 1500, at: 70us, for: 20us },"
    "{ on: leaf2, dscp-map: { 26: 0 }, at: 50us, for: 10us }, { on: leaf1, ecn: { kmin: 0, kmax: 1KB }, at: 30us },"
    "{ on: leaf3, buffer: 2MiB, at: 45us, for: 60us }, { on: spine2, crash: true, at: 110us, for: 12us },"
    "{ on: h12, stop-receiving: true, every: 40us, for: 15us, count: 4 }, { on: h3, receive: 20Gbps, at: 10us, for: "
    "60us },"
    "{ on: h4, straggle: 1/3, at: 80us, for: 60us }, { on: h1, skew: { ahead: 2us, slow: 1% }, at: 33us },"
    "{ on: h2, when: 'queue leaf1:1/3 depth > 100KB', after: 1us, for: 5us, down: true, count: 3 },"
    "{ on: leaf3, when: 'queue leaf1:1/3 paused > 1us', for: 4us, loss: 10% },"
    "{ on: h3, trim: { keep: 128B, dscp: 40 }, probability: 5% }]",
    "hosts.default.receive={ buffer: 40KB, xoff: 20KB, xon: 10KB }"};  // so small that who stops receiving loses some

TEST(Determinism, FaultsToo) {
  const Outcome o = run({}, 1, kFaults, Settings::kChange);
  EXPECT_NE(o.digest, reference().digest);
  EXPECT_GT(o.lost, 300u);
  EXPECT_EQ(o.faults.size(), 27u);
  for (const fault::FaultStatus& f : o.faults) {
    EXPECT_GE(f.occurrences, 1u) << f.name;
    if (f.counts_frames) {
      EXPECT_GE(f.frames, 1u) << f.name;
    }
  }
  EngineVariation v;
  v.window = 1_ps;
  EXPECT_EQ(run(v, 1, kFaults, Settings::kChange).digest, o.digest) << "windows of one picosecond";
  for (const std::size_t workers : {1ull, 2ull, 3ull, 4ull}) {
    EngineVariation w;
    w.always_parallel = true;
    w.shuffle = Seed{workers};
    w.slices = Seed{workers};
    EXPECT_EQ(run(w, workers, kFaults, Settings::kChange).digest, o.digest) << workers << " workers";
  }
}

TEST(Determinism, RealPayloadGoesTheSameWay) {
  EXPECT_EQ(run({}, 1, {"run.payload=real"}).digest, reference().digest);
}

TEST(DeterminismDeathTest, AWindowLargerThanTheLookaheadIsCaught) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EngineVariation v;
  v.shuffle = Seed{1};  // in a lucky order of devices nobody would notice
  {
    Scenario s(kEverything);
    v.window = Duration{s.engine().window().ps * 12 / 10};
  }
  EXPECT_DEATH(run(v), "causality");
}

// One path for both clocks: paced by the machine's clock, with nothing coming from outside, the run has the very digest
// of the virtual one. Whatever the machine does to it meanwhile.
std::uint64_t run_by_the_wall_clock(WallClockConfig clock) {
  EngineConfig config;
  config.digest = true;
  Scenario s(kEverything, {"run.clock=wall"}, config);
  let_links_fail(s);
  const std::atomic<bool> stop{false};
  run_wall(s.engine(), Instant{} + 10_s, clock, stop);
  EXPECT_EQ(s.engine().next(), Instant::never());
  return s.digest();
}

TEST(WallClock, GivesTheVeryDigestOfTheVirtualOne) {
  WallClockConfig clock;
  clock.scale_denominator = 10;  // within what a debug build can do
  EXPECT_EQ(run_by_the_wall_clock(clock), reference().digest);
}

TEST(WallClock, DilatedAHundredTimesToo) {
  WallClockConfig clock;
  clock.scale_denominator = 100;
  EXPECT_EQ(run_by_the_wall_clock(clock), reference().digest);
}

TEST(WallClock, FarBehindItSlipsAndTheResultIsTheSame) {
  WallClockConfig clock;
  clock.scale_numerator = 1000;  // hopeless: a thousand times faster than the wall clock
  clock.lag_limit = 10_us;
  EXPECT_EQ(run_by_the_wall_clock(clock), reference().digest);
}

TEST(WallClock, WithAnotherThreadTakingTheCoreAwayToo) {
  std::atomic<bool> done{false};
  std::vector<std::thread> hogs;
  for (int i = 0; i < 4; ++i)
    hogs.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
      }
    });
  WallClockConfig clock;
  clock.scale_denominator = 10;
  const std::uint64_t digest = run_by_the_wall_clock(clock);
  done = true;
  for (std::thread& t : hogs) t.join();
  EXPECT_EQ(digest, reference().digest);
}

// Processes that do nothing but run, on the one processor that this thread may use meanwhile.
class Crowd {
 public:
  explicit Crowd(int processes) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);  // children inherit it
    for (int i = 0; i < processes; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sh", "sh", "-c", "while :; do :; done", static_cast<char*>(nullptr));
        _exit(127);
      }
      children_.push_back(child);
    }
  }
  ~Crowd() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    sched_setaffinity(0, sizeof before_, &before_);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  cpu_set_t before_;
  std::vector<pid_t> children_;
};

// How often this thread has lost its processor to somebody else.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

TEST(WallClock, WithOtherProcessesTakingTheCoreAwayToo) {
  for (const std::int64_t denominator : {10, 100}) {
    const Crowd crowd(2);
    const long before = preemptions();
    WallClockConfig clock;
    clock.scale_denominator = denominator;
    EXPECT_EQ(run_by_the_wall_clock(clock), reference().digest);
    EXPECT_GT(preemptions(), before) << "it was not disturbed; this says nothing";
  }
}

}  // namespace
}  // namespace railyard::test
