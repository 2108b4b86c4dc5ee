#include "control/scheduler/machine_memory.h"

#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace railyard::scheduler {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(MachineMemory, IsThatOfThisMachineAndProcess) {
  const MachineMemory now = MachineMemory::now();
  EXPECT_GT(now.total, 0u);
  EXPECT_LE(now.available, now.total);
  EXPECT_GT(resident_octets(getpid()), std::uint64_t{1} << 20);
}

// A machine of 16 GiB, whose runs take 3 GiB each once they are well under way.
TEST(MemoryRoom, RunsBeginAsLongAsAllCanGrowToTheLargestSoFar) {
  MemoryRoom room;
  room.ended(3 * kGiB);
  const auto may_begin = [&](std::uint64_t available, const std::vector<std::uint64_t>& running) {
    return room.for_one_more({16 * kGiB, available}, running);
  };
  EXPECT_TRUE(may_begin(6 * kGiB, {1 * kGiB})) << "two more for the one that runs, three for the new one: five";
  EXPECT_FALSE(may_begin(4 * kGiB, {1 * kGiB}));
  EXPECT_TRUE(may_begin(3 * kGiB, {3 * kGiB, 3 * kGiB})) << "those are as large as they become";
  EXPECT_FALSE(may_begin(3 * kGiB, {3 * kGiB, 2 * kGiB}));
  EXPECT_TRUE(may_begin(0, {})) << "else nothing would ever run";
  room.ended(1 * kGiB);
  EXPECT_FALSE(may_begin(4 * kGiB, {1 * kGiB})) << "a smaller one changes nothing";
}

TEST(MemoryRoom, BeforeAnyHasEndedHalfOfTheMachineMustBeFree) {
  const MemoryRoom room;
  EXPECT_TRUE(room.for_one_more({16 * kGiB, 9 * kGiB}, std::vector<std::uint64_t>{kGiB}));
  EXPECT_FALSE(room.for_one_more({16 * kGiB, 7 * kGiB}, std::vector<std::uint64_t>{kGiB}));
  EXPECT_TRUE(room.for_one_more({}, std::vector<std::uint64_t>{kGiB})) << "a machine that does not say";
}

}  // namespace
}  // namespace railyard::scheduler
