// A time series of a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/series.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::HasSubstr;

class LiveSeriesTest : public RunningLabFixture {
 protected:
  LiveSeriesTest() : RunningLabFixture(kTwoHosts) {}
  std::string file(const char* name) const { return (folder_ / name).string(); }
};

TEST_F(LiveSeriesTest, GoesToAFileUntilItIsEnded) {
  EXPECT_FALSE(ask("GET", "/series")["running"].get<bool>());
  EXPECT_TRUE(ask("POST", "/series", {{"file", file("q.csv")}, {"every", "100us"}})["running"].get<bool>());
  while (ask("GET", "/series")["lines"].get<std::uint64_t>() < 20) std::this_thread::yield();
  EXPECT_THAT(error_of(409, "POST", "/series", {{"file", file("r.csv")}, {"every", "100us"}}),
              HasSubstr("q.csv; end it first"));
  const json done = ask("DELETE", "/series");
  EXPECT_FALSE(done["running"].get<bool>());
  std::ifstream in(file("q.csv"));
  std::string line;
  std::uint64_t lines = 0;
  std::uint64_t of_h1 = 0;
  while (std::getline(in, line)) {
    ++lines;
    of_h1 += line.find(",h1:1,") != std::string::npos;
  }
  EXPECT_EQ(lines, done["lines"].get<std::uint64_t>() + 1) << "with the names of the columns";
  EXPECT_GT(of_h1, 0u);
  // And another may begin.
  ask("POST", "/series", {{"file", file("r.csv")}, {"every", "1ms"}});
}

// /dev/full is a disk without room.
TEST_F(LiveSeriesTest, AFullDiskEndsItAndNotTheLab) {
  ask("POST", "/series", {{"file", "/dev/full"}, {"every", "100us"}});
  while (ask("GET", "/series")["running"].get<bool>()) std::this_thread::yield();
  EXPECT_EQ(ask("GET", "/series")["error"], "cannot write /dev/full: No space left on device");
  wait_for_packets();
  EXPECT_THAT(log(), HasSubstr("cannot write /dev/full: No space left on device"));
  // Another may begin in its place.
  ask("POST", "/series", {{"file", file("q.csv")}, {"every", "100us"}});
  EXPECT_FALSE(ask("DELETE", "/series").contains("error"));
}

TEST_F(LiveSeriesTest, ItsEndSaysThatTheDiskWasFull) {
  ask("POST", "/series", {{"file", "/dev/full"}, {"every", "10ms"}});
  while (ask("GET", "/series")["lines"].get<std::uint64_t>() < 2) std::this_thread::yield();
  EXPECT_EQ(ask("DELETE", "/series")["error"], "cannot write /dev/full: No space left on device");
  wait_for_packets();
}

TEST_F(LiveSeriesTest, AFifoWithoutAReaderIsRefusedAndTheLabGoesOn) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of(409, "POST", "/series", {{"file", file("fifo")}, {"every", "1ms"}}),
              HasSubstr("nobody reads this FIFO; start its reader first"));
  wait_for_packets();
  EXPECT_FALSE(ask("GET", "/series")["running"].get<bool>());
}

TEST_F(LiveSeriesTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(error_of(409, "POST", "/series", {{"file", "/nowhere/q.csv"}, {"every", "1ms"}}),
              HasSubstr("cannot write /nowhere/q.csv"));
  EXPECT_THAT(error_of(400, "POST", "/series", {{"file", file("q.csv")}, {"every", "1ns"}}),
              HasSubstr("expected at least"));
  EXPECT_THAT(error_of(400, "POST", "/series", {{"file", file("q.csv")}, {"every", "soon"}}), HasSubstr("every: "));
  EXPECT_THAT(error_of(400, "POST", "/series", {{"every", "1ms"}}), HasSubstr("'file' is missing"));
  EXPECT_THAT(error_of(409, "DELETE", "/series"), HasSubstr("no time series"));
  wait_for_packets();
}

}  // namespace
}  // namespace railyard::daemon
