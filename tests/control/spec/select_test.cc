#include "control/spec/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Matches, StarIsAnyTextAndQuestionMarkAnyCharacter) {
  EXPECT_TRUE(matches("h1", "h1"));
  EXPECT_FALSE(matches("h1", "h11"));
  EXPECT_TRUE(matches("h*", "h"));
  EXPECT_TRUE(matches("h*", "h128"));
  EXPECT_TRUE(matches("h?", "h1"));
  EXPECT_FALSE(matches("h?", "h"));
  EXPECT_FALSE(matches("h?", "h12"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*-r1-*", "leaf-r1-g2"));
  EXPECT_TRUE(matches("a*b*c", "abbbcbc"));
  EXPECT_FALSE(matches("a*b*c", "abbb"));
  EXPECT_TRUE(matches("**", "x"));
  EXPECT_FALSE(matches("", "x"));
}

// h1 and h2 have two NICs; h3 is attached; h4 has one NIC.
Lab lab() {
  return parse(R"(
name: lab
nodes:
  s: { kind: switch }
  h1: { kind: host, nics: 2 }
  h2: { kind: host, nics: 2 }
  h3: { kind: host, attach: { pcap: { out: x.pcap } } }
  h4: { kind: host }
links: [[h1:1, s:1], [h1:2, s:2], [h2:1, s:3], [h2:2, s:4], [h3:1, s:5], [h4:1, s:6]]
)",
               "lab");
}

std::vector<PortName> from(std::vector<std::string> selectors) {
  TrafficSpec traffic;
  traffic.from = std::move(selectors);
  return senders(lab(), traffic);
}
std::vector<PortName> to(std::vector<std::string> selectors) {
  TrafficSpec traffic;
  traffic.to = std::move(selectors);
  return receivers(lab(), traffic);
}

const PortName h11{"h1", 1}, h12{"h1", 2}, h21{"h2", 1}, h22{"h2", 2}, h31{"h3", 1}, h41{"h4", 1};

TEST(Select, AHostIsAllItsNics) { EXPECT_THAT(from({"h1"}), ElementsAre(h11, h12)); }
TEST(Select, OrOneOfThem) { EXPECT_THAT(from({"h1:2"}), ElementsAre(h12)); }
TEST(Select, APatternIsInTheOrderOfNodes) { EXPECT_THAT(from({"*"}), ElementsAre(h11, h12, h21, h22, h41)); }
TEST(Select, APatternOfPorts) { EXPECT_THAT(from({"h*:2"}), ElementsAre(h12, h22)); }
TEST(Select, SelectorsAreInTheirOrderAndEachNicOnce) {
  EXPECT_THAT(from({"h2:2", "h?:2", "h1"}), ElementsAre(h22, h12, h11));
}
TEST(Select, SwitchesAreNoHosts) { EXPECT_THAT(from({"s"}), IsEmpty()); }
TEST(Select, AttachedHostsNeverSend) { EXPECT_THAT(from({"h3"}), IsEmpty()); }
TEST(Select, AttachedHostsReceiveWhenNamed) {
  EXPECT_THAT(to({"h3"}), ElementsAre(h31));
  EXPECT_THAT(to({"h3:1"}), ElementsAre(h31));
  EXPECT_THAT(to({"h3", "h4"}), ElementsAre(h31, h41));
  EXPECT_THAT(to({"*"}), ElementsAre(h11, h12, h21, h22, h41));
}

}  // namespace
}  // namespace railyard::spec
