#include "transports/roce/wire/udp_source_port.h"

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

// The vectors of roce-and-lossless.md §1.3.
TEST(UdpSourcePort, OfTheFlowLabelOfTwoQueuePairs) {
  EXPECT_EQ(flow_label(0x11, 0x12), 0x00132u);
  EXPECT_EQ(source_port(0x00132), 0xC132);
  EXPECT_EQ(flow_label(0x118, 0xD2), 0x0E5B0u);
  EXPECT_EQ(source_port(0x0E5B0), 0xE5B3);
  EXPECT_EQ(flow_label(0x1234, 0x5678), 0x60002u);
  EXPECT_EQ(source_port(0x60002), 0xC01A);
}

TEST(UdpSourcePort, IsTheSameFromBothEnds) {
  for (std::uint32_t a = 1; a < 0x1000000; a = 3 * a + 1)
    for (std::uint32_t b = 2; b < 0x1000000; b = 5 * b + 1) EXPECT_EQ(flow_label(a, b), flow_label(b, a));
}

TEST(UdpSourcePort, OfRxe) {
  EXPECT_EQ(rxe_source_port(0x11), 0xDF94);
  EXPECT_EQ(rxe_source_port(0x12), 0xF806);
}

}  // namespace
}  // namespace railyard::roce
