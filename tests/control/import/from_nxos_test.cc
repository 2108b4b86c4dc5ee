// What an NX-OS switch is told arrives in the fabric file with the right number.
#include "control/import/from_nxos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/import/switch_sample.h"

namespace railyard::importing {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SwitchSample nxos_sample() { return SwitchSample(kNxosFormat); }

TEST(FromNxos, AnInterfaceIsALinkToWhomItsDescriptionNames) {
  const spec::Lab lab = nxos_sample().lab();
  EXPECT_EQ(lab.name, "leaf-101");
  ASSERT_EQ(lab.links.size(), 36u);
  EXPECT_THAT(lab.links[0], LeadsTo("gpu01", 200));
  EXPECT_EQ(lab.links[0].mtu, 9216);
  EXPECT_THAT(lab.links[35], LeadsTo("spine4", 400));
  EXPECT_EQ(lab.links[35].b, (spec::PortName{"leaf-101", 36}));
}

TEST(FromNxos, AnInterfaceWithoutMtuHasThatOfTheNoDropClass) {
  SwitchSample config = nxos_sample();
  config.change("  speed 200000\n  mtu 9216\n", "  speed 200000\n").change("    mtu 9216\n", "    mtu 4200\n");
  EXPECT_EQ(link_at(config.lab(), 1).mtu, 4200);
  config.change("  service-policy type network-qos QOS_NETWORK\n", "");
  EXPECT_EQ(link_at(config.lab(), 1).mtu, 1500);
  EXPECT_THAT(config.imported(), HasSubstr("    path-mtu: 1024\n"));
}

TEST(FromNxos, AClassThatPausesIsLosslessWithItsThresholds) {
  const spec::Lab lab = nxos_sample().lab();
  const spec::TrafficClass roce = class_in(lab, 3);
  EXPECT_TRUE(roce.lossless);
  EXPECT_EQ(roce.weight, 60);
  EXPECT_THAT(roce.ecn, Marks(150'000, 3'000'000, 7));
  EXPECT_EQ(class_in(lab, 0).weight, 40);
  EXPECT_TRUE(class_in(lab, 7).strict);
  for (const std::size_t c : {0u, 1u, 2u, 4u, 5u, 6u, 7u}) EXPECT_FALSE(class_in(lab, c).lossless) << c;
}

TEST(FromNxos, ValuesSayTheLineTheyComeFrom) {
  const SwitchSample config = nxos_sample();
  EXPECT_THAT(config.imported(),
              AllOf(HasSubstr("      # line " + std::to_string(config.line_of("pause pfc-cos")) + ": pause pfc-cos 3\n"),
                    HasSubstr("    # line " + std::to_string(config.line_of("match dscp 24-31")) + ": match dscp 24-31\n")));
}

TEST(FromNxos, ADscpLeadsToTheGroupOfTheFirstClassThatMatches) {
  SwitchSample config = nxos_sample();
  const spec::QosProfile profile = profile_in(config.lab());
  EXPECT_THAT(profile.dscp_to_class, LeadsCodePoints({{24, 3}, {31, 3}, {48, 7}, {0, 0}}));
  config.change("  match dscp 24-31\n", "  match dscp af31,cs1, ef\n").change("  match dscp 48\n", "  match dscp 26,48\n");
  const spec::QosProfile changed = profile_in(config.lab());
  EXPECT_THAT(changed.dscp_to_class, LeadsCodePoints({{8, 3}, {46, 3}, {24, 0}}));
  EXPECT_EQ(changed.dscp_to_class[26], 3) << "ROCEv2 comes before CNP";
}

TEST(FromNxos, ClassesMayMatchCos) {
  SwitchSample config = nxos_sample();
  config.change("  match dscp 48\n", "  match cos 7\n").change("  match dscp 24-31\n", "  match cos 3-4\n");
  const spec::QosProfile profile = profile_in(config.lab());
  EXPECT_EQ(profile.trust, spec::Trust::kPcp);
  EXPECT_THAT(profile.pcp_to_class, LeadsCodePoints({{4, 3}, {7, 7}, {1, 0}}));
}

TEST(FromNxos, ClassMapsOfOnesOwnNameGroups) {
  SwitchSample config = nxos_sample();
  config.change("  class type queuing c-out-8q-q3\n", "  class type queuing RDMA-OUT\n")
      .change("  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n", "  class type network-qos RDMA\n    pause no-drop\n")
      .add("class-map type queuing RDMA-OUT\n  match qos-group 3\nclass-map type network-qos RDMA\n  match qos-group 3\n");
  EXPECT_TRUE(class_in(config.lab(), 3).lossless);
  EXPECT_EQ(class_in(config.lab(), 3).weight, 60);
}

TEST(FromNxos, WredWithoutEcnDropsInALossyClass) {
  SwitchSample config = nxos_sample();
  config.change("    queue-limit dynamic 8\n",
                "    queue-limit 2 mbytes\n"
                "    random-detect minimum-threshold 100 kbytes maximum-threshold 400 kbytes drop-probability 10 weight 0\n");
  const spec::TrafficClass t = class_in(config.lab(), 0);
  ASSERT_TRUE(t.drop.all);
  EXPECT_EQ(t.drop.all->min, Bytes{100'000});
  EXPECT_EQ(t.drop.all->max, Bytes{400'000});
  EXPECT_EQ(t.drop.all->probability_ppm, 100'000u);
  EXPECT_EQ(t.queue_limit, Bytes{2'000'000});
}

TEST(FromNxos, ThePauseBufferIsXoffAndHeadroom) {
  SwitchSample config = nxos_sample();
  config.change("system qos\n", "policy-map type queuing IN\n  class type queuing c-in-q3\n"
                                "    pause buffer-size 200000 pause-threshold 80000 resume-threshold 60000\n"
                                "system qos\n  service-policy type queuing input IN\n");
  const spec::TrafficClass t = class_in(config.lab(), 3);
  EXPECT_EQ(t.xoff, Bytes{80'000});
  EXPECT_EQ(t.headroom, Bytes{120'000});
  EXPECT_EQ(t.xon_offset, Bytes{20'000});
}

TEST(FromNxos, TheWatchdogCountsIntervals) {
  const auto w = watchdog_in(nxos_sample().lab());
  ASSERT_TRUE(w);
  EXPECT_THAT(w, HasTimes(milliseconds(400), milliseconds(1000), milliseconds(200)));
  EXPECT_EQ(w->action, spec::PfcWatchdog::Action::kDrop);
  SwitchSample off = nxos_sample();
  off.change("watch-dog-interval on", "watch-dog-interval off");
  EXPECT_FALSE(watchdog_in(off.lab()));
}

TEST(FromNxos, PfcNeedsModeOnAtThePort) {
  SwitchSample config = nxos_sample();
  config.change("  priority-flow-control mode on\n", "  priority-flow-control mode auto\n");
  const spec::Lab lab = config.lab();
  EXPECT_EQ(class_at_port(lab, 1, 3).pfc, spec::PfcMode::kOff);
  EXPECT_TRUE(class_in(lab, 3).lossless);
  EXPECT_THAT(config.imported(), HasSubstr(": priority-flow-control mode auto (DCBX decides; PFC is taken as off)\n"));
  config.change_all("  priority-flow-control mode on\n", "");
  EXPECT_FALSE(class_in(config.lab(), 3).lossless);
  EXPECT_THAT(config.imported(),
              HasSubstr(": pause pfc-cos 3 (no port with a link has priority-flow-control mode on)\n"));
}

TEST(FromNxos, PfcOfAGroupWithoutCodePointsIsListed) {
  SwitchSample config = nxos_sample();
  config.change("    set qos-group 3\n", "    set qos-group 2\n");
  EXPECT_THAT(config.imported(),
              AllOf(HasSubstr(": pause pfc-cos 3 (no code point leads to qos-group 3, so PFC protects nothing)\n"),
                    Not(HasSubstr("lossless: true"))));
}

TEST(FromNxos, APauseOfAnotherPriorityIsListed) {
  SwitchSample config = nxos_sample();
  config.change("pause pfc-cos 3", "pause pfc-cos 4");
  EXPECT_TRUE(class_in(config.lab(), 3).lossless);
  EXPECT_THAT(config.imported(),
              HasSubstr(": pause pfc-cos 4 (pauses of class 3 carry its own number in a fabric file)\n"));
}

TEST(FromNxos, LevelsThatAreNotInTheOrderOfTheClassesAreListed) {
  SwitchSample config = nxos_sample();
  config.change("    priority level 1\n", "    priority level 2\n")
      .change("  class type queuing c-out-8q-q6\n    bandwidth remaining percent 0\n",
              "  class type queuing c-out-8q-q6\n    priority level 1\n");
  EXPECT_TRUE(class_in(config.lab(), 6).strict);
  EXPECT_THAT(config.imported(),
              HasSubstr(": priority level 1 (strict classes with higher numbers are served first in a fabric file)\n"));
}

TEST(FromNxos, WithoutAPolicyAllPacketsAreInGroup0) {
  SwitchSample config = nxos_sample();
  config.change_all("  service-policy type qos input QOS_CLASSIFICATION\n", "");
  const spec::QosProfile profile = profile_in(config.lab());
  EXPECT_EQ(profile.dscp_to_class[26], 0);
  EXPECT_THAT(config.imported(), HasSubstr(": policy-map type qos QOS_CLASSIFICATION (with 6 lines below it)\n"));
}

TEST(FromNxos, LinesWithoutCounterpartAreListed) {
  EXPECT_THAT(nxos_sample().imported(),
              AllOf(HasSubstr("#   leaf:12: feature bgp\n"), HasSubstr(": ip address 10.1.1.1/31 (and 35 more like it)\n"),
                    HasSubstr(": queue-limit dynamic 8 (what share of the buffer this is depends on the ASIC; set "
                              "queue-alpha)\n")));
}

}  // namespace
}  // namespace railyard::importing
