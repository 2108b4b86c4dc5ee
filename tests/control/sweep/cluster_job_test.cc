#include "control/sweep/cluster_job.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SweepPart, PartsTogetherHaveEachRunOnce) {
  std::multiset<std::size_t> all;
  for (const char* text : {"1/3", "2/3", "3/3"})
    for (std::size_t run = 0; run < 10; ++run)
      if (parse_part(text)->has(run)) all.insert(run);
  EXPECT_EQ(all, (std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(SweepPart, OneThatIsNoneIsRefused) {
  for (const char* text : {"", "3", "0/3", "4/3", "a/3", "1/", "1/0", "1/3/5", "-1/3"}) {
    const auto part = parse_part(text);
    ASSERT_FALSE(part) << text;
    EXPECT_THAT(part.error(), HasSubstr("expected K/N")) << text;
  }
}

const ClusterJob kJob{{"railyard", "sweep", "my lab.yaml", "--over", "a=1,2", "--resume", "results"}, 12};

TEST(ClusterJob, OfSlurmIsAnArray) {
  const std::string file = job_file(kJob, Scheduler::kSlurm);
  EXPECT_THAT(file, StartsWith("#!/bin/bash\n#SBATCH"));
  EXPECT_THAT(file, HasSubstr("#SBATCH --array=1-12\n"));
  EXPECT_THAT(file, HasSubstr("\nrailyard sweep 'my lab.yaml' --over a=1,2 --resume results --part \"$SLURM_ARRAY_TASK_ID/12\""));
}

TEST(ClusterJob, OfKubernetesIsAnIndexedJob) {
  const std::string file = job_file(kJob, Scheduler::kKubernetes);
  EXPECT_THAT(file, HasSubstr("completionMode: Indexed\n  completions: 12\n"));
  EXPECT_THAT(file, HasSubstr(R"(--part \"$((JOB_COMPLETION_INDEX + 1))/12\")"));
}

TEST(ClusterJob, OfRayIsAProgram) {
  EXPECT_THAT(job_file(kJob, Scheduler::kRay), HasSubstr(R"(COMMAND = ["railyard","sweep","my lab.yaml","--over","a=1,2","--resume","results"])"));
}

}  // namespace
}  // namespace railyard::sweep
