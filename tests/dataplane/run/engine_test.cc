#include "dataplane/run/engine.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/run/juggler.h"
#include "tests/dataplane/run/ticker.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

// Two devices at a link of 500 ns, each with 1 us until anything matters.
class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { fabric.connect({{a.id(), {}}, {b.id(), {}}, 100_Gbps, 500_ns}); }
  Fabric fabric;
  Ticker& a = fabric.add<Ticker>("a", std::vector{at(3_us), at(4_us)});
  Ticker& b = fabric.add<Ticker>("b", std::vector{at(4_us), at(9_us)});
};

TEST_F(EngineTest, TheWindowIsTheFabricsUnlessVaried) {
  EXPECT_EQ(Engine(fabric, {}).window(), 1500_ns);
  EngineConfig config;
  config.variation.window = 7_ps;
  EXPECT_EQ(Engine(fabric, config).window(), 7_ps);
}

TEST_F(EngineTest, AWindowIsHalfOpen) {
  Engine engine(fabric, {});
  EXPECT_EQ(engine.next(), at(0_ns)) << "fresh devices are asked at once";
  engine.step(at(1_us));
  EXPECT_EQ(engine.next(), at(3_us));
  engine.step(at(4_us));
  EXPECT_EQ(a.done_at, (std::vector{at(3_us)}));
  EXPECT_TRUE(b.done_at.empty());
  EXPECT_EQ(engine.next(), at(4_us));
  engine.step(at(4_us + 1_ps));
  EXPECT_EQ(a.done_at, (std::vector{at(3_us), at(4_us)}));
  EXPECT_EQ(b.done_at, (std::vector{at(4_us)}));
  EXPECT_EQ(engine.next(), at(9_us));
  EXPECT_EQ(engine.reached(), at(4_us + 1_ps));
  EXPECT_EQ(engine.windows(), 3u);
}

TEST_F(EngineTest, OnlyDevicesThatHaveSomethingToDoAreAdvancedUntilAllSettle) {
  Engine engine(fabric, {});
  engine.step(at(1_us));
  engine.step(at(4_us));
  EXPECT_EQ(a.done(), at(4_us));
  EXPECT_EQ(b.done(), at(1_us));
  engine.settle(at(4_us));
  EXPECT_EQ(b.done(), at(4_us));
  EXPECT_EQ(engine.reached(), at(4_us));
  EXPECT_EQ(engine.next(), at(4_us));
}

TEST_F(EngineTest, ChangesWakeTheDevicesThatTheyWereGivenTo) {
  Engine engine(fabric, {});
  engine.step(at(1_us));
  std::vector<Instant> changed;
  b.change_at(at(2_us), [&](Instant now) { changed.push_back(now); });
  engine.wake_all();
  EXPECT_EQ(engine.next(), at(2_us));
  a.change_at(at(1500_ns), [&](Instant now) { changed.push_back(now); });
  engine.wake(a.id(), at(1500_ns));
  EXPECT_EQ(engine.next(), at(1500_ns));
  engine.step(at(3_us));
  EXPECT_EQ(changed.size(), 2u);
  EXPECT_EQ(engine.next(), at(3_us));
}

TEST_F(EngineTest, EachWorkerHasItsOwnPackets) {
  EngineConfig config;
  config.workers = 2;
  Engine engine(fabric, config);
  EXPECT_EQ(engine.pools().size(), 2u);
  EXPECT_NE(&engine.pool_of(a.id()), &engine.pool_of(b.id()));
}

TEST(Engine, WithoutAnyDelayNothingCouldBeDoneAhead) {
  Fabric fabric;
  fabric.add<Ticker>("a", std::vector<Instant>{}, 0_ns);
  fabric.add<Ticker>("b", std::vector<Instant>{}, 0_ns);
  fabric.connect({{DeviceId{0}, {}}, {DeviceId{1}, {}}, 100_Gbps, 0_ns});
  EXPECT_THROW(Engine(fabric, {}), RunError);
}

// Each of 20 devices begins with 300 packets, from a pool that has 4000 for all.
TEST(Engine, RunningOutOfPacketMemoryEndsTheRunWithAWordAboutIt) {
  const auto fabric = circle_of_jugglers(20, 300);
  EngineConfig config;
  config.pools.elided_limit = 4000;
  Engine engine(*fabric, config);
  try {
    engine.step(at(0_ns) + engine.window());
    FAIL() << "it went on";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("run.memory"), std::string::npos) << error.what();
  }
}

TEST(EngineDeathTest, OneToSixtyFourWorkers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Fabric fabric;
  EngineConfig config;
  config.workers = 65;
  EXPECT_DEATH(Engine(fabric, config), "workers");
}

}  // namespace
}  // namespace railyard
