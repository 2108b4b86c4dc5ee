#include "dataplane/device/counters.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/state_archive.h"
#include "dataplane/device/drop_counters.h"

namespace railyard {
namespace {

TEST(DeviceCounters, SumsOverPortsAndClasses) {
  DeviceCounters c;
  c.ports.resize(2);
  c.ports[0].classes[3] = {.rx_packets = 10, .rx_octets = 1000, .tx_packets = 4, .tx_octets = 400};
  c.ports[0].classes[5] = {.rx_packets = 1, .rx_octets = 64, .tx_packets = 2, .tx_octets = 128};
  c.ports[0].delivered = 12;
  c.ports[0].tx_control = 1;
  c.ports[1].delivered = 3;
  c.ports[1].classes[0].tx_packets = 5;
  c.ports[1].classes[0].drops.of(static_cast<std::size_t>(DropReason::kEgressFull)) = 2;
  c.ports[1].drops.of(static_cast<std::size_t>(DropReason::kBadMacControl)) = 1;
  EXPECT_EQ(c.ports[0].rx_packets(), 11u);
  EXPECT_EQ(c.ports[0].rx_octets(), 1064u);
  EXPECT_EQ(c.ports[0].tx_packets(), 6u);
  EXPECT_EQ(c.ports[0].tx_octets(), 528u);
  EXPECT_EQ(c.ports[1].dropped(), 3u);
  EXPECT_EQ(c.received(), 15u);
  EXPECT_EQ(c.sent(), 12u) << "MAC control included";
  EXPECT_EQ(c.dropped(), 3u);
}

TEST(DeviceCounters, BalanceIsReceivedAndGeneratedAgainstAllThatBecameOfThem) {
  DeviceCounters c;
  c.ports.resize(1);
  c.ports[0].delivered = 10;
  c.generated = 3;
  c.ports[0].classes[0].tx_packets = 6;
  c.consumed = 4;
  c.ports[0].classes[1].drops.of(0) = 1;
  c.queued = 2;
  EXPECT_TRUE(c.balanced());  // 10 + 3 = 6 + 4 + 1 + 2
  for (std::uint64_t* part : {&c.ports[0].delivered, &c.generated, &c.ports[0].classes[0].tx_packets, &c.consumed,
                              &c.ports[0].classes[1].drops.of(0), &c.queued}) {
    ++*part;
    EXPECT_FALSE(c.balanced());
    --*part;
  }
}

// A lab of 65,536 hosts has 393,216 ports, whose counters are taken several times: nothing may cost memory there that
// was never used.
TEST(PortClasses, AClassThatHasCountedNothingTakesNoMemory) {
  PortClasses c;
  c[3].tx_packets = 7;
  EXPECT_EQ(std::as_const(c)[5].tx_packets, 0u);
  c.set(6, ClassCounters{});
  std::uint64_t all = 0;
  for (const ClassCounters& k : c) all += k.tx_packets;
  EXPECT_EQ(all, 7u);
  for (std::size_t k = 0; k < kPriorities; ++k) EXPECT_EQ(c.has(k), k == 3);
  EXPECT_LE(sizeof(PortCounters), 256u);
}

TEST(PortClasses, ClassesAreInOrderWhicheverIsWrittenFirst) {
  PortClasses c;
  for (const std::size_t k : {7u, 0u, 3u, 1u}) c[k].rx_packets = 10 + k;
  c.set(2, {.rx_packets = 12});
  c.set(0, {.rx_packets = 100});
  c.set(7, ClassCounters{});
  std::vector<std::uint64_t> found;
  for (const ClassCounters& k : c) found.push_back(k.rx_packets);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{100, 11, 12, 13, 0, 0, 0, 0}));
}

TEST(DropCounts, ReadLikeAnArrayAndCopyWhatTheyHold) {
  DropCounts some;
  EXPECT_EQ(some[5], 0u);
  EXPECT_EQ(some.total(), 0u);
  some.of(5) += 3;
  some.of(1) = 1;
  DropCounts copy = some;
  copy.of(5) = 10;
  EXPECT_EQ(some[5], 3u);
  EXPECT_EQ(copy.total(), 11u);
  EXPECT_NE(copy, some);
  some.add(copy);
  some.add(DropCounts());
  EXPECT_EQ(some[5], 13u);
  EXPECT_EQ(some[1], 2u);
  copy = DropCounts();
  EXPECT_EQ(copy, DropCounts());
  copy.of(2);  // memory, but nothing counted
  EXPECT_EQ(copy, DropCounts());
  EXPECT_EQ(sizeof(DropCounts), sizeof(void*));
}

TEST(DropCounts, AreToldToAnotherProcess) {
  ClassCounters c{.tx_packets = 7};
  c.rdma_drops.of(3) = 9;
  StateArchive out;
  exchange(out, c);
  ClassCounters told{.rx_packets = 5};
  told.drops.of(1) = 1;
  StateArchive in{out.written()};
  exchange(in, told);
  EXPECT_EQ(told, c);
  EXPECT_EQ(in.left(), 0u);
}

TEST(DropCounters, TakeMemoryWithTheFirstDrop) {
  DropCounters c;
  EXPECT_FALSE(c.any());
  EXPECT_EQ(c.total(), 0u);
  EXPECT_EQ(c.read(), DropCounts{});
  c.count(DropReason::kWred, 3);
  c.count(DropReason::kWred);
  EXPECT_TRUE(c.any());
  EXPECT_EQ(c.total(), 4u);
  EXPECT_EQ(c.read()[static_cast<std::size_t>(DropReason::kWred)], 4u);
  EXPECT_EQ(sizeof(DropCounters), sizeof(void*));
}

}  // namespace
}  // namespace railyard
