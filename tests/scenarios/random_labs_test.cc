// Labs that nobody thought of: whatever is configured, the books balance, lossless classes lose nothing while links
// hold, the run comes to its end, and there is one result.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "dataplane/base/rng.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(Seed{seed}, "random_labs_test") {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string from(std::size_t least, std::size_t most) { return std::to_string(least + below(most - least + 1)); }
  template <class... T>
  std::string of(T... texts) {
    const std::array<const char*, sizeof...(T)> all{texts...};
    return all[below(all.size())];
  }

 private:
  RngStream rng_;
};

struct RandomLab {
  std::string yaml;
  bool links_fail = false;
  bool has_watchdog = false;  // which drops,
  bool forwards = false;      // or goes on although it was told to pause
  bool has_pool = false;      // of headroom, over-subscribed
  bool trims = false;         // and what is short already overtakes others in its new class
};

RandomLab random_lab(std::uint64_t seed, std::size_t buffer_mib) {
  Dice d(seed);
  Dice more(seed + (std::uint64_t{1} << 32));
  RandomLab lab;
  std::string& y = lab.yaml;
  const auto mode = [&] { return "mode: " + d.of("store-and-forward", "cut-through"); };
  y = "name: random\nswitches:\n";
  for (const char* profile : {"default", "other"}) {
    y += std::string("  ") + profile + ": { buffer: " + std::to_string(buffer_mib) +
         "MiB, cell: " + d.of("64B", "208B", "256B", "1KiB") + ", " + mode() + ", latency: " + d.from(100, 900) +
         "ns, pause-quanta: " + d.of("65535", "2000", "500");
    if (more.one_in(3)) {
      lab.has_watchdog = true;
      const std::string action = more.of("drop", "forward", "alert");
      lab.forwards |= action == "forward";
      y += ", pfc-watchdog: { detect: 6us, restore: 4us, poll: 2us, action: " + action + " }";
    }
    if (more.one_in(3)) {
      lab.has_pool = true;
      y += ", headroom-pool: " + std::to_string(buffer_mib / 2) + "MiB";
    }
    y += " }\n";
  }
  y += "qos:\n  default:\n    classes:\n";
  int lossy = -1;  // the last lossy class before
  for (int c = 0; c < 8; ++c) {
    const bool lossless = c == 3 || d.one_in(4);
    const std::string alpha = d.of("1/32", "1/8", "1/2", "1", "8");
    y += "      " + std::to_string(c) + ": { lossless: " + (lossless ? "true" : "false") +
         (lossless ? ", alpha: " : ", queue-alpha: ") + alpha;
    if (d.one_in(2))
      y += ", ecn: { kmin: " + d.from(0, 100) + "KB, kmax: " + d.from(100, 400) + "KB, pmax: " + d.from(1, 100) +
           "%, mark: " + d.of("enqueue", "dequeue") + " }";
    y += d.one_in(6) ? ", strict: true" : ", weight: " + d.from(1, 100);
    if (!lossless) {
      if (lossy >= 0 && more.one_in(3)) {
        lab.trims = true;
        y += ", trim: { keep: " + more.from(96, 2000) + "B, dscp: " + more.from(0, 63) +
             ", class: " + std::to_string(lossy) + " }";
      }
      lossy = c;
    }
    y += ", path: " + d.of("ecmp", "spray") + " }\n";
  }
  y += "hosts:\n  default: { latency: " + d.from(0, 900) +
       "ns }\n  slow: { latency: 300ns, receive: { rate: " + d.from(5, 60) +
       "Gbps, buffer: 4MiB, xoff: 200KB, xon: 100KB } }\n";
  const std::string leaves = d.from(1, 3);
  y += "topology: { preset: leaf-spine, leaves: " + leaves + ", spines: " + d.from(1, 3) +
       ", hosts-per-leaf: 4, host-link: { rate: " + d.of("10Gbps", "25Gbps", "100Gbps") + ", cable: " + d.from(1, 10) +
       "m }, fabric-link: { rate: " + d.of("25Gbps", "100Gbps", "400Gbps") + ", cable: " + d.from(5, 300) + "m } }\n";
  y +=
      "nodes: { spine1: { kind: switch, profile: other }, leaf1: { kind: switch, profile: " + d.of("default", "other") +
      " }, h2: { kind: host, profile: slow } }\ntraffic:\n";
  for (int t = 0; t < 5; ++t) {
    y += "  - { name: t" + std::to_string(t) +
         ", pattern: " + d.of("random", "permutation", "incast, to: h1", "incast, to: h2") +
         ", dscp: " + d.from(0, 63) + ", ip: " + d.of("4", "6") +
         ", payload: " + std::to_string(4 * (1 + d.below(2200))) + "B";
    if (d.one_in(2)) y += ", rate: " + d.from(1, 10) + "Gbps";
    if (d.one_in(3)) y += ", on: " + d.from(1, 20) + "us, off: " + d.from(1, 20) + "us";
    if (d.one_in(3)) y += ", ecn: false";
    y += ", start: " + d.from(0, 40) + "us }\n";
  }
  y += "run: { duration: 80us, seed: " + d.from(1, 1000) + " }\n";
  lab.links_fail = d.one_in(3);
  return lab;
}

