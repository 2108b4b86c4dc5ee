// What an EOS switch is told arrives in the fabric file with the right number.
#include "control/import/from_eos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/import/switch_sample.h"

namespace railyard::importing {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SwitchSample eos_sample() { return SwitchSample(kEosFormat); }

TEST(FromEos, AnInterfaceIsALinkToWhomItsDescriptionNames) {
  const spec::Lab lab = eos_sample().lab();
  EXPECT_EQ(lab.name, "leaf1");
  ASSERT_EQ(lab.links.size(), 36u);  // four more are shut down
  EXPECT_THAT(lab.links[0], LeadsTo("gpu01", 200));
  EXPECT_EQ(lab.links[0].b, (spec::PortName{"leaf1", 1}));
  EXPECT_EQ(lab.links[0].mtu, 9214);
  EXPECT_THAT(lab.links[35], LeadsTo("spine4", 400));
}

TEST(FromEos, MtuIs1500AtRoutedPortsAnd9214AtSwitchedOnesIfNobodySaysIt) {
  SwitchSample config = eos_sample();
  config.change("   mtu 9214\n   speed 200g-4\n   no switchport\n", "   speed 200g-4\n   no switchport\n");
  EXPECT_EQ(link_at(config.lab(), 1).mtu, 1500);
  config.change("   speed 200g-4\n   no switchport\n", "   speed 200g-4\n");
  EXPECT_EQ(link_at(config.lab(), 1).mtu, 9214);
}

TEST(FromEos, ASpeedThatNobodySaysIsThatOfMostPortsAndListed) {
  SwitchSample config = eos_sample();
  config.change("   speed 200g-4\n", "   speed auto\n");
  EXPECT_EQ(link_at(config.lab(), 1).rate, BitRate{200'000'000'000});
  EXPECT_THAT(config.imported(),
              HasSubstr("#   speed of Ethernet1/1: not said; 200 Gb/s is taken, as at most ports that say one\n"));
}

TEST(FromEos, SpeedsHaveSeveralForms) {
  for (const auto& [said, rate] : {std::pair{"forced 100gfull", 100'000'000'000}, {"400g-8", 400'000'000'000},
                                   {"auto 25gfull", 25'000'000'000}, {"100g", 100'000'000'000}, {"forced 10000full", 10'000'000'000}}) {
    SwitchSample config = eos_sample();
    config.change("speed 200g-4", std::string("speed ") + said);
    EXPECT_EQ(link_at(config.lab(), 1).rate, BitRate{rate}) << said;
  }
}

TEST(FromEos, ANoDropPriorityIsALosslessClassWithItsThresholds) {
  const spec::Lab lab = eos_sample().lab();
  const spec::TrafficClass roce = class_in(lab, 3);
  EXPECT_TRUE(roce.lossless);
  EXPECT_EQ(roce.alpha_exponent, -3);  // ingress threshold 1/8
  EXPECT_EQ(roce.weight, 80);
  EXPECT_FALSE(roce.strict);
  EXPECT_THAT(roce.ecn, Marks(256'000, 2'000'000, 20));
  for (const std::size_t c : {0u, 1u, 2u, 4u, 5u, 6u, 7u}) EXPECT_FALSE(class_in(lab, c).lossless) << c;
  EXPECT_EQ(class_in(lab, 1).queue_alpha_exponent, -2);  // egress unicast queue 1 threshold 1/4
}

TEST(FromEos, ValuesSayTheLineTheyComeFrom) {
  const SwitchSample config = eos_sample();
  EXPECT_THAT(config.imported(),
              HasSubstr("      # line " + std::to_string(config.line_of("random-detect")) +
                        ": random-detect ecn minimum-threshold 256 kbytes maximum-threshold 2 mbytes max-mark-probability 20 "
                        "weight 0\n"));
}

TEST(FromEos, QueuesBelowNoPriorityAreRoundRobinAndOthersStrict) {
  const spec::Lab lab = eos_sample().lab();
  for (const std::size_t c : {0u, 1u, 2u, 3u}) EXPECT_FALSE(class_in(lab, c).strict) << c;
  for (const std::size_t c : {4u, 5u, 6u, 7u}) EXPECT_TRUE(class_in(lab, c).strict) << c;
  EXPECT_EQ(class_in(lab, 1).weight, 20);
  SwitchSample config = eos_sample();
  config.change("      bandwidth percent 80\n      no priority\n", "      bandwidth percent 80\n");
  EXPECT_TRUE(class_in(config.lab(), 3).strict);
  EXPECT_THAT(config.imported(), HasSubstr(": bandwidth percent 80 (queue 3 has strict priority, EOS's default without "
                                              "`no priority`)\n"));
}

TEST(FromEos, ADscpLeadsToTheQueueOfItsTrafficClass) {
  SwitchSample config = eos_sample();
  const spec::QosProfile profile = profile_in(config.lab());
  EXPECT_THAT(profile.dscp_to_class, LeadsCodePoints({{26, 3}, {48, 6}, {8, 0}}));
  EXPECT_EQ(profile.dscp_to_class[0], 1) << "EOS's default";
  config.change("qos map dscp 26 to traffic-class 3", "qos map dscp 26 40-41 to traffic-class 2");
  config.change("qos map traffic-class 3 to tx-queue 3", "qos map traffic-class 2 to tx-queue 5");
  const spec::QosProfile changed = profile_in(config.lab());
  EXPECT_THAT(changed.dscp_to_class, LeadsCodePoints({{26, 5}, {41, 5}, {16, 5}}));
}

TEST(FromEos, PortsMayTrustCos) {
  SwitchSample config = eos_sample();
  config.change("   qos trust dscp\n", "   qos trust cos\n").add("qos map cos 4 to traffic-class 3\n");
  const spec::QosProfile profile = profile_in(config.lab());
  EXPECT_EQ(profile.trust, spec::Trust::kPcp);
  EXPECT_THAT(profile.pcp_to_class, LeadsCodePoints({{4, 3}, {0, 1}}));
}

TEST(FromEos, ThresholdsMayBeSegmentsOrTimes) {
  SwitchSample config = eos_sample();
  config.change("256 kbytes maximum-threshold 2 mbytes", "1000 segments maximum-threshold 5000 segments");
  EXPECT_EQ(class_in(config.lab(), 3).ecn.kmin, Bytes{208'000});
  EXPECT_EQ(class_in(config.lab(), 3).ecn.kmax, Bytes{1'040'000});
  EXPECT_THAT(config.imported(), HasSubstr(": segments (taken as 208 octets each)\n"));
  SwitchSample times = eos_sample();
  times.change("256 kbytes maximum-threshold 2 mbytes", "3 milliseconds maximum-threshold 9 milliseconds");
  EXPECT_FALSE(class_in(times.lab(), 3).ecn.enabled);
  EXPECT_THAT(times.imported(), HasSubstr("weight 0 (thresholds of a fabric file are octets)\n"));
}

TEST(FromEos, TheWatchdogHasItsTimesAndAction) {
  EXPECT_THAT(watchdog_in(eos_sample().lab()), HasTimes(milliseconds(200), milliseconds(400), milliseconds(100)));
  SwitchSample config = eos_sample();
  config.change("polling-interval 0.1", "polling-interval auto").change("action drop", "action notify-only");
  EXPECT_EQ(watchdog_in(config.lab())->action, spec::PfcWatchdog::Action::kAlert);
  EXPECT_EQ(watchdog_in(config.lab())->poll, milliseconds(100));
}

TEST(FromEos, PfcThatIsNotOnAtAPortIsOffThere) {
  SwitchSample config = eos_sample();
  config.change("   service-profile ROCE-LEAF\n", "   service-profile ROCE-LEAF\n   no priority-flow-control\n");
  const spec::Lab lab = config.lab();
  EXPECT_TRUE(class_in(lab, 3).lossless);
  EXPECT_EQ(class_at_port(lab, 1, 3).pfc, spec::PfcMode::kOff);
}

TEST(FromEos, PfcOfAQueueWithoutCodePointsIsListed) {
  SwitchSample config = eos_sample();
  config.change("priority-flow-control priority 3 no-drop", "priority-flow-control priority 5 no-drop")
      .add("qos map dscp 40-47 to traffic-class 4\n");
  const std::string text = config.imported();
  EXPECT_THAT(text, HasSubstr(": priority-flow-control priority 5 no-drop (no code point leads to queue 5, so PFC protects "
                              "nothing)\n"));
  EXPECT_THAT(text, Not(HasSubstr("lossless: true")));
}

TEST(FromEos, LinesWithoutCounterpartAreListedOnceForEachKind) {
  const SwitchSample config = eos_sample();
  EXPECT_THAT(config.imported(),
              AllOf(HasSubstr("#   leaf:" + std::to_string(config.line_of("ip address 10.1.1.1/31")) +
                              ": ip address 10.1.1.1/31 (and 35 more like it)\n"),
                    HasSubstr(": router bgp 65101 (with 4 lines below it)\n"),
                    HasSubstr(": interface Ethernet21/1 (shut down: the port has no link; with 1 line below it; and 3 more "
                              "like it)\n")));
}

TEST(FromEos, PortsWithOtherQueuesAreListed) {
  SwitchSample config = eos_sample();
  config.change("   service-profile ROCE-LEAF\n",
                "   service-profile ROCE-LEAF\n   uc-tx-queue 3\n      bandwidth percent 10\n");
  EXPECT_EQ(class_in(config.lab(), 3).weight, 80);
  EXPECT_THAT(config.imported(), HasSubstr(": uc-tx-queue 3 (not as at most ports; a switch has one QoS profile; with 1 "
                                              "line below it)\n"));
}

TEST(FromEos, QosOnlyPrintsTheProfileToPaste) {
  const std::string text = eos_sample().imported_qos();
  EXPECT_THAT(text, AllOf(HasSubstr("qos:\n"), HasSubstr("3: { lossless: true"), Not(HasSubstr("links:"))));
}

}  // namespace
}  // namespace railyard::importing
