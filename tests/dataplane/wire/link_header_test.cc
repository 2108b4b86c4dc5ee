#include "dataplane/wire/link_header.h"

#include <array>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kHost1{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kHost2{{2, 0, 0, 0, 0, 2}};

TEST(LinkHeader, WithoutAndWithTag) {
  std::array<std::byte, 18> out{};
  LinkHeader link{.destination = kHost2, .source = kHost1};
  EXPECT_EQ(write_link_header(out.data(), link, ether_type::kIpv4) - out.data(), 14);
  EXPECT_EQ(to_hex(out),
            "020000000002"
            "020000000001"
            "0800"
            "00000000");
  link.tagged = true;
  link.pcp = 3;
  link.vid = 100;
  EXPECT_EQ(write_link_header(out.data(), link, ether_type::kIpv6) - out.data(), 18);
  EXPECT_EQ(to_hex(out),
            "020000000002"
            "020000000001"
            "8100606486dd");
}

TEST(LinkHeader, OfAReplyGoesBackInTheSameVlan) {
  const Octets frame = corpus_frame("ipv4_udp_tagged");
  EXPECT_EQ(reply_link(frame, parse_frame(frame).value(), kHost2),
            (LinkHeader{.destination = kHost1, .source = kHost2, .tagged = true, .pcp = 3, .vid = 100}));
}

}  // namespace
}  // namespace railyard::wire
