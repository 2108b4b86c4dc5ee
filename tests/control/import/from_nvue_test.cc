// What a Cumulus Linux switch is told arrives in the fabric file with the right number.
#include "control/import/from_nvue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/import/nvue_tree.h"
#include "tests/control/import/switch_sample.h"

namespace railyard::importing {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SwitchSample nvue_sample() { return SwitchSample(kNvueFormat); }

// A switch with four ports and this below `qos:`.
SwitchSample with_qos(const std::string& qos) {
  const std::string ports = "- header:\n    model: SN5600\n- set:\n    interface:\n      swp1-4:\n        link:\n          speed: 400G\n";
  return {kNvueFormat, ports + (qos.empty() ? "" : "    qos:\n" + qos)};
}

TEST(FromNvue, APortIsALinkToWhomItsDescriptionNames) {
  const spec::Lab lab = nvue_sample().lab();
  EXPECT_EQ(lab.name, "leaf01");
  ASSERT_EQ(lab.links.size(), 36u);  // 32 parts of 16 ports, and 4 more
  EXPECT_THAT(lab.links[0], LeadsTo("gpu01", 200));
  EXPECT_EQ(lab.links[0].mtu, 9216);
  EXPECT_EQ(lab.links[0].cable, spec::Length{5'000});
  EXPECT_THAT(lab.links[35], LeadsTo("spine4", 400));
  EXPECT_EQ(lab.links[35].cable, spec::Length{40'000});
}

TEST(FromNvue, APortThatIsDownHasNoLink) {
  SwitchSample config = nvue_sample();
  config.change("        description: spine2\n", "        description: spine2\n        link:\n          state: down\n");
  EXPECT_EQ(config.lab().links.size(), 35u);
}

TEST(FromNvue, APfcPriorityIsALosslessClassWithItsThresholds) {
  const spec::Lab lab = nvue_sample().lab();
  const spec::TrafficClass roce = class_in(lab, 3);
  EXPECT_TRUE(roce.lossless);
  EXPECT_EQ(roce.weight, 60);
  EXPECT_THAT(roce.ecn, Marks(150'000, 1'500'000, 50));
  EXPECT_EQ(class_in(lab, 0).weight, 40);
  EXPECT_TRUE(class_in(lab, 6).strict);
  EXPECT_FALSE(class_in(lab, 0).lossless);
  EXPECT_EQ(lab.switches.at("default").buffer, Bytes{38'400'000});  // 60 % of 64 MB
}

TEST(FromNvue, ValuesSayTheLineTheyComeFrom) {
  const SwitchSample config = nvue_sample();
  EXPECT_THAT(config.imported(),
              HasSubstr("      # line " + std::to_string(config.line_of("min-threshold")) +
                        ": qos.congestion-control.roce.traffic-class.3.min-threshold: 150000\n"));
}

TEST(FromNvue, RoceAloneSetsMapsQueuesEcnAndPfc) {
  const spec::Lab lab = with_qos("      roce: {}\n").lab();
  const spec::QosProfile profile = profile_in(lab);
  EXPECT_THAT(profile.dscp_to_class, LeadsCodePoints({{26, 3}, {48, 6}, {40, 0}}));
  EXPECT_TRUE(profile.classes[3].lossless);
  EXPECT_EQ(profile.classes[3].weight, 50);
  EXPECT_EQ(profile.classes[0].weight, 50);
  EXPECT_TRUE(profile.classes[6].strict);
  EXPECT_EQ(profile.classes[3].ecn.kmin, Bytes{150'000});
  EXPECT_EQ(profile.classes[3].ecn.kmax, Bytes{1'500'000});
  EXPECT_EQ(profile.classes[0].ecn.kmin, Bytes{150'000});
}

TEST(FromNvue, LossyRoceHasEcnAndNoPfc) {
  const spec::Lab lab = with_qos("      roce:\n        mode: lossy\n").lab();
  EXPECT_FALSE(class_in(lab, 3).lossless);
  EXPECT_TRUE(class_in(lab, 3).ecn.enabled);
  EXPECT_FALSE(class_in(lab, 3).ecn.drop_not_ect);  // RED is disabled
  EXPECT_FALSE(class_in(with_qos("      roce:\n        enable: off\n").lab(), 3).ecn.enabled);
}

TEST(FromNvue, WithoutQosThereAreCumulusDefaults) {
  const spec::QosProfile profile = profile_in(with_qos("").lab());
  EXPECT_EQ(profile.trust, spec::Trust::kPcp);
  EXPECT_EQ(profile.pcp_to_class[5], 5);
  EXPECT_EQ(profile.classes[0].weight, 12);
  EXPECT_EQ(profile.classes[1].weight, 13);
  EXPECT_EQ(profile.classes[0].ecn.kmin, Bytes{150'000});
  EXPECT_FALSE(profile.classes[3].ecn.enabled);
}

TEST(FromNvue, ACodePointLeadsToTheClassOfItsSwitchPriority) {
  SwitchSample config = nvue_sample();
  EXPECT_EQ(profile_in(config.lab()).dscp_to_class[4], 3);
  config.change("      egress-scheduler:\n",
                "      egress-queue-mapping:\n        default-global:\n          switch-priority:\n            '3':\n"
                "              traffic-class: 5\n      egress-scheduler:\n");
  EXPECT_EQ(profile_in(config.lab()).dscp_to_class[26], 5);
  EXPECT_TRUE(class_in(config.lab(), 5).lossless);
  EXPECT_FALSE(class_in(config.lab(), 3).lossless);
}

TEST(FromNvue, PfcThresholdsAreXoffXonAndHeadroom) {
  const spec::TrafficClass t = class_in(
      with_qos("      mapping:\n        default-global:\n          trust: l3\n      pfc:\n        default-global:\n"
               "          switch-priority:\n            '3': {}\n          port-buffer: 250000\n"
               "          xoff-threshold: 100000\n          xon-threshold: 20000\n")
          .lab(),
      3);
  EXPECT_TRUE(t.lossless);
  EXPECT_EQ(t.xoff, Bytes{100'000});
  EXPECT_EQ(t.headroom, Bytes{150'000});
  EXPECT_EQ(t.xon_offset, Bytes{20'000});
}

TEST(FromNvue, TheWatchdogCountsPolls) {
  const auto w = watchdog_in(nvue_sample().lab());
  ASSERT_TRUE(w);
  EXPECT_EQ(w->poll, milliseconds(200));
  EXPECT_EQ(w->detect, milliseconds(600));
  SwitchSample off = nvue_sample();
  off.change_all("            state: enable\n", "            state: disable\n");
  EXPECT_FALSE(watchdog_in(off.lab()));
}

TEST(FromNvue, ProfilesOfFewPortsAreListed) {
  SwitchSample config = nvue_sample();
  config.change("      swp17:\n        description: spine1\n",
                "      swp17:\n        description: spine1\n        qos:\n          congestion-control:\n"
                "            profile: other\n");
  config.change("      congestion-control:\n        roce:\n", "      congestion-control:\n        other:\n          traffic-class: {}\n        roce:\n");
  EXPECT_THAT(config.imported(),
              HasSubstr(": interface.swp17.qos.congestion-control.profile: other (not as at most ports; a switch has one QoS "
                        "profile)\n"));
  EXPECT_EQ(class_in(config.lab(), 3).ecn.kmin, Bytes{150'000});
}

TEST(FromNvue, PfcOfAPriorityWithoutCodePointsIsListed) {
  const std::string text =
      with_qos("      mapping:\n        default-global:\n          trust: port\n          port-default-sp: 0\n      pfc:\n"
               "        default-global:\n          switch-priority:\n            '3': {}\n")
          .imported();
  EXPECT_THAT(text, AllOf(HasSubstr("#   pfc of switch-priority 3: no code point leads to traffic class 3, so PFC protects "
                                    "nothing\n"),
                          Not(HasSubstr("lossless: true"))));
}

TEST(FromNvue, SettingsWithoutCounterpartAreListed) {
  EXPECT_THAT(nvue_sample().imported(),
              AllOf(HasSubstr(": qos.remark (2 settings)\n"), HasSubstr(": router (2 settings)\n"),
                    HasSubstr(": interface.eth0 (2 settings)\n")));
  EXPECT_THAT(with_qos("      roce:\n        mode: lossy-multi-tc\n").imported(),
              HasSubstr("leaf:10: qos.roce.mode: lossy-multi-tc (the values of this mode are not built in)\n"));
}

TEST(FromNvue, TheFormatIsRecognisedByItsContent) {
  EXPECT_TRUE(is_nvue(nvue_sample().text()));
  EXPECT_TRUE(is_nvue("# c\n---\n-   set:\n    interface: {}\n"));
  EXPECT_TRUE(is_nvue("[{\"header\": {\"nvue-api-version\": \"nvue_v1\"}}, {\"set\": {}}]"));
  EXPECT_FALSE(is_nvue("name: x\ntopology: { nodes: { a: {} } }\n"));
  EXPECT_FALSE(is_nvue("[1, 2]"));
  EXPECT_FALSE(is_nvue(""));
  EXPECT_EQ(SwitchSample(kNvueFormat, R"([{"set": {"interface": {"swp1-2": {"link": {"speed": "100G"}}}}}])").lab().links.size(), 2u);
}

}  // namespace
}  // namespace railyard::importing