std::uint64_t run(std::uint64_t seed, const EngineVariation& variation, std::size_t workers) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  config.variation = variation;
  for (std::size_t buffer_mib = 2; buffer_mib <= 64; buffer_mib *= 2) {
    const RandomLab lab = random_lab(seed, buffer_mib);
    SCOPED_TRACE(lab.yaml + (lab.links_fail ? "and a link that fails" : ""));
    try {
      Scenario s(lab.yaml, {}, config);
      if (lab.links_fail) {
        const PortRef link = s.lab().port({"spine1", 1});
        s.lab().fabric().link_down_at(Instant{} + 30_us, link);
        s.lab().fabric().link_up_at(Instant{} + 45_us, link);
        s.engine().wake_all();
      }
      for (const Duration t : {31_us, 60_us, 95_us}) {
        s.run_until(t);
        s.expect_books_balance();
      }
      s.run_to_the_end();
      const report::Report r = s.report();
      EXPECT_TRUE(r.audit.balanced);
      EXPECT_TRUE(r.audit.drained);
      EXPECT_EQ(s.engine().pools().in_use(), 0u);
      if (!lab.has_pool && !lab.forwards) {
        EXPECT_EQ(s.drops(DropReason::kHeadroomFull), 0u);
      }
      EXPECT_EQ(s.drops(DropReason::kNotUnderstood) + s.drops(DropReason::kNotForUs) + s.drops(DropReason::kNoRoute),
                0u);
      for (const build::Flow& f : s.lab().flows()) {
        EXPECT_EQ(f.received().corrupted, 0u) << f.plan.name;
        EXPECT_EQ(f.received().duplicated, 0u) << f.plan.name;
        const spec::TrafficClass& c = s.lab().spec().qos.at("default").classes[f.priority.index()];
        if (c.lossless && !lab.links_fail && !lab.has_watchdog && !lab.has_pool) {
          EXPECT_EQ(f.received().packets, f.sent().packets) << f.plan.name;
        }
        EXPECT_LE(f.received().packets + f.received().trimmed, f.sent().packets) << f.plan.name;
        // A flow that goes back to its path when a link is there again overtakes what waits on the detour.
        if (c.path.policy == spec::PathPolicy::kEcmp && !lab.trims && !lab.links_fail) {
          EXPECT_EQ(f.received().reordered, 0u) << f.plan.name;
        }
      }
      return s.digest();
    } catch (const spec::SpecError& error) {
      if (std::string(error.what()).find("buffer") == std::string::npos &&
          std::string(error.what()).find("pool") == std::string::npos)
        throw;  // else more of it
    }
  }
  ADD_FAILURE() << "no buffer is large enough for lab " << seed;
  return 0;
}

class RandomLabs : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomLabs, KeepTheirPromises) {
  const std::uint64_t seed = GetParam();
  const std::uint64_t digest = run(seed, {}, 1);
  EngineVariation v;
  v.shuffle = v.slices = Seed{seed};
  v.always_parallel = true;
  EXPECT_EQ(run(seed, v, 3), digest);
}

// A few each time; the long test asks for many.
std::uint64_t labs() {
  const char* wanted = std::getenv("RAILYARD_RANDOM_LABS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 16;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLabs, testing::Range(std::uint64_t{1}, labs() + 1),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace railyard::test
