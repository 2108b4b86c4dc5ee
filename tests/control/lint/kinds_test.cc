// Large labs: streams that are alike are looked at once.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/lint/alike.h"
#include "control/lint/facts.h"
#include "control/spec/load.h"

namespace railyard::lint {
namespace {

spec::Lab fat_tree(int k, const std::string& more = {}) {
  return spec::parse(fmt::format("name: x\ntopology: {{ preset: fat-tree, k: {} }}\n"
                                 "traffic: [ {{ name: t, pattern: permutation }} ]\nrun: {{ duration: 1ms }}\n{}",
                                 k, more),
                     "x.yaml");
}

std::size_t kinds(const spec::Lab& lab) {
  const routing::Graph graph(lab);
  const std::vector<std::size_t> kind = kinds_of_nodes(graph);
  return std::set<std::size_t>(kind.begin(), kind.end()).size();
}

TEST(Alike, AFatTreeHasAKindOfNodeForEachTier) { EXPECT_EQ(kinds(fat_tree(4)), 4u); }

// What is different at one switch is different for those around it, in so many ways as they are far from it.
TEST(Alike, OneSwitchWithAnotherProfileMakesKindsByTheDistanceFromIt) {
  const std::size_t n = kinds(fat_tree(4, "switches: { default: {}, slow: { latency: 2us } }\nnodes: { leaf1: { profile: slow } }\n"));
  EXPECT_GT(n, 8u);
  EXPECT_LT(n, 36u);
}

// leaf1 and leaf2 of a ring of six are as alike as any two.
TEST(Alike, LinksOfAnotherRateAreAnotherKind) {
  const std::string ring = "name: x\nnodes: { a: { kind: switch }, b: { kind: switch }, c: { kind: switch }, d: { kind: switch } }\n"
                           "links: [[a:1, b:2], [b:1, c:2], [c:1, d:2], [d:1, a:2";
  EXPECT_EQ(kinds(spec::parse(ring + "]]\n", "x.yaml")), 1u);
  EXPECT_EQ(kinds(spec::parse(ring + ", { rate: 10Gbps }]]\n", "x.yaml")), 2u);
}

TEST(Facts, OfManyStreamsTheFirstOfEachKindIsLookedAt) {
  const spec::Lab lab = fat_tree(22);  // 2,662 hosts
  build::BuiltLab built(lab);
  const Facts facts(built);
  ASSERT_GT(facts.streams().size(), Facts::kMostStreams);
  const std::vector<Stream>& some = facts.kinds_of_streams();
  EXPECT_EQ(some.size(), 3u) << "behind one leaf, in a pod, between pods";
  EXPECT_EQ(some.front().from, facts.streams().front().from);
}

TEST(Facts, OfFewStreamsAllAre) {
  build::BuiltLab built(fat_tree(4));
  const Facts facts(built);
  EXPECT_EQ(facts.kinds_of_streams().size(), 16u);
}

}  // namespace
}  // namespace railyard::lint
