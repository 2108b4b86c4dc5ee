#include "control/routing/path_times.h"

#include <string>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

constexpr int kOctets = 1000;

spec::Lab lab_of(const std::string& topology) { return spec::parse("name: x\n" + topology, "x.yaml"); }

Duration way(PathTimes& times, const std::string& from, const std::string& to) {
  return times.one_way({from, 1}, {to, 1}, kOctets).value();
}

// All leaves of a pod are alike, and a search over the whole fabric is made for one of them.
TEST(PathTimes, SwitchesThatAreAlikeShareASearch) {
  const spec::Lab l = lab_of("topology: { preset: fat-tree, k: 4 }\n");
  PathTimes times(l);
  for (int a = 1; a <= 16; ++a)
    for (int b = 1; b <= 16; ++b)
      if (a != b) way(times, "h" + std::to_string(a), "h" + std::to_string(b));
  EXPECT_EQ(times.searches(), 4u) << "one for each pod";
}

// h1 and h2 are at leaf1, h3 and h4 at leaf2, in one pod; leaf3 and leaf4 are in the next. The search is leaf1's.
TEST(PathTimes, WaysFromAndToASwitchThatIsLikeAnother) {
  const spec::Lab l = lab_of("topology: { preset: fat-tree, k: 4 }\n");
  PathTimes times(l);
  const Duration at_leaf = way(times, "h1", "h2");
  const Duration in_pod = way(times, "h1", "h3");
  const Duration between_pods = way(times, "h1", "h5");
  EXPECT_LT(at_leaf, in_pod);
  EXPECT_LT(in_pod, between_pods);
  EXPECT_EQ(way(times, "h3", "h4"), at_leaf);
  EXPECT_EQ(way(times, "h3", "h1"), in_pod) << "to the switch that was searched from";
  EXPECT_EQ(way(times, "h3", "h5"), between_pods);
  EXPECT_EQ(way(times, "h5", "h3"), between_pods);
}

TEST(PathTimes, ASwitchWithALongerCableHasItsOwnSearch) {
  const spec::Lab l = lab_of(
      "nodes: { s: { kind: switch }, a: { kind: switch }, b: { kind: switch }, c: { kind: switch },\n"
      "         ha: { kind: host }, hb: { kind: host }, hc: { kind: host } }\n"
      "links: [[a:1, ha:1], [b:1, hb:1], [c:1, hc:1], [a:2, s:1], [b:2, s:2], [c:2, s:3, { delay: 515ns }]]\n");
  PathTimes times(l);
  const Duration same = way(times, "ha", "hb");
  EXPECT_EQ(way(times, "hb", "ha"), same);
  EXPECT_EQ(way(times, "hc", "ha"), same + Duration{500'000}) << "515 ns in the place of 15 ns";
  EXPECT_EQ(way(times, "hb", "hc"), same + Duration{500'000});
  EXPECT_EQ(times.searches(), 2u);
}

}  // namespace
}  // namespace railyard::routing
