// Buffers that no frame fits into, and packets that do not fit into memory.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Memory, AQueueThatIsSmallerThanAFrameIsAnError) {
  const std::string qos = "qos: { default: { classes: { 1: { queue-limit: 3KB } } } }\n";
  const std::string topology = "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n";
  const auto found = findings_in(qos + topology + "traffic: [ { name: t, from: h1, to: h2, dscp: 8 } ]\n");
  ASSERT_THAT(rules_of(found), ElementsAre("limit-below-frame"));
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].path, "qos.default.classes.1.queue-limit");
  EXPECT_THAT(found[0].text, HasSubstr("The queue limit is 3 KB, less than a frame of t (4.14 KB or more)"));
  // 1 KB frames fit.
  EXPECT_THAT(findings_in(qos + topology + "traffic: [ { name: t, from: h1, to: h2, dscp: 8, payload: 1000B } ]\n"),
              IsEmpty());
}

// 1/256 of 64 KiB is less than a frame of 4 KiB.
TEST(Memory, ADynamicLimitBelowAFrameIsAnError) {
  const auto found = findings_in(
      "qos: { default: { classes: { 1: { queue-alpha: 1/256 } } } }\nswitches: { default: { buffer: 64KiB } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "traffic: [ { name: t, from: h1, to: h2, dscp: 8 } ]\n");
  ASSERT_THAT(rules_of(found), Contains("limit-below-frame"));
  const auto first = std::ranges::find(found, "limit-below-frame", &Finding::rule);
  EXPECT_EQ(first->path, "qos.default.classes.1.queue-alpha");
  EXPECT_THAT(first->text, HasSubstr("The queue limit of class 1 at leaf1 is"));
}

TEST(Memory, AnXoffThresholdBelowAFrameIsAnError) {
  EXPECT_THAT(rules_of(findings_in(
                  pair_lab("", "qos: { default: { classes: { 3: { lossless: true, xoff: 2KB, xon-offset: 1KB } } } }\n"))),
              Contains("limit-below-frame"));
}

// Two ports: 32 MiB are 131,072 cells of 256 bytes; a frame of 1,062 bytes takes five of them, and 512 bytes of memory.
TEST(Memory, MorePacketsThanMemoryIsAllowedAreFound) {
  const std::string lab = pair_lab(", path-mtu: 1024");
  EXPECT_THAT(findings_in(lab, {"run.memory=16MiB"}), IsEmpty());
  const auto found = findings_in(lab, {"run.memory=8MiB"});
  ASSERT_THAT(rules_of(found), ElementsAre("packet-memory"));
  EXPECT_EQ(found[0].path, "run.memory");
  EXPECT_THAT(found[0].text, HasSubstr("packets of 1086 bytes), but run.memory allows 8.39 MB"));
}

}  // namespace
}  // namespace railyard::lint
