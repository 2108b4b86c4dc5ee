#include "transports/roce/path.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"

namespace railyard::roce {
namespace {

std::vector<std::byte> frame_of(const Path& path, std::size_t datagram) {
  std::vector<std::byte> frame(Path::kMostOctets + datagram);
  frame.resize(path.write(frame.data(), datagram) + datagram);
  return frame;
}

TEST(Path, HeadersSayTheLengthsOfEachPacket) {
  for (const bool v4 : {true, false}) {
    AddressVector av{.source_mac = {{2, 0, 0, 0, 0, 1}},
                     .next_hop_mac = {{2, 0, 0, 0, 0, 2}},
                     .source = v4 ? wire::IpAddress(0x0A000001) : wire::IpAddress::parse("2001:db8::1").value(),
                     .destination = v4 ? wire::IpAddress(0x0A000002) : wire::IpAddress::parse("2001:db8::2").value(),
                     .source_port = 0xC123,
                     .hop_limit = 9};
    const Path path(av, 5);
    for (const std::size_t datagram : {16u, 20u, 1052u, 4124u}) {
      const auto view = wire::parse_frame(frame_of(path, datagram));
      ASSERT_TRUE(view) << "and the IPv4 checksum is right";
      EXPECT_EQ(view->source, av.source);
      EXPECT_EQ(view->destination, av.destination);
      EXPECT_EQ(view->ip_octets, (v4 ? 20 : 40) + 8 + datagram);
      EXPECT_EQ(view->source_port, 0xC123);
      EXPECT_EQ(view->destination_port, 4791);
      EXPECT_EQ(view->traffic_class_octet, 0x6A) << "DSCP 26 and ECT(0)";
      EXPECT_EQ(view->ttl, 9);
    }
    EXPECT_EQ(path.flow(), 5u);
    const auto cnp = wire::parse_frame(frame_of(path.with(48, Priority{6}), 32));
    EXPECT_EQ(cnp->traffic_class_octet, 48 << 2 | 2);
    EXPECT_EQ(cnp->destination, av.destination);
  }
}

}  // namespace
}  // namespace railyard::roce
