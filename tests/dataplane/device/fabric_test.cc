#include "dataplane/device/fabric.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/dataplane/device/probe.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

// a:0 -- b:0, b:1 -- c:0. `a` is quick, `b` slow.
class FabricTest : public ::testing::Test {
 protected:
  FabricTest() {
    fabric.connect({{a.id(), {}}, {b.id(), {}}, 100_Gbps, 50_ns});
    fabric.connect({{b.id(), PortIndex{1}}, {c.id(), {}}, 400_Gbps, 500_ns});
  }
  Fabric fabric;
  Probe& a = fabric.add<Probe>("a", 1u, 100_ns, 90_ns);
  Probe& b = fabric.add<Probe>("b", 2u, 600_ns, 2_us);
  Probe& c = fabric.add<Probe>("c", 1u, 600_ns, 2_us);
  WorkerContext context;
};

TEST_F(FabricTest, DevicesAreNumberedInOrder) {
  EXPECT_EQ(fabric.size(), 3u);
  EXPECT_EQ(a.id(), DeviceId{0});
  EXPECT_EQ(c.id(), DeviceId{2});
  EXPECT_EQ(fabric.next_id(), DeviceId{3});
  EXPECT_EQ(&fabric[DeviceId{1}], &b);
}

TEST_F(FabricTest, ALinkIsTwoChannelsWithTheReceiversLatencies) {
  ASSERT_EQ(fabric.channels().size(), 4u);
  const Channel& to_b = fabric.channels()[0];
  EXPECT_EQ(to_b.receiver, b.id());
  EXPECT_EQ(to_b.receiver_port, PortIndex{0});
  EXPECT_EQ(to_b.propagation, 50_ns);
  EXPECT_EQ(to_b.data_latency, 600_ns);
  EXPECT_EQ(to_b.control_latency, 2_us);
  EXPECT_FALSE(to_b.cut_through);
  EXPECT_EQ(fabric.sender(0), (PortRef{a.id(), {}}));
  const Channel& to_a = fabric.channels()[1];
  EXPECT_EQ(to_a.receiver, a.id());
  EXPECT_EQ(to_a.data_latency, 100_ns);
  EXPECT_EQ(fabric.sender(1), (PortRef{b.id(), {}}));
  EXPECT_EQ(fabric.sender(2), (PortRef{b.id(), PortIndex{1}}));
}

// From b to a: 50 ns of cable and 90 ns until a pause frame acts.
TEST_F(FabricTest, TheWindowIsTheLeastLookahead) {
  EXPECT_EQ(fabric.window().size, 140_ns);
  EXPECT_EQ(fabric.window().channel, 1u);
  EXPECT_EQ(Fabric().window().size, Duration{Instant::never().ps}) << "without links, all of time";
}

TEST_F(FabricTest, ThePeerOfAPort) {
  EXPECT_EQ(fabric.peer({a.id(), {}}), (PortRef{b.id(), {}}));
  EXPECT_EQ(fabric.peer({b.id(), PortIndex{1}}), (PortRef{c.id(), {}}));
  EXPECT_EQ(fabric.peer({c.id(), {}}), (PortRef{b.id(), PortIndex{1}}));
  EXPECT_THROW(fabric.peer({a.id(), PortIndex{1}}), std::out_of_range);
}

TEST_F(FabricTest, ALinkGetsAnotherRateAtBothEnds) {
  for (Probe* p : {&a, &b, &c}) p->place(context);
  fabric.set_rate_at(at(1_us), {c.id(), {}}, 25_Gbps);
  for (Probe* p : {&a, &b, &c}) p->advance(at(2_us));
  EXPECT_EQ(b.events, (std::vector<Probe::Event>{{at(1_us), "rate", 1, 25'000'000'000}}));
  EXPECT_EQ(c.events, (std::vector<Probe::Event>{{at(1_us), "rate", 0, 25'000'000'000}}));
  EXPECT_TRUE(a.events.empty());
  EXPECT_EQ(fabric.links()[1].rate, 25_Gbps);
  EXPECT_THROW(fabric.set_rate_at(at(3_us), {a.id(), PortIndex{1}}, 25_Gbps), std::out_of_range);
}

TEST_F(FabricTest, ALinkGoesDownAndUpAtBothEnds) {
  for (Probe* p : {&a, &b, &c}) p->place(context);
  fabric.link_down_at(at(1_us), {c.id(), {}});
  fabric.link_up_at(at(2_us), {b.id(), PortIndex{1}});
  for (Probe* p : {&a, &b, &c}) p->advance(at(1500_ns));
  EXPECT_FALSE(b.link_up(PortIndex{1}));
  EXPECT_FALSE(c.link_up(PortIndex{0}));
  EXPECT_TRUE(b.link_up(PortIndex{0}));
  EXPECT_TRUE(a.link_up(PortIndex{0}));
  for (Probe* p : {&a, &b, &c}) p->advance(at(3_us));
  EXPECT_TRUE(b.link_up(PortIndex{1}));
  EXPECT_TRUE(c.link_up(PortIndex{0}));
  EXPECT_EQ(c.events, (std::vector<Probe::Event>{{at(1_us), "down"}, {at(2_us), "up"}}));
}

}  // namespace
}  // namespace railyard
