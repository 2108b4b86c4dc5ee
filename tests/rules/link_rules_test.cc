// What a room links, with all that is behind it.
#include <sstream>
#include <string>
#include <vector>

#include "links.h"  // made by CMake from the targets themselves

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::rules {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::Not;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

TEST(LinkRules, TheSpecLinksNoDpdk) {
  const auto libraries = split(RAILYARD_SPEC_LINKS);
  EXPECT_THAT(libraries, Contains("railyard_wire"));  // the list is complete
  EXPECT_THAT(libraries, Contains("railyard_base"));
  EXPECT_THAT(libraries, Each(Not(ContainsRegex("DPDK|dpdk|rte_"))));
}

TEST(LinkRules, TransportsLinkNoDpdk) {
  const auto libraries = split(RAILYARD_ROCE_LINKS);
  EXPECT_THAT(libraries, Contains("railyard_wire"));
  EXPECT_THAT(libraries, Each(Not(ContainsRegex("DPDK|dpdk|rte_"))));
}

TEST(LinkRules, ARoomThatDoesLinkItIsFound) {
  EXPECT_THAT(split(RAILYARD_PACKET_LINKS), Contains(ContainsRegex("DPDK|dpdk|rte_")));
  EXPECT_THAT(split(RAILYARD_SWITCH_LINKS), Contains(ContainsRegex("DPDK|dpdk|rte_"))) << "two rooms further";
}

}  // namespace
}  // namespace railyard::rules
