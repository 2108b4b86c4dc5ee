#include "dataplane/wire/address.h"

#include <unordered_set>

#include <gtest/gtest.h>

namespace railyard::wire {
namespace {

IpAddress ip(std::string_view text) { return IpAddress::parse(text).value(); }
IpPrefix prefix(std::string_view text) { return IpPrefix::parse(text).value(); }

TEST(IpAddress, OfIpv4IsMapped) {
  constexpr IpAddress kAddress(0x0A000102u);
  static_assert(kAddress.is_v4() && kAddress.v4() == 0x0A000102);
  EXPECT_EQ(kAddress.octets, (std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 1, 2}));
  EXPECT_EQ(kAddress, ip("10.0.1.2"));
  EXPECT_EQ(kAddress, ip("::ffff:10.0.1.2"));
  EXPECT_FALSE(ip("2001:db8::1").is_v4());
  EXPECT_FALSE(ip("::10.0.1.2").is_v4());
}

TEST(IpAddress, IsOrderedAsABigEndianNumber) {
  EXPECT_LT(ip("10.0.0.1"), ip("10.0.0.2"));
  EXPECT_LT(ip("9.255.255.255"), ip("10.0.0.0"));
  EXPECT_LT(ip("127.0.0.1"), ip("128.0.0.1"));
  EXPECT_LT(ip("255.255.255.255"), ip("2001:db8::1"));
  EXPECT_LT(ip("2001:db8::ffff:ffff"), ip("2001:db8:0:1::"));
  EXPECT_GT(ip("ff02::1"), ip("2001:db8::1"));
}

TEST(IpAddress, KnowsTheKindsThatRoutersTreatApart) {
  EXPECT_TRUE(ip("224.0.0.1").is_multicast());
  EXPECT_TRUE(ip("239.1.2.3").is_multicast());
  EXPECT_TRUE(ip("ff02::1").is_multicast());
  EXPECT_FALSE(ip("223.255.255.255").is_multicast());
  EXPECT_FALSE(ip("240.0.0.1").is_multicast());
  EXPECT_FALSE(ip("fe80::1").is_multicast());
  EXPECT_TRUE(ip("0.0.0.0").is_unspecified());
  EXPECT_TRUE(ip("::").is_unspecified());
  EXPECT_FALSE(ip("::1").is_unspecified());
  EXPECT_TRUE(ip("255.255.255.255").is_broadcast());
}

TEST(IpAddress, IsReadAndWritten) {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "2001:db8::1", "fe80::1:2:3:4"}) {
    EXPECT_EQ(to_string(ip(text)), text);
  }
  EXPECT_EQ(to_string(ip("2001:DB8:0:0:0:0:0:1")), "2001:db8::1");
}

TEST(IpAddress, IsRefusedUnlessAllOfTheTextIsOne) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "10.0.0"sv, "10.0.0.256"sv, "10.0.0.1 "sv, " 10.0.0.1"sv, "10.0.0.1/24"sv,
                          "10.0.0.01"sv, "2001:db8"sv, "2001:db8::1::2"sv, ":::"sv, "localhost"sv, "10.0.0.1\0"sv,
                          "0000000000000000000000000000000000000000000000000000000000000001"sv}) {
    EXPECT_EQ(IpAddress::parse(text), std::nullopt) << text;
  }
}

TEST(IpAddress, IsAKey) {
  const std::unordered_set<IpAddress> seen = {ip("10.0.0.1"), ip("10.0.0.2"), ip("::ffff:10.0.0.1")};
  EXPECT_EQ(seen.size(), 2u);
}

TEST(IpPrefix, ContainsWhatBeginsWithIt) {
  EXPECT_TRUE(prefix("10.0.0.0/24").contains(ip("10.0.0.255")));
  EXPECT_FALSE(prefix("10.0.0.0/24").contains(ip("10.0.1.0")));
  EXPECT_TRUE(prefix("10.0.0.128/25").contains(ip("10.0.0.200")));
  EXPECT_FALSE(prefix("10.0.0.128/25").contains(ip("10.0.0.127")));
  EXPECT_TRUE(prefix("10.0.0.1/32").contains(ip("10.0.0.1")));
  EXPECT_FALSE(prefix("10.0.0.1/32").contains(ip("10.0.0.0")));
  EXPECT_TRUE(prefix("2001:db8::/33").contains(ip("2001:db8:7fff::1")));
  EXPECT_FALSE(prefix("2001:db8::/33").contains(ip("2001:db8:8000::1")));
  EXPECT_TRUE(prefix("2001:db8::/64").contains(ip("2001:db8::ffff:ffff:ffff:ffff")));
  EXPECT_FALSE(prefix("2001:db8::/64").contains(ip("2001:db8:0:1::")));
  EXPECT_TRUE(prefix("2001:db8::1/128").contains(ip("2001:db8::1")));
}

TEST(IpPrefix, OfLengthZeroContainsItsFamilyAndForIpv6TheOtherToo) {
  EXPECT_TRUE(prefix("0.0.0.0/0").contains(ip("192.0.2.1")));
  EXPECT_FALSE(prefix("0.0.0.0/0").contains(ip("2001:db8::1")));
  EXPECT_TRUE(prefix("::/0").contains(ip("2001:db8::1")));
  EXPECT_TRUE(prefix("::/0").contains(ip("192.0.2.1")));
}

TEST(IpPrefix, CountsItsBitsOf128) {
  EXPECT_EQ(prefix("10.0.0.0/24"), (IpPrefix{ip("10.0.0.0"), 120}));
  EXPECT_EQ(prefix("0.0.0.0/0"), (IpPrefix{ip("0.0.0.0"), 96}));
  EXPECT_EQ(prefix("2001:db8::/32"), (IpPrefix{ip("2001:db8::"), 32}));
  EXPECT_EQ(IpPrefix::of(ip("10.1.2.3"), 120), prefix("10.1.2.0/24"));
  EXPECT_EQ(IpPrefix::of(ip("10.1.2.3"), 117), prefix("10.1.0.0/21"));
  EXPECT_EQ(IpPrefix::of(ip("2001:db8::1"), 0), prefix("::/0"));
  EXPECT_TRUE(prefix("10.0.0.0/8").is_v4());
  EXPECT_FALSE(prefix("::/0").is_v4());
}

TEST(IpPrefix, IsReadAndWritten) {
  for (const char* text : {"10.0.0.0/24", "0.0.0.0/0", "10.0.0.1/32", "2001:db8::/32", "::/0", "::1/128"}) {
    EXPECT_EQ(to_string(prefix(text)), text);
  }
  for (const char* text : {"", "/", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/24 ",
                           "10.0.0.0/2x", "2001:db8::/129", "10.0.0.1/24", "2001:db8::1/64", "/24"}) {
    EXPECT_EQ(IpPrefix::parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace railyard::wire
