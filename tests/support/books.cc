#include "tests/support/books.h"

#include <vector>

#include <gtest/gtest.h>

namespace railyard::test {

void expect_balanced(const DeviceCounters& c) {
  EXPECT_EQ(c.received() + c.generated, c.sent() + c.consumed + c.dropped() + c.queued)
      << c.name << " at " << c.at.ps << " ps: received " << c.received() << ", generated " << c.generated << ", sent "
      << c.sent() << ", consumed " << c.consumed << ", dropped " << c.dropped() << ", queued " << c.queued;
  EXPECT_TRUE(c.balanced());
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    // What was delivered and has been looked at; the rest waits for its tail (cut-through).
    EXPECT_GE(c.ports[p].delivered, c.ports[p].rx_packets() + c.ports[p].rx_control) << c.name << " port " << p;
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const ClassCounters& q = c.ports[p].classes[k];
      EXPECT_LE(q.depth_octets, q.max_depth_octets) << c.name << " port " << p << " class " << k;
      EXPECT_LE(q.ingress_cells, q.max_ingress_cells) << c.name << " port " << p << " class " << k;
      EXPECT_LE(q.headroom_cells, q.max_headroom_cells) << c.name << " port " << p << " class " << k;
      EXPECT_LE(q.headroom_cells, q.ingress_cells) << c.name << " port " << p << " class " << k;
    }
  }
}

void expect_books_balance(Fabric& fabric) {
  std::vector<DeviceCounters> counters;
  for (const auto& device : fabric.devices()) {
    counters.push_back(device->counters());
    expect_balanced(counters.back());
    EXPECT_EQ(counters.back().at, counters.front().at) << "the fabric does not rest";
    std::uint64_t held = 0;
    device->for_each_held([&](const Packet&) { ++held; });
    EXPECT_EQ(held, counters.back().queued) << counters.back().name;
  }
  for (std::size_t i = 0; i < fabric.channels().size(); ++i) {
    const Channel& channel = fabric.channels()[i];
    const PortRef sender = fabric.sender(i);
    const PortCounters& from = counters[sender.device.index()].ports[sender.port.index()];
    const PortCounters& to = counters[channel.receiver.index()].ports[channel.receiver_port.index()];
    EXPECT_EQ(from.tx_packets() + from.tx_control + to.duplicated,
              to.delivered + to.lost + to.held_back + channel.in_flight())
        << "channel from " << counters[sender.device.index()].name << " port " << sender.port.value << " to "
        << counters[channel.receiver.index()].name;
  }
}

}  // namespace railyard::test
