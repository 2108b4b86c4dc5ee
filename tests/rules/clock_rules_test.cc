#include "tests/rules/clock_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::rules {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> in_switch(const std::string& code) {
  return clock_violations({{"dataplane/switch/x.cc", code}});
}

TEST(ClockRules, HoldInTheWholeDataplaneAndInTransports) {
  const auto sources = read_sources({"dataplane", "transports"});
  ASSERT_GT(sources.size(), 80u) << "where have the sources gone?";
  EXPECT_THAT(clock_violations(sources), IsEmpty());
}

TEST(ClockRules, AViolationIsNamedWithItsLine) {
  EXPECT_THAT(
      in_switch("\n\nauto t = std::chrono::steady_clock::now();"),
      ElementsAre("dataplane/switch/x.cc:3: chrono: time, chance and settings come in as parameters here",
                  "dataplane/switch/x.cc:3: steady_clock: time, chance and settings come in as parameters here"));
}

TEST(ClockRules, ClocksSleepsDrawsAndSettingsAreFound) {
  for (const char* code : {"#include <chrono>",
                           "#include <ctime>",
                           "clock_gettime(CLOCK_MONOTONIC, &t);",
                           "auto t = rte_rdtsc();",
                           "auto c = rte_get_tsc_cycles();",
                           "usleep(1);",
                           "std::this_thread::sleep_for(d);",
                           "rte_delay_us(1);",
                           "std::mt19937 g;",
                           "std::random_device d;",
                           "int x = rand();",
                           "return std::rand();",
                           "auto r = rte_rand();",
                           "getenv(\"X\");",
                           "std::getenv(\"X\");",
                           "auto t = time(nullptr);",
                           "auto t = std::time(nullptr);",
                           "auto t = ::time(nullptr);",
                           "return time(nullptr);",
                           "auto c = clock();"})
    EXPECT_EQ(in_switch(code).size(), 1u) << code;
}

TEST(ClockRules, OurOwnWordsAreNone) {
  for (const char* code : {"EventKey::time(base, key);", "Instant time(Instant base);", "event.time();",
                           "event->clock();", "int time = 3;", "// rand() would be wrong here", "/* getenv(\"X\") */",
                           "f(\"sleep(1)\");", "R\"(getenv)\";", "const auto operand(3);", "Instant& clock();"})
    EXPECT_THAT(in_switch(code), IsEmpty()) << code;
}

TEST(ClockRules, OnlyTheLoopAndThePortsLookAtTheClock) {
  const std::string code = "clock_gettime(CLOCK_MONOTONIC, &t);";
  EXPECT_THAT(clock_violations({{"dataplane/run/wall_clock.cc", code}, {"dataplane/port/x.cc", code}}), IsEmpty());
  for (const char* room : {"base", "wire", "packet", "device", "switch", "nic", "capture"})
    EXPECT_EQ(clock_violations({{"dataplane/" + std::string(room) + "/x.h", code}}).size(), 1u) << room;
  EXPECT_EQ(clock_violations({{"transports/roce/x.h", code}}).size(), 1u);
}

}  // namespace
}  // namespace railyard::rules
