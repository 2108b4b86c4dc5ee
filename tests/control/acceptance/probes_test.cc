#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/acceptance/probe.h"
#include "control/spec/load.h"

namespace railyard::acceptance {
namespace {

using testing::HasSubstr;

spec::Lab clos() {
  return spec::parse(
      "name: clos\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3 }\n"
      "traffic: [{ name: own, from: h1, to: h4, transport: roce, bytes: 1MB, dscp: 26 }]\n"
      "expect: [completed of own == 1]\n",
      "clos.yaml");
}

TEST(Probes, InARoundEachNicSendsOnceAndReceivesOnce) {
  const Subject s = subject_of(clos(), {}, {});
  const auto rounds = rounds_of(s);
  ASSERT_EQ(rounds.size(), 5u) << "six hosts";
  std::map<std::pair<std::size_t, std::size_t>, int> pairs;
  for (const auto& round : rounds) {
    std::vector<int> sends(6), receives(6);
    for (const Pair& p : round) {
      ++sends[p.from];
      ++receives[p.to];
      ++pairs[{p.from, p.to}];
    }
    EXPECT_THAT(sends, testing::Each(1));
    EXPECT_THAT(receives, testing::Each(1));
  }
  EXPECT_EQ(pairs.size(), 30u) << "together all pairs";
}

// The list says what the fabric does, not what its own work does.
TEST(Probes, TheFilesWorkAndItsExpectationsAreLeftOut) {
  const Subject s = subject_of(clos(), {}, {});
  const auto p = probe_of(s, ProbeKind::kPairsAlone);
  ASSERT_TRUE(p);
  ASSERT_EQ(p->lab.traffic.size(), 1u);
  EXPECT_EQ(p->lab.traffic[0].name, "pairs-alone");
  EXPECT_TRUE(p->lab.expect.empty());
  EXPECT_EQ(std::ranges::count(p->flows, '\n'), 1 + 30);
  EXPECT_THAT(p->flows, HasSubstr("h1:1,h4:1,"));
  EXPECT_EQ(probe_of(s, ProbeKind::kOwnWork)->lab.expect.size(), 1u);
}

// Any number of ranks: the size is a multiple of an element for each.
TEST(Probes, CollectivesOfAnyNumberOfRanksHaveWholeElements) {
  for (const int hosts : {3, 5, 7, 12}) {
    const Subject s = subject_of(
        spec::parse(fmt::format("name: odd\ntopology: {{ preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: {} }}\n", hosts),
                    "odd.yaml"),
        {}, {});
    for (const ProbeKind kind : {ProbeKind::kAllReduce, ProbeKind::kAllGather, ProbeKind::kAllToAll, ProbeKind::kJob}) {
      const auto p = probe_of(s, kind);
      ASSERT_TRUE(p);
      EXPECT_EQ(p->lab.collectives[0].size.n % (4 * hosts), 0) << hosts;
      EXPECT_GT(p->lab.collectives[0].size.n, 1 << 20);
    }
  }
}

// Rails stay at their leaves: messages of the failover go to other rails, across the spines.
TEST(Probes, MessagesOfTheFailoverCrossTheFabric) {
  const Subject s = subject_of(
      spec::parse("name: rails\ntopology: { preset: rail-optimized, hosts: 4, rails: 2, spines: 2, hosts-per-group: 4 }\n",
                  "rails.yaml"),
      {}, {});
  const auto p = probe_of(s, ProbeKind::kFailover);
  ASSERT_TRUE(p);
  EXPECT_EQ(std::ranges::count(p->flows, '\n'), 1 + 8);
  for (const char* within : {"h1:1,h2:1", "h1:1,h3:1", "h1:1,h4:1", "h1:2,h3:2"})
    EXPECT_THAT(p->flows, testing::Not(HasSubstr(within)));
}

TEST(Probes, AFabricWithoutASecondPathHasNoFailover) {
  const spec::Lab one =
      spec::parse("name: one\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n", "one.yaml");
  EXPECT_FALSE(probe_of(subject_of(one, {}, {}), ProbeKind::kFailover));
  EXPECT_FALSE(probe_of(subject_of(one, {}, {}), ProbeKind::kOwnWork)) << "the file has no work";
  const auto p = probe_of(subject_of(clos(), {}, {}), ProbeKind::kFailover);
  ASSERT_TRUE(p);
  ASSERT_EQ(p->options.size(), 2u);
  EXPECT_THAT(p->options[1], HasSubstr("down"));
}

}  // namespace
}  // namespace railyard::acceptance
