// Collectives whose ranks do not use what their hosts have.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string rails(const std::string& host, const std::string& keys) {
  return "topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 4 }\nhosts: { default: { " + host +
         " } }\ncollectives: [ { name: sum, size: 64MiB" + keys + " } ]\n";
}

TEST(Ranks, OfOneHostWithoutAScaleUpNetworkAreFound) {
  const auto found = findings_in(rails("", ""));
  ASSERT_THAT(rules_of(found), ElementsAre("ranks-without-scale-up"));
  EXPECT_EQ(found[0].path, "collectives.0.ranks");
  EXPECT_THAT(found[0].text, HasSubstr("sum has 4 ranks in h1, whose profile has no scale-up network"));
  EXPECT_THAT(findings_in(rails("", ", ranks: \"h*:1\"")), IsEmpty()) << "one of each host";
  EXPECT_THAT(findings_in(rails("scale-up: { rate: 3600Gbps }", "")), IsEmpty());
}

TEST(Ranks, OneChannelOverSeveralNicsIsFound) {
  const auto found = findings_in(rails("scale-up: { rate: 3600Gbps }", ", channels: 1"));
  ASSERT_THAT(rules_of(found), ElementsAre("rails-unused"));
  EXPECT_EQ(found[0].path, "collectives.0.channels");
  EXPECT_THAT(found[0].text, HasSubstr("sum has 1 channel, and each leaves a host by one of its 4 NICs: the others are idle"));
  EXPECT_THAT(findings_in(rails("scale-up: { rate: 3600Gbps }, gpus: 8", ", channels: 4")), IsEmpty());
  EXPECT_THAT(findings_in(rails("scale-up: { rate: 3600Gbps }", ", channels: 1, algorithm: tree")), IsEmpty());
}

TEST(Ranks, OfNetworksOfSeveralHostsHaveAllOfTheirNics) {
  const std::string four =
      "topology: { preset: rail-optimized, hosts: 4, rails: 4, spines: 4 }\nhosts: { default: { scale-up: { rate: 3600Gbps, "
      "hosts: 2 } } }\ncollectives: [ { name: sum, size: 64MiB";
  const auto found = findings_in(four + ", channels: 4 } ]\n");
  ASSERT_THAT(rules_of(found), ElementsAre("rails-unused"));
  EXPECT_THAT(found[0].text,
              HasSubstr("sum has 4 channels, and each leaves a scale-up network by one of its 8 NICs: the others are idle"));
  EXPECT_THAT(findings_in(four + " } ]\n"), IsEmpty());
}

std::string two_jobs(const std::string& one, const std::string& two) {
  const std::string job = "model: gpt2-124m, segments: 1, forward: 10us, backward: 20us, parallelism: { dp: 4 }, steps: 2, ";
  return "topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1 }\nhosts: { default: { gpus: 4, scale-up: { rate: "
         "3600Gbps } } }\njobs:\n  - { name: a, " + job + one + " }\n  - { name: b, " + job + two + " }\n";
}

TEST(Ranks, JobsThatComputeOnTheSameGpusAtTheSameTimeAreFound) {
  const auto found = findings_in(two_jobs("ranks: [h1]", "ranks: ['h1:4', 'h2:1', 'h2:2', 'h2:3']"));
  ASSERT_THAT(rules_of(found), ElementsAre("gpus-shared"));
  EXPECT_EQ(found[0].path, "jobs.1.ranks");
  EXPECT_THAT(found[0].text, HasSubstr("a and b compute on h1/gpu4 at the same time"));
  EXPECT_THAT(findings_in(two_jobs("ranks: [h1]", "ranks: [h1], start: 59us"))[0].text, HasSubstr("on h1/gpu1 and 3 more at"));
}

TEST(Ranks, JobsOnOtherGpusOrOneAfterTheOtherAreFine) {
  EXPECT_THAT(findings_in(two_jobs("ranks: [h1]", "ranks: [h2]")), IsEmpty());
  EXPECT_THAT(findings_in(two_jobs("ranks: [h1]", "ranks: [h1], start: 10ms")), IsEmpty());
  EXPECT_THAT(findings_in(two_jobs("ranks: [h1], start: 10ms", "ranks: [h1]")), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
