#include "control/swarm/trial.h"

#include <gmock/gmock.h>

#include "control/spec/load.h"

namespace railyard::swarm {
namespace {

using testing::Contains;
using testing::IsEmpty;

std::string all_of(const Outcome& o) {
  std::string text;
  for (const Violation& v : o.violations) text += v.rule + ": " + v.what + "\n";
  return text;
}

TEST(Trial, WhatMustHoldDoes) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Outcome o = try_seed(seed);
    EXPECT_FALSE(o.failed()) << "seed " << seed << "\n" << all_of(o);
    EXPECT_GT(o.hops, 1000u);
    EXPECT_EQ(o.seed, seed);
  }
}

TEST(Trial, TheSameSeedIsTheSameRun) {
  EXPECT_EQ(try_seed(3).json(), try_seed(3).json());
  EXPECT_NE(try_seed(3).digest, try_seed(4).digest);
}

TEST(Trial, AnOutcomeIsOneLineAndBack) {
  Outcome o = try_seed(5);
  o.violations.push_back({"loss", "at 1us: \"quoted\"\nand more"});
  EXPECT_EQ(Outcome::from_json(o.json()).json(), o.json());
  EXPECT_EQ(o.json().find('\n'), std::string::npos);
}

TEST(Trial, AFaultThatActedIsCounted) {
  EXPECT_THAT(run_trial(spec::read_file(RAILYARD_SOURCE_DIR "/topologies/scenarios/flap.yaml")).kinds,
              Contains("flap"));
}

// Each of all packets, through a queue in which four hosts meet.
TEST(Trial, InBandTelemetryIsConsistentWithWhereThePacketsWere) {
  std::string lab = spec::read_file(RAILYARD_SOURCE_DIR "/topologies/scenarios/int.yaml");
  const std::string sampled = "one-in: 10, classes: 3";
  lab.replace(lab.find(sampled), sampled.size(), "one-in: 1, packets: 16384");
  const Outcome o = run_trial(lab);
  EXPECT_TRUE(o.features.contains("in-band telem."));
  EXPECT_THAT(all_of(o), IsEmpty());
  EXPECT_GT(o.hops, 1000u);
}

// Labs that the swarm found, each for its reason (in the file).
TEST(Trial, WhatItFoundBefore) {
  for (const std::string name :
       {"uet-no-room", "uc-doubled-at-port", "uc-doubled-at-switch", "read-storm", "read-storm-swift",
        "rudi-idle-in-line", "lost-for-ever-rod", "lost-for-ever-rud", "few-pdcs-rest", "read-in-another-class",
        "rod-packet-timers", "lost-for-ever-probe", "nic-memory-shared", "rod-after-a-failure", "rudi-tries", "bfd-behind-retries",
        "bundle-bfd"}) {
    const Outcome o = run_trial(spec::read_file(RAILYARD_SOURCE_DIR "/tests/control/swarm/seeds/" + name + ".yaml"));
    EXPECT_THAT(all_of(o), IsEmpty()) << name;
    EXPECT_GT(o.hops, 1000u) << name;
  }
}

// READs by go-back-N whose responses overtake each other end under each congestion control.
TEST(Trial, SprayedReadsEnd) {
  const std::string lab =
      spec::read_file(RAILYARD_SOURCE_DIR "/tests/control/swarm/seeds/read-storm-swift.yaml");
  const std::string said = "congestion: swift, swift: { base-target: 50us }";
  for (const std::string congestion : {"none", "dcqcn", "swift", "swift, swift: { fs-range: off, initial-cwnd: 1 }",
                                       "dcqcn, dcqcn: { profile: paper }"}) {
    std::string text = lab;
    for (std::size_t at = text.find(said); at != std::string::npos; at = text.find(said))
      text.replace(at, said.size(), "congestion:  " + congestion);
    const Outcome o = run_trial(text);
    EXPECT_THAT(all_of(o), IsEmpty()) << congestion;
    EXPECT_GT(o.hops, 100'000u) << congestion;
  }
}

TEST(Trial, ADeadlockIsNoFailureWhereBuffersCanWaitForEachOther) {
  const Outcome o = run_trial(spec::read_file(RAILYARD_SOURCE_DIR "/topologies/scenarios/deadlock-ring.yaml"));
  EXPECT_TRUE(o.deadlocked);
  EXPECT_THAT(all_of(o), IsEmpty());
}

// The host takes nothing before the run's drain is over: one long pause, and frames that nobody may drop.
TEST(Trial, WhatDoesNotDrainFails) {
  const Outcome o = run_trial(
      "name: stuck\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\n"
      "qos: { default: { classes: { 3: { lossless: true, xoff: 50KB } } } }\n"
      "hosts: { default: { receive: { rate: 1Mbps, buffer: 8MiB } } }\n"
      "traffic: [{ name: t, pattern: incast, to: h1, dscp: 26 }]\n"
      "run: { duration: 200us, drain: 3ms }\n");
  EXPECT_TRUE(o.failed("pause")) << all_of(o);
  EXPECT_TRUE(o.failed("drain")) << all_of(o);
}

// Trimmed frames that fill a link, and senders that nothing holds back nor discourages: 30 s of it are not waited for.
TEST(Trial, WhatGoesOnForEverFails) {
  const Outcome o = run_trial(
      "name: collapse\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 5, host-link: { rate: 25Gbps } }\n"
      "qos: { default: { classes: { 2: { strict: true },\n"
      "  6: { queue-alpha: 1/32, trim: { keep: 900B, dscp: 22, class: 2 } } } } }\n"
      "hosts: { default: { uet: { congestion: none, retries: 30 } } }\n"
      "traffic: [{ name: u, pattern: incast, to: h1, fan-in: 4, transport: uet, path-mtu: 2048, dscp: 48,\n"
      "  message: 256KiB, bytes: 1MiB }]\n"
      "run: { duration: 100us, drain: 30s }\n");
  EXPECT_TRUE(o.failed("storm")) << all_of(o);
}

TEST(Trial, ALabThatCannotBeBuiltFails) { EXPECT_TRUE(run_trial("name: x\nnodes: {}\nwhat: ever\n").failed("spec")); }

}  // namespace
}  // namespace railyard::swarm
