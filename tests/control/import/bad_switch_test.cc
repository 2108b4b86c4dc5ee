// Configurations of Cumulus Linux, EOS and NX-OS that contradict themselves: one error with file and line, what was
// found and what was expected. Broken ones are an error, too, and never more.
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/import/running_config.h"
#include "tests/control/import/switch_sample.h"

namespace railyard::importing {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct BadSwitchCase {
  const char* name;
  SwitchFormat format;
  const char* from;     // of the sample
  const char* to;       // what it becomes
  const char* at;       // the error is in the line that has this text now; nullptr: in none
  const char* message;  // behind "FILE:LINE: "
};

const std::vector<BadSwitchCase>& bad_switch_cases() {
  static const std::vector<BadSwitchCase> cases{
      {"EosMinimumAboveMaximum", kEosFormat, "256 kbytes", "3000 kbytes", "3000 kbytes",
       "found minimum-threshold 3000000 bytes, above maximum-threshold, expected at most 2000000 bytes"},
      {"EosUnit", kEosFormat, "256 kbytes", "256 furlongs", "furlongs",
       "found minimum-threshold 256 furlongs, expected bytes, kbytes, segments or mbytes"},
      {"EosThresholdWithoutUnit", kEosFormat, "256 kbytes maximum-threshold 2 mbytes max-mark-probability 20 weight 0",
       "256 kbytes maximum-threshold 2", "maximum-threshold 2",
       "found maximum-threshold 2 without a unit, expected bytes, kbytes, segments or mbytes"},
      {"EosNoMaximum", kEosFormat, " maximum-threshold 2 mbytes", "", "minimum-threshold",
       "found no maximum-threshold, expected minimum-threshold and maximum-threshold with their units"},
      {"EosProbability", kEosFormat, "max-mark-probability 20", "max-mark-probability 200", "max-mark-probability",
       "found max-mark-probability '200', expected a whole number, 1..100"},
      {"EosTrafficClass", kEosFormat, "qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-class 9",
       "traffic-class 9", "found traffic-class '9', expected a whole number, 0..7"},
      {"EosDscp", kEosFormat, "qos map dscp 26", "qos map dscp 64", "dscp 64", "found dscp '64', expected numbers, 0..63"},
      {"EosPriority", kEosFormat, "priority 3 no-drop", "priority 8 no-drop", "priority 8",
       "found priority '8', expected a whole number, 0..7"},
      {"EosPriorityWord", kEosFormat, "priority 3 no-drop", "priority 3 maybe", "maybe",
       "found 'maybe' behind priority 3, expected no-drop or drop"},
      {"EosQueue", kEosFormat, "uc-tx-queue 3", "uc-tx-queue 12", "uc-tx-queue 12",
       "found uc-tx-queue '12', expected a whole number, 0..7"},
      {"EosProfile", kEosFormat, "service-profile ROCE-LEAF", "service-profile LAKE", "LAKE",
       "found service-profile 'LAKE', expected the name of a `qos profile`: ROCE-LEAF"},
      {"EosTrust", kEosFormat, "qos trust dscp", "qos trust luck", "luck", "found qos trust 'luck', expected dscp or cos"},
      {"EosMtu", kEosFormat, "mtu 9214", "mtu 65536", "65536", "found mtu '65536', expected a whole number, 576..9216"},
      {"EosSpeed", kEosFormat, "speed 200g-4", "speed 123g", "123g",
       "found speed '123g', expected one of 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, 100000, 200000, 400000, "
       "800000, 1600000 (Mb/s), or 100g and its like"},
      {"EosTimeout", kEosFormat, "timeout 0.2", "timeout soon", "soon", "found timeout 'soon', expected a time in seconds, "
                                                                        "0.001..60"},
      {"EosAction", kEosFormat, "action drop", "action pray", "pray",
       "found action 'pray', expected drop, notify-only or errdisable"},
      {"NxosMinimumAboveMaximum", kNxosFormat, "150 kbytes", "4 mbytes", "4 mbytes",
       "found minimum-threshold 4000000 bytes, above maximum-threshold, expected at most 3000000 bytes"},
      {"NxosUnit", kNxosFormat, "150 kbytes", "150 segments", "150 segments",
       "found minimum-threshold 150 segments, expected bytes, kbytes or mbytes"},
      {"NxosClassMap", kNxosFormat, "  class ROCEv2", "  class LAKE", "class LAKE",
       "found class 'LAKE', expected the name of a `class-map type qos`"},
      {"NxosQueuingClass", kNxosFormat, "class type queuing c-out-8q-q3", "class type queuing LAKE", "queuing LAKE",
       "found class 'LAKE', expected the name of a `class-map type queuing`"},
      {"NxosPolicy", kNxosFormat, "output QOS_EGRESS_PORT", "output LAKE", "LAKE",
       "found service-policy 'LAKE', expected the name of a `policy-map type queuing`: QOS_EGRESS_PORT"},
      {"NxosDscp", kNxosFormat, "match dscp 24-31", "match dscp 24-64", "24-64",
       "found dscp '24-64', expected numbers, 0..63, or names such as af31"},
      {"NxosGroup", kNxosFormat, "set qos-group 3", "set qos-group 8", "group 8",
       "found qos-group '8', expected a whole number, 0..7"},
      {"NxosPriority", kNxosFormat, "pause pfc-cos 3", "pause pfc-cos 9", "pfc-cos 9",
       "found pfc-cos '9', expected a whole number, 0..7"},
      {"NxosPercent", kNxosFormat, "remaining percent 60", "remaining percent 600", "600",
       "found percent '600', expected a whole number, 0..100"},
      {"NxosMode", kNxosFormat, "flow-control mode on", "flow-control mode maybe", "maybe",
       "found priority-flow-control mode 'maybe', expected on, off or auto"},
      {"NvueMinimumAboveMaximum", kNvueFormat, "min-threshold: 150000", "min-threshold: 2000000", "2000000",
       "qos.congestion-control.roce.traffic-class.3.min-threshold: found 2000000, above max-threshold, expected at most "
       "1500000"},
      {"NvueUnit", kNvueFormat, "min-threshold: 150000", "min-threshold: 15 furlongs", "furlongs",
       "qos.congestion-control.roce.traffic-class.3.min-threshold: found '15furlongs', expected a number of octets, such "
       "as 150000"},
      {"NvueProfile", kNvueFormat, "profile: roce", "profile: lake", "lake",
       "interface.swp1s0-1,..,swp16s0-1.qos.congestion-control.profile: found 'lake', expected a name in "
       "qos.congestion-control: roce"},
      {"NvueMode", kNvueFormat, "mode: lossless", "mode: magic", "magic",
       "qos.roce.mode: found 'magic', expected lossless, lossless-single-ipool, lossy or lossy-multi-tc"},
      {"NvueScheduler", kNvueFormat, "mode: strict", "mode: fifo", "fifo",
       "qos.egress-scheduler.default-global.traffic-class.6.mode: found 'fifo', expected dwrr or strict"},
      {"NvueMoreThanAll", kNvueFormat, "bw-percent: 60", "bw-percent: 61", nullptr, "bw-percent of 101 in all, expected at most 100"},
      {"NvueTrust", kNvueFormat, "trust: l3", "trust: luck", "luck",
       "qos.mapping.default-global.trust: found 'luck', expected l2, l3, both or port"},
      {"NvueSwitchPriority", kNvueFormat, "switch-priority: 3", "switch-priority: 8", "switch-priority: 8",
       "qos.mapping.default-global.dscp.4.switch-priority: found '8', expected a whole number, 0..7"},
      {"NvueSpeed", kNvueFormat, "speed: 200G", "speed: 123G", "123G",
       "interface.swp1s0.link.speed: found '123G', expected auto, or a speed such as 100G"},
      {"NvueClass", kNvueFormat, "            '3':\n              ecn", "            '9':\n              ecn", "'9'",
       "qos.congestion-control.roce.traffic-class.9: found '9', expected numbers, 0..7"},
  };
  return cases;
}

class BadSwitch : public testing::TestWithParam<BadSwitchCase> {};

TEST_P(BadSwitch, IsOneError) {
  const BadSwitchCase& bad = GetParam();
  SwitchSample config(bad.format);
  config.change(bad.from, bad.to);
  const std::string said = error_of_import([&] { config.imported(); });
  if (bad.at == nullptr)
    EXPECT_THAT(said, HasSubstr(bad.message));
  else
    EXPECT_EQ(said, "leaf:" + std::to_string(config.line_of(bad.at)) + ": " + bad.message);
}

INSTANTIATE_TEST_SUITE_P(All, BadSwitch, testing::ValuesIn(bad_switch_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(BadSwitchFile, WithoutPortsIsOneError) {
  EXPECT_EQ(error_of_import([] { from_eos("hostname x\n", "x.cfg", false); }),
            "x.cfg: found no interface Ethernet, expected one or more, with their speeds");
  EXPECT_EQ(error_of_import([] { from_nxos("feature bgp\n", "x.cfg", false); }),
            "x.cfg: found no interface Ethernet, expected one or more, with their speeds");
  EXPECT_EQ(error_of_import([] { from_eos("interface Ethernet1\n   shutdown\n", "x.cfg", false); }),
            "x.cfg: found no interface Ethernet with a link, expected one or more that is not shut down");
  EXPECT_EQ(error_of_import([] { from_nvue("- set:\n    qos: {}\n", "x.yaml", false); }),
            "x.yaml:1: set: found no interface swp1, swp2, ... with a link, expected one or more");
}

TEST(BadSwitchFile, OfAnotherKindIsOneError) {
  EXPECT_THAT(error_of_import([] { from_nvue("- header: {}\n", "x.yaml", false); }),
              StartsWith("x.yaml:1: found no `set`, expected what `nv config show` prints"));
  EXPECT_THAT(error_of_import([] { from_nvue("name: x\n", "x.yaml", false); }), StartsWith("x.yaml:1: found a map, expected "));
  EXPECT_THAT(error_of_import([] { from_nvue("- set: [\n", "x.yaml", false); }), StartsWith("x.yaml:"));
  EXPECT_EQ(error_of_import([] { from_eos(std::string("a\0b", 3), "x.cfg", false); }),
            "x.cfg: found octets of 0, expected text: a running-config");
}

TEST(BadSwitchFile, TheSystemIsRecognisedByItsCommands) {
  EXPECT_EQ(system_of_running_config(SwitchSample(kEosFormat).text()), ConfigSystem::kEos);
  EXPECT_EQ(system_of_running_config(SwitchSample(kNxosFormat).text()), ConfigSystem::kNxos);
  EXPECT_EQ(system_of_running_config(""), std::nullopt);
  EXPECT_EQ(system_of_running_config("name: x\nnodes: { a: { kind: switch } }\n"), std::nullopt);
  EXPECT_EQ(system_of_running_config(std::string("interface Ethernet1\n\0", 21)), std::nullopt);
}

TEST(BadSwitchFile, ABannerIsNoConfiguration) {
  SwitchSample eos(kEosFormat);
  eos.change("hostname leaf1\n", "banner login\ninterface Ethernet99\n   speed never\nEOF\nhostname leaf1\n");
  EXPECT_EQ(error_of_import([&] { eos.imported(); }), "no error");
  SwitchSample nxos(kNxosFormat);
  nxos.change("feature bgp\n", "banner motd #\ninterface Ethernet1/99\n  speed never\n#\nfeature bgp\n");
  EXPECT_EQ(error_of_import([&] { nxos.imported(); }), "no error");
}

class BrokenSwitch : public testing::TestWithParam<SwitchFormat> {};

// Either it is read or it is one error: nothing else is thrown, and nothing crashes.
TEST_P(BrokenSwitch, NeverCrashes) {
  const std::string text = SwitchSample(GetParam()).text();
  const auto feed = [](const std::string& broken) {
    error_of_import([&] { GetParam().import_text(broken, "x", false); });
  };
  for (std::size_t length = 0; length < text.size(); length += 397) feed(text.substr(0, length));
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string broken = text;
    for (int k = 0; k < 3; ++k) broken[random() % broken.size()] = static_cast<char>(random());
    broken.erase(random() % broken.size(), random() % 50);
    feed(broken);
  }
  feed(std::string(100'000, ' '));
  std::string deep;
  for (std::size_t i = 0; i < 2'000; ++i) deep += std::string(i, ' ') + "a\n";
  feed(deep);
}

INSTANTIATE_TEST_SUITE_P(All, BrokenSwitch, testing::Values(kEosFormat, kNxosFormat, kNvueFormat),
                         [](const auto& info) { return std::string(info.param.sample).substr(0, 3); });

}  // namespace
}  // namespace railyard::importing
