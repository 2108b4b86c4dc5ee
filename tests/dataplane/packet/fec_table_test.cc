#include "dataplane/packet/fec_table.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::ip;
using test::prefix;

// The longest of `prefixes` that covers `address`: by looking at each.
std::optional<wire::IpPrefix> longest(const std::vector<wire::IpPrefix>& prefixes, const wire::IpAddress& address) {
  std::optional<wire::IpPrefix> best;
  for (const wire::IpPrefix& p : prefixes)
    if (p.contains(address) && (!best || p.length > best->length)) best = p;
  return best;
}

// Few different octets, so that prefixes nest and adjoin, and the ends of the address space occur.
wire::IpAddress random_address(RngStream& rng, bool v4) {
  constexpr std::uint8_t kOctets[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
  wire::IpAddress a;
  if (v4) a = wire::IpAddress{0u};
  for (std::size_t i = v4 ? 12 : 0; i < 16; ++i) a.octets[i] = kOctets[rng.below(std::size(kOctets))];
  return a;
}

std::vector<wire::IpPrefix> random_prefixes(RngStream& rng, std::size_t n) {
  std::vector<wire::IpPrefix> prefixes;
  for (std::size_t i = 0; i < n; ++i) {
    const bool v4 = rng.below(2) == 0;
    const auto length = static_cast<std::uint8_t>(v4 ? 96 + rng.below(33) : rng.below(129));
    prefixes.push_back(wire::IpPrefix::of(random_address(rng, v4), length));
  }
  return prefixes;
}

// An address that is likely to be covered: a prefix with other bits behind it; or just outside of it.
wire::IpAddress near(RngStream& rng, const wire::IpPrefix& p) {
  wire::IpAddress a = random_address(rng, false);
  for (std::size_t bit = 0; bit < p.length; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % 8));
    a.octets[bit / 8] = static_cast<std::uint8_t>((a.octets[bit / 8] & ~mask) | (p.address.octets[bit / 8] & mask));
  }
  if (p.length > 0 && rng.below(4) == 0) {
    const std::size_t bit = rng.below(p.length);
    a.octets[bit / 8] = static_cast<std::uint8_t>(a.octets[bit / 8] ^ (0x80u >> (bit % 8)));
  }
  return a;
}

TEST(FecTable, AnEmptyTableCoversNothing) {
  const FecTable table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.lookup(ip("10.0.0.1")), kNoFec);
  EXPECT_EQ(table.lookup(ip("::")), kNoFec);
  EXPECT_EQ(table.lookup(ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), kNoFec);
}

TEST(FecTable, KnowsWhichPrefixContainsWhich) {
  const FecTable table({prefix("10.0.0.0/8"), prefix("10.1.2.3/32"), prefix("10.1.2.0/24"), prefix("11.0.0.0/8")});
  const auto parent = [&](std::string_view p) { return table.parent(table.find(prefix(p))); };
  EXPECT_EQ(parent("10.0.0.0/8"), kNoFec);
  EXPECT_EQ(parent("10.1.2.0/24"), table.find(prefix("10.0.0.0/8")));
  EXPECT_EQ(parent("10.1.2.3/32"), table.find(prefix("10.1.2.0/24")));
  EXPECT_EQ(parent("11.0.0.0/8"), kNoFec);
  EXPECT_EQ(table.find(prefix("10.1.0.0/16")), kNoFec);
  EXPECT_EQ(table.find(prefix("12.0.0.0/8")), kNoFec);
}

