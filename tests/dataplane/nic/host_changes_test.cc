// A host whose link gets another rate, whose classes share otherwise, whose endpoint has something new to say.
#include <gtest/gtest.h>

#include "tests/dataplane/nic/host_rig.h"

namespace railyard {
namespace {

TEST(HostChanges, ARunningTransmissionEndsAsItBegan) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.source.left[3] = 5;
  rig.host.set_rate_at(at(kOwnSlot + 1_ns), kPort, 10_Gbps, 1_us);
  rig.host.set_rate_at(at(2 * kOwnSlot + 10 * kOwnSlot), kPort, 100_Gbps, 1_us);
  rig.run(20_us);
  EXPECT_EQ(rig.starts(),
            (std::vector{at(0_ns), at(kOwnSlot), at(2 * kOwnSlot), at(12 * kOwnSlot), at(13 * kOwnSlot)}));
}

TEST(HostChanges, SharesAreOthersFromTheirInstantOn) {
  Rig rig;
  rig.source.classes = 1 << 3 | 1 << 4;
  rig.host.change_at(at(100_us), [&](Instant) {
    std::array<ClassScheduling, kPriorities> s{};
    s[4].weight = 3;
    rig.host.set_scheduling(kPort, s);
  });
  rig.host.change_at(at(200_us), [&](Instant) {
    std::array<ClassScheduling, kPriorities> s{};
    s[3].strict = true;
    rig.host.set_scheduling(kPort, s);
  });
  rig.run(300_us);
  std::array<std::array<double, kPriorities>, 3> count{};
  for (const Sent& s : rig.wire.sent_data(kPort))
    ++count[static_cast<std::size_t>((s.start - Instant{}).ps / (100_us).ps)][s.packet.traffic_class_octet >> 5];
  EXPECT_NEAR(count[0][3] / count[0][4], 1, 0.05);
  EXPECT_NEAR(count[1][4] / count[1][3], 3, 0.15);
  EXPECT_EQ(count[2][4], 0);
}

TEST(HostChanges, AnEndpointThatHasChangedIsAskedAgain) {
  Rig rig;
  rig.source.begins = at(1_ms);
  rig.host.change_at(at(10_us), [&](Instant now) {
    rig.source.begins = at(0_ns);
    rig.source.classes = 1 << 3;
    rig.source.left[3] = 1;
    rig.host.endpoint_changed(now, kPort);
  });
  rig.run(20_us);
  EXPECT_EQ(rig.starts(), std::vector{at(10_us)});
}

}  // namespace
}  // namespace railyard
