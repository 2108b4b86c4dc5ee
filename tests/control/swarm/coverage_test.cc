#include "control/swarm/coverage.h"

#include <gmock/gmock.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::swarm {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Outcome outcome(std::uint64_t hops) {
  Outcome o;
  o.hops = hops;
  return o;
}

TEST(Coverage, TheMedianSeed) {
  Coverage c;
  for (const std::uint64_t hops : {10u, 1'000'000u, 50u, 20u, 60u}) c.add(outcome(hops));
  EXPECT_EQ(c.median_hops(), 50u);
}

TEST(Coverage, WhatIsBelowItsBarIsNamed) {
  Coverage c;
  std::vector<std::string> kinds;
  for (const spec::FaultKind& kind : spec::fault_kinds()) kinds.push_back(kind.name);
  EXPECT_THAT(kinds, SizeIs(std::variant_size_v<spec::FaultAction> - 1));
  for (int seed = 0; seed < 100; ++seed) {
    Outcome o = outcome(50'000);
    if (seed < 50) o.xoffs = 7;
    if (seed < 30) o.drops = o.roce_packets = o.uet_packets = 1;
    if (seed < 2) o.kinds = {kinds.begin(), kinds.end()};
    c.add(o);
  }
  EXPECT_THAT(c.missed({}), IsEmpty());
  c.add(outcome(1));
  EXPECT_THAT(c.missed({}), Contains(HasSubstr("XOFF in 50 of 101")));
  EXPECT_THAT(c.missed({}), Contains(HasSubstr("pfc-storm in 2 of 101")));
  EXPECT_THAT(c.missed({}), Contains(HasSubstr("uet packets in 30 of 101")));
  EXPECT_THAT(c.text(), HasSubstr("burst-loss"));
}

}  // namespace
}  // namespace railyard::swarm
