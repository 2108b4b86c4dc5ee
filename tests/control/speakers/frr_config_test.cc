// What FRR is told (control/speakers/frr_config.h).
#include "control/speakers/frr_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/speakers/speaker.h"
#include "control/spec/load.h"

namespace railyard::speakers {
namespace {

using testing::HasSubstr;
using testing::Not;

spec::Lab lab(const std::string& more = "") {
  return spec::parse(
      "name: f\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
      "switches: { leaf*: { control: frr } }\n" +
          more,
      "x.yaml");
}

TEST(Speakers, AreTheSwitchesWithAControl) {
  const std::vector<Speaker> all = speakers_of(lab());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "leaf1");
  ASSERT_EQ(all[0].ports.size(), 3u);
  EXPECT_FALSE(all[0].ports[0].to_switch);
  EXPECT_EQ(all[0].ports[0].hosts.size(), 2u);  // IPv4 and IPv6
  EXPECT_TRUE(all[0].ports[1].to_switch);
  EXPECT_EQ(all[0].ports[1].peer, (spec::PortName{"spine1", 1}));
  EXPECT_NE(all[0].as, all[1].as);
}

TEST(FrrConfig, HasASessionForEachSwitchAndARouteForEachHost) {
  const spec::Lab f = lab();
  const Speaker leaf = speakers_of(f)[0];
  const std::string text = frr_config(leaf, f.routing);
  const std::string loopback = to_string(*leaf.loopback_v4);
  EXPECT_THAT(text, HasSubstr("hostname leaf1\n"));
  EXPECT_THAT(text, HasSubstr("interface swp2\n description spine1:1\nexit\n"));
  EXPECT_THAT(text, HasSubstr("ip route " + to_string(leaf.ports[0].hosts[0]) + "/32 swp1\n"));
  EXPECT_THAT(text, HasSubstr("router bgp " + std::to_string(leaf.as) + "\n bgp router-id " + loopback + "\n"));
  for (const char* port : {"swp2", "swp3"}) {
    EXPECT_THAT(text, HasSubstr(std::string(" neighbor ") + port + " interface remote-as external\n"));
    EXPECT_THAT(text, HasSubstr(std::string(" neighbor ") + port + " bfd\n"));
    EXPECT_THAT(text, HasSubstr(std::string("  neighbor ") + port + " activate\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("neighbor swp1")));
  EXPECT_THAT(text, HasSubstr("  network " + loopback + "/32\n"));
}

// In whole milliseconds, and not below what bfdd takes.
TEST(FrrConfig, BfdIsThatOfTheLab) {
  const auto text = [](const std::string& bfd) {
    const spec::Lab f = lab("routing: { bfd: { " + bfd + " } }\nrun: { duration: 1ms }\n");
    return frr_config(speakers_of(f)[0], f.routing);
  };
  EXPECT_THAT(text("interval: 50ms, multiplier: 4"), HasSubstr(" neighbor swp2 bfd 4 50 50\n"));
  EXPECT_THAT(text("interval: 1500us"), HasSubstr(" neighbor swp2 bfd 3 10 10\n"));
  EXPECT_THAT(text("interval: 20500us"), HasSubstr(" neighbor swp2 bfd 3 21 21\n"));
}

}  // namespace
}  // namespace railyard::speakers
