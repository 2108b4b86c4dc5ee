#include "transports/uet/wire/outer_path.h"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

OuterHeaders headers_of(bool v6) {
  return {.source_mac = wire::MacAddress{{2, 0, 0, 0, 0, 1}},
          .next_hop_mac = wire::MacAddress{{2, 0, 0, 0, 0, 2}},
          .source = wire::IpAddress::parse(v6 ? "2001:db8::1" : "10.0.0.1").value(),
          .destination = wire::IpAddress::parse(v6 ? "2001:db8::ffff" : "255.254.253.252").value(),
          .dscp = 46,
          .ecn = wire::Ecn::kEct0,
          .entropy = 0x1234};
}

// Of packets of every length, whatever is in the octets before.
TEST(OuterPath, WritesWhatIsEncodedForEachPacketAlone) {
  std::mt19937_64 draw(1);
  for (const bool v6 : {false, true})
    for (const bool udp : {true, false}) {
      const EncapsulationConfig config{.udp = udp};
      OuterHeaders headers = headers_of(v6);
      const OuterPath path(config, headers);
      ASSERT_EQ(path.octets(), outer_octets(config, headers));
      for (std::size_t inner = 0; inner < 65'400; inner += 1 + draw() % 16) {
        headers.entropy = static_cast<std::uint16_t>(draw());
        std::array<std::byte, kMostOuterOctets> expected, written;
        expected.fill(std::byte{0xEE});
        written.fill(std::byte{0xAA});
        ASSERT_EQ(encode_outer(expected, config, headers, inner), path.octets());
        ASSERT_EQ(path.write(written.data(), inner, headers.entropy), path.octets());
        ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(path.octets()),
                               written.begin()))
            << v6 << udp << " " << inner;
      }
    }
}

TEST(OuterPath, HasNoWayUnlessMade) { EXPECT_EQ(OuterPath().octets(), 0u); }

}  // namespace
}  // namespace railyard::uet
