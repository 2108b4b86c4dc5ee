// The books balance at any instant, with frames queued, in transmission and on the wire.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dataplane/base/rng.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kCongested = R"(
name: congested
switches: { default: { buffer: 4MiB } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4 }
traffic:
  - { name: random, pattern: random, flows: 3, dscp: 26 }
  - { name: lossy, pattern: random, flows: 1, dscp: 0, payload: 1000B }
run: { duration: 500us }
)";

TEST(Books, BalanceAtRandomInstantsOfARun) {
  Scenario s(kCongested);
  RngStream rng(Seed{5}, "books");
  Duration t{};
  bool in_flight = false;
  while (t < 700_us) {
    t += Duration{static_cast<std::int64_t>(rng.below(20'000'000))};
    s.run_until(t);
    s.expect_books_balance();
    const report::Report r = s.report();
    EXPECT_TRUE(r.audit.balanced);
    in_flight |= r.audit.on_the_wire > 0 && r.audit.queued > 0;
  }
  EXPECT_TRUE(in_flight);
  EXPECT_GT(s.dropped(), 0u);
}

// Snapshots are events: taken by each device itself, all at one modelled instant, while others are ahead or behind.
TEST(Books, SnapshotsOfAllDevicesAtOneInstantFitTogether) {
  Scenario s(kCongested);
  const std::vector<Duration> instants{33'333'333_ps, 100_us, 250'000'001_ps, 499'999'999_ps};
  std::vector<std::vector<DeviceCounters>> taken(instants.size());
  for (std::size_t i = 0; i < instants.size(); ++i) {
    taken[i].resize(s.lab().fabric().size());
    for (const auto& d : s.lab().fabric().devices())
      d->snapshot_at(Instant{} + instants[i],
                     [&taken, i, id = d->id()](DeviceCounters c) { taken[i][id.index()] = std::move(c); });
  }
  s.engine().wake_all();
  s.run_to_the_end();
  for (std::size_t i = 0; i < instants.size(); ++i) {
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    for (const DeviceCounters& c : taken[i]) {
      EXPECT_EQ(c.at, Instant{} + instants[i]) << c.name;
      EXPECT_TRUE(c.balanced()) << c.name << " at " << instants[i].ps << " ps";
      sent += c.sent();
      arrived += c.received();
    }
    EXPECT_GT(sent, arrived);  // the difference is on the wire
    EXPECT_LT(sent - arrived, 500u);
  }
}

TEST(Books, ARunEndsWithNothingLeft) {
  Scenario s(kCongested);
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_TRUE(r.audit.balanced);
  EXPECT_TRUE(r.audit.drained);
  EXPECT_EQ(r.audit.generated, r.audit.consumed + r.audit.dropped);
  EXPECT_EQ(s.engine().pools().in_use(), 0u);
  for (const report::FlowReport& f : r.flows) EXPECT_EQ(f.packets, f.delivered_packets + f.lost) << f.name;
}

}  // namespace
}  // namespace railyard::test
