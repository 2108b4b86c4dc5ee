// Headroom of lossless classes: computed from each link, and refused if somebody sets less aside.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/build/built_lab.h"
#include "control/spec/load.h"

namespace railyard::build {
namespace {

using namespace literals;
using testing::HasSubstr;

//   h1:1 --- leaf1:1 (3 m)   leaf1:2 --- spine1:1 (300 m)
spec::Lab lab(const std::string& class3, const std::vector<std::string>& overrides = {}) {
  return spec::parse("name: x\nqos: { default: { classes: { 3: { " + class3 + R"( } } } }
nodes: { leaf1: { kind: switch }, spine1: { kind: switch }, h1: { kind: host } }
links: [[h1:1, leaf1:1, { cable: 3m }], [leaf1:2, spine1:1, { cable: 300m }]]
)",
                     "x.yaml", overrides);
}

std::string error_of(spec::Lab lab) {
  try {
    BuiltLab built(std::move(lab));
  } catch (const spec::SpecError& e) {
    return e.what();
  }
  return "(no error)";
}

TEST(Headroom, OfALossyClassIsNone) { EXPECT_TRUE(BuiltLab(lab("lossless: false")).headrooms().empty()); }

TEST(Headroom, IsThereForEveryPortOfASwitchAndLargerForLongerCables) {
  BuiltLab built(lab("lossless: true"));
  std::map<std::pair<std::string, int>, Bytes> by_port;
  for (const Headroom& h : built.headrooms()) {
    EXPECT_EQ(h.priority, Priority{3});
    EXPECT_EQ(h.configured, h.computed);
    EXPECT_EQ(h.computed.n % 256, 0) << "whole cells";
    by_port[{built.node_of(h.device).name, h.port.value + 1}] = h.computed;
  }
  ASSERT_EQ(by_port.size(), 3u);
  // 297 m more: 2 x 1485 ns at 100 Gb/s are 37,125 octets on the wire, and more in cells.
  const Bytes near = by_port.at({"leaf1", 1});
  EXPECT_GE(by_port.at({"leaf1", 2}), near + 37125_B);
  EXPECT_LE(by_port.at({"leaf1", 2}), near + 4 * 37125_B);
  EXPECT_EQ(by_port.at({"leaf1", 2}), by_port.at({"spine1", 1}));
}

TEST(Headroom, FollowsTheReactionOfThePeer) {
  const auto at_host_port = [](const std::vector<std::string>& overrides) {
    return BuiltLab(lab("lossless: true", overrides)).headrooms()[0].computed;
  };
  EXPECT_GT(at_host_port({"hosts.default.pause-response=10us"}), at_host_port({"hosts.default.pause-response=1us"}));
}

TEST(Headroom, ThatIsTooSmallIsRefusedWithWhatIsNeeded) {
  const Bytes needed = BuiltLab(lab("lossless: true")).headrooms()[0].computed;
  const std::string error = error_of(lab("lossless: true, headroom: " + std::to_string(needed.n - 1) + "B"));
  EXPECT_THAT(error, HasSubstr("x.yaml:3:"));
  EXPECT_THAT(error,
              HasSubstr("switch leaf1 port 1: headroom of lossless class 3 is " + std::to_string(needed.n - 1) + "B"));
  EXPECT_THAT(error, HasSubstr("expected `headroom: auto`, a headroom of at least"));
}

TEST(Headroom, ThatIsTooSmallIsTakenIfLossIsAccepted) {
  BuiltLab built(lab("lossless: true, headroom: 1KiB, accept-loss: true"));
  for (const Headroom& h : built.headrooms()) {
    EXPECT_EQ(h.configured, 1_KiB);
    EXPECT_GT(h.computed, h.configured);
  }
}

TEST(Headroom, ThatIsLargerIsTakenAsItIs) {
  EXPECT_EQ(BuiltLab(lab("lossless: true, headroom: 2MiB")).headrooms()[0].configured, 2048_KiB);
}

TEST(Headroom, IsTakenOutOfTheSharedMemory) {
  BuiltLab built(lab("lossless: true"));
  std::int64_t aside = 0;
  for (const Headroom& h : built.headrooms())
    if (built.node_of(h.device).name == "leaf1") aside += h.configured.n;
  const Mmu& mmu = built.switch_named("leaf1").mmu();
  EXPECT_EQ(mmu.shared_size(), mmu.total() - static_cast<std::uint32_t>(aside / mmu.cell().n));
}

}  // namespace
}  // namespace railyard::build
