#include "tests/rules/include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::rules {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The violations of one file that includes `header`, written with its quotes.
std::vector<std::string> including(const std::string& path, const std::string& header) {
  return include_violations({{path, "#pragma once\n#include " + header + "\n"}});
}

TEST(IncludeRules, HoldInTheWholeProject) {
  const auto sources = read_sources({"dataplane", "transports", "control", "tools"});
  ASSERT_GT(sources.size(), 150u) << "where have the sources gone?";
  EXPECT_THAT(include_violations(sources), IsEmpty());
}

TEST(IncludeRules, BaseIncludesNothingOfOurs) {
  EXPECT_THAT(
      including("dataplane/base/x.h", "\"dataplane/wire/bth.h\""),
      ElementsAre(
          "dataplane/base/x.h:2: dataplane/base must not include dataplane/wire/bth.h; it may use nothing of ours"));
  EXPECT_THAT(including("dataplane/base/x.h", "\"dataplane/base/time.h\""), IsEmpty());
}

TEST(IncludeRules, WireUsesBaseOnly) {
  EXPECT_THAT(including("dataplane/wire/x.cc", "\"dataplane/packet/packet.h\"").size(), 1u);
  EXPECT_THAT(including("dataplane/wire/x.cc", "\"dataplane/base/time.h\""), IsEmpty());
}

TEST(IncludeRules, DevicesDoNotKnowEachOther) {
  for (const char* room : {"switch", "nic", "capture", "run", "device", "packet"})
    for (const char* other : {"switch", "nic", "capture", "run", "port"}) {
      if (std::string(room) == other) continue;
      EXPECT_EQ(
          including("dataplane/" + std::string(room) + "/x.cc", "\"dataplane/" + std::string(other) + "/y.h\"").size(),
          1u)
          << room << " " << other;
    }
}

TEST(IncludeRules, TheDataplaneDoesNotKnowWhoControlsIt) {
  for (const char* room : {"base", "wire", "packet", "device", "switch", "nic", "port", "capture", "run"})
    for (const char* header :
         {"\"control/spec/spec.h\"", "\"tools/railyard/commands.h\"", "\"tests/support/frames.h\""})
      EXPECT_EQ(including("dataplane/" + std::string(room) + "/x.h", header).size(), 1u) << room << " " << header;
}

TEST(IncludeRules, TheSpecDoesWithoutDpdkAndWithoutPackets) {
  EXPECT_THAT(
      including("control/spec/keys/x.cc", "<rte_mbuf.h>"),
      ElementsAre("control/spec/keys/x.cc:2: control/spec must not include <rte_mbuf.h>: it does without DPDK"));
  EXPECT_EQ(including("control/spec/x.cc", "\"dataplane/packet/packet.h\"").size(), 1u);
  EXPECT_EQ(including("control/spec/x.cc", "\"control/build/built_lab.h\"").size(), 1u);
}

TEST(IncludeRules, TransportsDoWithoutDpdkAndDevices) {
  for (const char* room : {"base", "roce"}) {
    const std::string file = "transports/" + std::string(room) + "/x.cc";
    EXPECT_THAT(including(file, "\"dataplane/base/endpoint.h\""), IsEmpty());
    for (const char* header : {"\"dataplane/packet/packet.h\"", "\"dataplane/nic/host.h\"", "\"dataplane/port/seal.h\"",
                               "\"control/spec/spec.h\"", "<rte_mbuf.h>"})
      EXPECT_EQ(including(file, header).size(), 1u) << room << " " << header;
  }
  EXPECT_EQ(including("dataplane/wire/x.cc", "\"transports/roce/wire/opcode.h\"").size(), 1u) << "the other way round";
}

TEST(IncludeRules, SpellingDoesNotHideAnInclude) {
  EXPECT_EQ(include_violations({{"dataplane/base/x.h", "  #  include   \"control/spec/spec.h\"  // why not"}}).size(),
            1u);
  EXPECT_THAT(include_violations({{"dataplane/base/x.h", "// #include \"control/spec/spec.h\""}}), IsEmpty());
}

TEST(IncludeRules, ANewRoomHasToSayWhatItUses) {
  EXPECT_THAT(
      include_violations({{"dataplane/nowhere/x.h", ""}}),
      ElementsAre("dataplane/nowhere/x.h: the room dataplane/nowhere is new; say in tests/rules/include_rules.cc what "
                  "it may include"));
}

}  // namespace
}  // namespace railyard::rules
