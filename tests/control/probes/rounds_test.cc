// `probe` of a file, in a run under the virtual clock.
#include "control/probes/rounds.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "control/spec/probe_pairs.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::probes {
namespace {

using testing::HasSubstr;

constexpr const char* kProbed = R"(
name: probed
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
probe: { every: 5ms }
run: { duration: 52ms, memory: 256MiB }
)";

report::Report run(const std::vector<std::string>& sets = {}) {
  lab::SessionOptions options;
  options.digest = true;
  lab::Session session(spec::parse(kProbed, "probed.yaml", sets), std::move(options));
  return session.run(std::atomic<bool>{false});
}

TEST(Rounds, AnIdleLabIsProbedRoundByRound) {
  const report::Report r = run();
  ASSERT_TRUE(r.probes);
  EXPECT_EQ(r.probes->rounds, 10u);
  EXPECT_EQ(r.probes->skipped, 0u);
  EXPECT_EQ(r.probes->pairs.size(), 12u);
  EXPECT_EQ(r.probes->slow(), 0u);
  for (const auto& p : r.probes->pairs)
    EXPECT_NEAR(p.median_bps.value_or(0), 98.1e9, 0.2e9) << p.source << p.destination;
  EXPECT_TRUE(r.audit.balanced);
}

// A link that has lost half its rate: those that cross it are told from the others.
TEST(Rounds, APairBehindASlowLinkIsSlow) {
  const report::Report r = run({"faults=[ { on: \"leaf1:1\", rate: 1/2, at: 31ms } ]"});
  ASSERT_TRUE(r.probes);
  EXPECT_EQ(r.probes->slow(), 6u) << "to and from h1";
  for (const auto& p : r.probes->pairs)
    EXPECT_EQ(p.is_slow, p.source == "h1:1" || p.destination == "h1:1") << p.source << " " << p.destination;
  EXPECT_THAT(r.text(), HasSubstr("6 pairs more than 10 % below their median in the last round"));
}

TEST(Rounds, TheSameSeedGivesTheSameRoundsOnAnyNumberOfWorkers) {
  EXPECT_EQ(run({"run.workers=1"}).trace_digest, run({"run.workers=2"}).trace_digest);
}

std::string error_of(const std::vector<std::string>& sets) {
  try {
    spec::parse(kProbed, "probed.yaml", sets);
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(Rounds, WhatCannotBeProbedIsRefused) {
  EXPECT_THAT(error_of({"probe.every=1us"}), HasSubstr("a round of 12 pairs takes"));
  EXPECT_THAT(error_of({"run.duration="}), HasSubstr("probes never end"));
  EXPECT_THAT(error_of({"probe.payload=9216B"}), HasSubstr("exceed the MTU"));
  EXPECT_THAT(error_of({"probe.below=1"}), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(error_of({"probe.frames=1"}), HasSubstr("frames"));
}

TEST(Rounds, KeysAreWrittenBack) {
  const spec::Lab lab = spec::parse(kProbed, "probed.yaml",
                                    {"probe.dscp=10", "probe.priority=2", "probe.payload=1024B", "probe.frames=8",
                                     "probe.history=9", "probe.below=20%"});
  EXPECT_EQ(spec::parse(spec::to_yaml(lab), "written.yaml").probe, lab.probe);
}

TEST(ProbedPairs, AreThoseOfOneRail) {
  const spec::Lab lab = spec::parse("name: rails\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 0 }\n", "rails.yaml");
  const auto pairs = spec::probed_pairs(lab);
  EXPECT_EQ(pairs.size(), 12u);
  for (const auto& p : pairs) EXPECT_EQ(p.from.port, p.to.port);
}

}  // namespace
}  // namespace railyard::probes
