#include "control/estimate/placement.h"

#include <gmock/gmock.h>

#include "control/estimate/placement_files.h"
#include "control/spec/load.h"

namespace railyard::estimate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Two racks of four hosts, 4:1 oversubscribed. The job's hosts are in turn in one and the other.
spec::Lab two_racks(const std::string& ranks = "[h1, h5, h2, h6]") {
  return spec::parse(
      "name: rack\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4, host-link: { rate: 400Gbps, cable: 3m }, fabric-link: { "
      "rate: 100Gbps, cable: 30m } }\n"
      "hosts: { default: { gpus: 4, scale-up: { rate: 3600Gbps } } }\n"
      "jobs: [{ name: train, model: gpt2-124m, parallelism: { tp: 4, pp: 2, dp: 2 }, microbatches: 4, ranks: " +
          ranks + " }]\n",
      "x.yaml");
}

TEST(Placement, OfEqualTimesTheOrderOfTheFileIsTheFirst) {
  const auto advice = advise(two_racks(), 0);
  ASSERT_TRUE(advice) << advice.error();
  const Placement& best = advice->tried.front();
  EXPECT_EQ(best.step, advice->tried[1].step) << "another order of axes is as quick";
  EXPECT_TRUE(advice->has_order_of_now(best));
  EXPECT_EQ(best.hosts, HostOrder::kByLeaf) << "so that its hosts alone make it quick";
  EXPECT_EQ(best.order, advice->parallelism.order);
  EXPECT_LT(best.step.ps * 2, advice->at_present().step.ps);
}

TEST(Placement, AxesOfOneRankAreNoPlacementsOfTheirOwn) {
  const auto advice = advise(two_racks(), 0);
  ASSERT_TRUE(advice) << advice.error();
  EXPECT_EQ(advice->tried.size(), 2u * 3 * 2) << "two orders of hosts, six of tp, pp and dp; no cp";
  EXPECT_EQ(advice->used(advice->at_present()).size(), 3u);
}

TEST(Placement, RacksAreComparedWithOneOrderOfAxes) {
  const auto advice = advise(two_racks(), 0);
  ASSERT_TRUE(advice) << advice.error();
  ASSERT_TRUE(advice->racks);
  EXPECT_EQ(advice->racks->same, advice->tried.front().step);
  EXPECT_EQ(advice->racks->across, advice->at_present().step) << "its hosts are across leaves";
  EXPECT_GT(advice->racks->difference(), 1.5);
  EXPECT_TRUE(advice->racks->is_finding());
  EXPECT_LT(advice->racks->across, advice->tried.back().step) << "the slowest of all has another order of axes";
  const auto one_rack = advise(two_racks("[h1, h2, h3, h4]"), 0);
  ASSERT_TRUE(one_rack) << one_rack.error();
  EXPECT_FALSE(one_rack->racks);
}

TEST(Placement, EachStarterHasItsFile) {
  const Placement p{.ranks = {{{"h2", 1}, 1}, {{"h2", 1}, 2}, {{"h1", 1}, 1}, {{"h1", 1}, 2}}};
  EXPECT_EQ(rank_file(p, "# x\n"), "# x\nrank,host,gpu\n0,h2,1\n1,h2,2\n2,h1,1\n3,h1,2\n");
  EXPECT_EQ(host_file(p, Starter::kMpirun, ""), "h2 slots=2\nh1 slots=2\n");
  EXPECT_EQ(host_file(p, Starter::kSlurm, ""), "h2\nh2\nh1\nh1\n") << "a line per task";
  EXPECT_THAT(host_file(p, Starter::kTorchrun, ""),
              HasSubstr("\nh2 --nnodes=2 --nproc-per-node=2 --node-rank=0 --master-addr=h2\nh1 --nnodes=2 --nproc-per-node=2 --node-rank=1"));
  const Placement mixed{.ranks = {{{"h1", 1}, 1}, {{"h2", 1}, 1}, {{"h1", 1}, 2}}};
  EXPECT_THAT(host_file(mixed, Starter::kMpirun, ""), StartsWith("# Ranks of a host do not follow each other"));
  EXPECT_EQ(host_file(mixed, Starter::kSlurm, ""), "h1\nh2\nh1\n");
}

}  // namespace
}  // namespace railyard::estimate