TEST(FecTable, TheLongestPrefixDecides) {
  const FecTable table({prefix("10.0.0.0/8"), prefix("10.1.0.0/16"), prefix("10.1.2.0/24"), prefix("10.1.2.3/32")});
  const auto found = [&](std::string_view address) { return to_string(table.prefix(table.lookup(ip(address)))); };
  EXPECT_EQ(found("10.0.255.255"), "10.0.0.0/8");
  EXPECT_EQ(found("10.1.1.255"), "10.1.0.0/16");
  EXPECT_EQ(found("10.1.2.2"), "10.1.2.0/24");
  EXPECT_EQ(found("10.1.2.3"), "10.1.2.3/32");
  EXPECT_EQ(found("10.1.2.4"), "10.1.2.0/24");
  EXPECT_EQ(found("10.1.3.0"), "10.1.0.0/16");
  EXPECT_EQ(found("10.2.0.0"), "10.0.0.0/8");
  EXPECT_EQ(table.lookup(ip("9.255.255.255")), kNoFec);
  EXPECT_EQ(table.lookup(ip("11.0.0.0")), kNoFec);
}

TEST(FecTable, ThePrefixOfLengthZeroCoversBothFamiliesAndTheEndOfTheSpace) {
  const FecTable table({prefix("::/0"), prefix("0.0.0.0/0")});
  EXPECT_EQ(to_string(table.prefix(table.lookup(ip("1.2.3.4")))), "0.0.0.0/0");
  EXPECT_EQ(to_string(table.prefix(table.lookup(ip("255.255.255.255")))), "0.0.0.0/0");
  EXPECT_EQ(to_string(table.prefix(table.lookup(ip("::1")))), "::/0");
  EXPECT_EQ(to_string(table.prefix(table.lookup(ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")))), "::/0");
}

TEST(FecTable, DuplicatesCountOnceAndClassesAreNumberedFromZero) {
  const FecTable table({prefix("10.0.1.0/24"), prefix("10.0.0.0/24"), prefix("10.0.1.0/24"), prefix("2001:db8::/32")});
  ASSERT_EQ(table.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(table.lookup(table.prefix(Fec{i}).address), Fec{i});
}

TEST(FecTable, AgreesWithLookingAtEachPrefix) {
  RngStream rng(Seed{1}, "fec_table_test");
  for (int round = 0; round < 200; ++round) {
    const std::vector<wire::IpPrefix> prefixes = random_prefixes(rng, rng.below(60));
    const FecTable table(prefixes);
    for (int i = 0; i < 200; ++i) {
      const wire::IpAddress address = prefixes.empty() || rng.below(8) == 0
                                          ? random_address(rng, rng.below(2) == 0)
                                          : near(rng, prefixes[rng.below(prefixes.size())]);
      const auto expected = longest(prefixes, address);
      const Fec found = table.lookup(address);
      ASSERT_EQ(found != kNoFec, expected.has_value()) << to_string(address) << " in round " << round;
      if (expected) {
        ASSERT_EQ(table.prefix(found), *expected) << to_string(address) << " in round " << round;
      }
    }
  }
}

// What the class rests on: whatever subset of the union a switch has, its longest match for an address is its longest
// match for the class's prefix.
TEST(FecTable, EverySwitchMatchesTheClassAsItWouldMatchTheAddress) {
  RngStream rng(Seed{2}, "fec_table_test");
  for (int round = 0; round < 100; ++round) {
    const std::vector<wire::IpPrefix> all = random_prefixes(rng, 1 + rng.below(40));
    const FecTable table(all);
    std::vector<wire::IpPrefix> of_switch;
    for (const wire::IpPrefix& p : all)
      if (rng.below(3) == 0) of_switch.push_back(p);
    for (int i = 0; i < 200; ++i) {
      const wire::IpAddress address = near(rng, all[rng.below(all.size())]);
      const Fec fec = table.lookup(address);
      const auto by_address = longest(of_switch, address);
      if (fec == kNoFec) {
        ASSERT_FALSE(by_address.has_value());
        continue;
      }
      // Of the switch's prefixes those that cover all of the class.
      std::vector<wire::IpPrefix> covering;
      for (const wire::IpPrefix& p : of_switch)
        if (p.length <= table.prefix(fec).length) covering.push_back(p);
      ASSERT_EQ(longest(covering, table.prefix(fec).address), by_address) << to_string(address);
    }
  }
}

}  // namespace
}  // namespace railyard
