#include "dataplane/device/counters.h"

#include <gtest/gtest.h>

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
  c.ports[1].classes[0].drops[static_cast<std::size_t>(DropReason::kEgressFull)] = 2;
  c.ports[1].drops[static_cast<std::size_t>(DropReason::kBadMacControl)] = 1;
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
  c.ports[0].classes[1].drops[0] = 1;
  c.queued = 2;
  EXPECT_TRUE(c.balanced());  // 10 + 3 = 6 + 4 + 1 + 2
  for (std::uint64_t* part : {&c.ports[0].delivered, &c.generated, &c.ports[0].classes[0].tx_packets, &c.consumed,
                              &c.ports[0].classes[1].drops[0], &c.queued}) {
    ++*part;
    EXPECT_FALSE(c.balanced());
    --*part;
  }
}

}  // namespace
}  // namespace railyard
