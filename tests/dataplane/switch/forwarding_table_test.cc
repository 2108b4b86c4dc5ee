#include "dataplane/switch/forwarding_table.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::ip;
using test::prefix;
using wire::IpAddress;
using Kind = NextHops::Kind;

std::vector<PortIndex> ports(std::initializer_list<std::uint16_t> numbers) {
  std::vector<PortIndex> p;
  for (const std::uint16_t n : numbers) p.push_back(PortIndex{n});
  return p;
}

FecTable fecs_of(const std::vector<Route>& routes) {
  std::vector<wire::IpPrefix> prefixes;
  for (const Route& r : routes) prefixes.push_back(r.prefix);
  return FecTable(prefixes);
}

std::vector<PortIndex> members(const ForwardingTable& table, const NextHops& hops) {
  std::vector<PortIndex> p;
  for (std::uint32_t i = 0; i < hops.count; ++i) p.push_back(table.member(hops, i));
  return p;
}

TEST(ForwardingTable, AnEmptyTableLeadsNowhere) {
  EXPECT_EQ(ForwardingTable().lookup(Fec{0}).kind, Kind::kNone);
  EXPECT_EQ(ForwardingTable().lookup(kNoFec).kind, Kind::kNone);
}

TEST(ForwardingTable, EachDestinationHasItsGroup) {
  const std::vector<Route> routes{{prefix("10.0.0.0/16"), ports({1, 2, 3})},
                                  {prefix("10.0.1.0/24"), ports({7})},
                                  {prefix("192.0.2.1/32"), {}},
                                  {prefix("2001:db8::/32"), ports({1, 2, 3})}};
  const FecTable fecs = fecs_of(routes);
  const ForwardingTable table(fecs, routes);
  const auto hops = [&](std::string_view address) { return table.lookup(fecs.lookup(ip(address))); };
  EXPECT_EQ(hops("10.0.0.1").kind, Kind::kGroup);
  EXPECT_EQ(members(table, hops("10.0.0.1")), ports({1, 2, 3}));
  EXPECT_EQ(members(table, hops("10.0.1.1")), ports({7}));
  EXPECT_EQ(hops("192.0.2.1").kind, Kind::kLocal);
  EXPECT_EQ(hops("192.0.2.2").kind, Kind::kNone);
  EXPECT_EQ(members(table, hops("2001:db8::1")), ports({1, 2, 3}));
  EXPECT_EQ(hops("2001:db8::1").first, hops("10.0.0.1").first) << "equal groups are kept once";
}

TEST(ForwardingTable, OfRoutesToOnePrefixTheLastCounts) {
  const std::vector<Route> routes{{prefix("10.0.0.0/16"), ports({1})}, {prefix("10.0.0.0/16"), ports({2})}};
  const FecTable fecs = fecs_of(routes);
  const ForwardingTable table(fecs, routes);
  EXPECT_EQ(members(table, table.lookup(Fec{0})), ports({2}));
}

