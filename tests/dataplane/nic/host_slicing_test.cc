// The portions in which time passes are invisible.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/dataplane/nic/host_rig.h"
#include "tests/support/books.h"

namespace railyard {
namespace {

// Sends and receives with pauses both ways, and a link that goes down; however time is cut, the same octets leave at
// the same instants and the endpoint sees the same frames.
struct Outcome {
  std::uint64_t digest;
  std::vector<Source::Arrived> arrived;
  bool operator==(const Outcome&) const = default;
};

Outcome run_sliced(bool slow, std::optional<Seed> slices) {
  HostConfig config = slow ? slow_config() : host_config();
  config.nics[0].scheduling[4].weight = 3;
  if (slow) config.nics[0].receive.capacity = {100'000};
  Rig rig(config);
  rig.host.digest_departures(true);
  rig.source.classes = 1 << 3 | 1 << 4 | 1 << 6;
  rig.source.left = {0, 0, 0, 400, 400, 0, 30, 0};
  rig.source.octets = {0, 0, 0, 1002, 302, 0, 5002, 0};
  RngStream rng(Seed{1}, "host_test/traffic");
  Duration start{};
  Duration down{};
  for (int i = 0; i < 400; ++i) {
    const auto octets = static_cast<std::uint32_t>(64 + rng.below(3000));
    if (i == 150) down = start + 1_ns;  // while it is on the wire
    rig.send(start, {.psn = static_cast<std::uint32_t>(i),
                     .dscp = static_cast<std::uint8_t>(rng.below(64)),
                     .frame_octets = octets});
    start += rig.wire.serialization(kPort, octets + kGapOctets);
    if (rng.below(3) == 0) start += 1_ns * static_cast<std::int64_t>(rng.below(1000));
    if (rng.below(15) == 0) {
      const auto quanta = static_cast<std::uint16_t>(rng.below(3) * 100);
      rig.wire.send_pfc(kPort, at(start), static_cast<PriorityMask>(rng.below(256)),
                        {quanta, quanta, quanta, quanta, quanta, quanta, quanta, quanta});
    }
  }
  rig.host.link_down_at(at(down), kPort);
  rig.host.link_up_at(at(down + 1_us), kPort);
  RngStream cuts(slices.value_or(Seed{}), "host_test/cuts");
  while (slices && rig.host.done() < at(200_us)) {
    const Instant next = std::max(rig.host.next(), rig.host.done());
    rig.host.advance(cuts.below(3) == 0 ? next + 1_ps
                                        : next + Duration{static_cast<std::int64_t>(cuts.below(2'000'000))});
    test::expect_balanced(rig.host.counters());
  }
  rig.run(5_ms);
  EXPECT_EQ(rig.host.counters().ports[0].lost, 1u);
  EXPECT_EQ(rig.count(3).tx_packets + rig.count(3).drops[static_cast<std::size_t>(DropReason::kLinkDown)], 400u);
  return {rig.host.digest().value(), std::move(rig.source.arrived)};
}

TEST(HostSlicing, IsInvisible) {
  for (const bool slow : {false, true}) {
    const Outcome whole = run_sliced(slow, {});
    EXPECT_GT(whole.arrived.size(), slow ? 150u : 350u) << "the slow one's buffer overflows";
    for (std::uint64_t seed = 1; seed <= 10; ++seed) ASSERT_EQ(run_sliced(slow, Seed{seed}), whole) << "seed " << seed;
  }
}

}  // namespace
}  // namespace railyard