// A switch has some of the fabric's prefixes only.
TEST(ForwardingTable, AgreesWithALongestPrefixMatchOfTheSwitchsOwnRoutes) {
  RngStream rng(Seed{1}, "forwarding_table_test");
  for (int round = 0; round < 100; ++round) {
    std::vector<wire::IpPrefix> all;
    const std::size_t n = 1 + rng.below(40);
    for (std::size_t i = 0; i < n; ++i) {
      const bool v4 = rng.below(2) == 0;
      wire::IpAddress a =
          v4 ? wire::IpAddress{static_cast<std::uint32_t>(rng.below(4) << 30 | rng.below(4) << 16)} : wire::IpAddress{};
      if (!v4)
        a.octets[0] = static_cast<std::uint8_t>(rng.below(4) << 6), a.octets[7] = static_cast<std::uint8_t>(rng.next());
      const auto length = static_cast<std::uint8_t>(v4 ? 96 + rng.below(33) : rng.below(129));
      all.push_back(wire::IpPrefix::of(a, length));
    }
    const FecTable fecs(all);
    std::vector<Route> own;
    for (const wire::IpPrefix& p : all) {
      if (rng.below(3) != 0) continue;
      // No prefix twice here: the last would count.
      if (std::any_of(own.begin(), own.end(), [&](const Route& r) { return r.prefix == p; })) continue;
      own.push_back({p, rng.below(5) == 0 ? ports({}) : ports({static_cast<std::uint16_t>(own.size()), 100})});
    }
    const ForwardingTable table(fecs, own);
    for (int i = 0; i < 200; ++i) {
      const wire::IpPrefix& near = all[rng.below(all.size())];
      wire::IpAddress address = near.address;
      for (std::size_t bit = near.length; bit < 128; ++bit)
        if (rng.below(2) == 0) address.octets[bit / 8] |= static_cast<std::uint8_t>(0x80u >> (bit % 8));
      const Route* best = nullptr;
      for (const Route& r : own)
        if (r.prefix.contains(address) && (best == nullptr || r.prefix.length > best->prefix.length)) best = &r;
      const NextHops& hops = table.lookup(fecs.lookup(address));
      if (best == nullptr) {
        ASSERT_EQ(hops.kind, Kind::kNone) << to_string(address);
      } else if (best->ports.empty()) {
        ASSERT_EQ(hops.kind, Kind::kLocal) << to_string(address);
      } else {
        ASSERT_EQ(hops.kind, Kind::kGroup) << to_string(address);
        ASSERT_EQ(members(table, hops), best->ports) << to_string(address);
      }
    }
  }
}

// Routes of a kernel know nothing of the fabric's prefixes: a class goes where the longest route leads that contains all
// of it.
TEST(ForwardingTable, TakesRoutesToPrefixesOfNobody) {
  RngStream rng(Seed{2}, "forwarding_table_test");
  const auto draw = [&] {
    const IpAddress address{static_cast<std::uint32_t>(rng.below(4) << 30 | rng.below(4) << 16 | rng.below(4))};
    return wire::IpPrefix::of(address, static_cast<std::uint8_t>(96 + rng.below(33)));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<wire::IpPrefix> all;
    for (int i = 0; i < 12; ++i) all.push_back(draw());
    const FecTable fecs(all);
    std::vector<Route> own;
    for (std::uint16_t i = 0; i < 8; ++i) own.push_back({rng.below(2) == 0 ? draw() : all[rng.below(all.size())], ports({i})});
    const ForwardingTable table(fecs, own);
    for (std::uint32_t i = 0; i < fecs.size(); ++i) {
      const wire::IpPrefix& p = fecs.prefix(Fec{i});
      const Route* best = nullptr;
      for (const Route& r : own)
        if (r.prefix.length <= p.length && r.prefix.contains(p.address) &&
            (best == nullptr || r.prefix.length >= best->prefix.length))
          best = &r;
      const NextHops& hops = table.lookup(Fec{i});
      ASSERT_EQ(hops.kind, best == nullptr ? Kind::kNone : Kind::kGroup) << to_string(p);
      if (best != nullptr) ASSERT_EQ(members(table, hops), best->ports) << to_string(p);
    }
  }
}

// In a large fabric all hosts of a pod are the same way for most switches.
TEST(ForwardingTable, PagesOfClassesThatAreForwardedAlikeAreKeptOnce) {
  std::vector<Route> routes;
  for (int host = 0; host < 4096; ++host) {
    const auto port = static_cast<std::uint16_t>(host / 1024 + (host == 77 ? 9 : 0));
    routes.push_back({prefix("10.0." + std::to_string(host / 256) + "." + std::to_string(host % 256) + "/32"), ports({port})});
  }
  const FecTable fecs = fecs_of(routes);
  const ForwardingTable table(fecs, routes);
  EXPECT_EQ(table.pages(), 32u);
  EXPECT_EQ(table.pages_kept(), 5u) << "one for each port, and that of the host that is elsewhere";
  for (const Route& r : routes)
    EXPECT_EQ(members(table, table.lookup(fecs.find(r.prefix))), r.ports);
  EXPECT_EQ(table.lookup(Fec{4096}).kind, Kind::kNone);
}

}  // namespace
}  // namespace railyard
