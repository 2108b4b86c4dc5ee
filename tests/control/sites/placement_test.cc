// Which site has which node.
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/sites/placement.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::sites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three leaves with two hosts each under `spines` spines.
spec::Lab leaf_spine(const std::string& sites, int spines = 3) {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 3, spines: " + std::to_string(spines) +
                         ", hosts-per-leaf: 2 }\nsites: { " + sites + " }\ntrunks: { delay: 1ms }\n",
                     "x.yaml");
}

std::map<std::string, std::string> by_name(const spec::Lab& lab, const Placement& placement) {
  std::map<std::string, std::string> out;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) out[lab.nodes[n].name] = placement[n];
  return out;
}

std::string refusal(const spec::Lab& lab, const std::vector<std::string>& sites) {
  try {
    place(lab, sites);
  } catch (const spec::SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(Placement, HostsStayWithTheirLeafAndEachSiteGetsALeaf) {
  const spec::Lab lab = leaf_spine("a: { }, b: { }, c: { }");
  const auto at = by_name(lab, place(lab, {"a", "b", "c"}));
  EXPECT_EQ(at.at("h1"), at.at("leaf1"));
  EXPECT_EQ(at.at("h2"), at.at("leaf1"));
  EXPECT_EQ(at.at("h6"), at.at("leaf3"));
  EXPECT_EQ((std::set{at.at("leaf1"), at.at("leaf2"), at.at("leaf3")}.size()), 3u);
  EXPECT_EQ(at, by_name(lab, place(lab, {"a", "b", "c"}))) << "the same again";
}

TEST(Placement, NamedNodesAreWhereTheyAreNamedAndOthersFollowTheirLinks) {
  const spec::Lab lab = leaf_spine("a: { nodes: leaf1 }, b: { nodes: [leaf2, leaf3, \"spine*\"] }");
  const auto at = by_name(lab, place(lab, {"a", "b"}));
  EXPECT_EQ(at.at("h1"), "a");
  EXPECT_EQ(at.at("h2"), "a");
  EXPECT_EQ(at.at("h3"), "b");
  EXPECT_EQ(at.at("spine3"), "b");
  const spec::Lab part = leaf_spine("a: { nodes: leaf1 }, b: { nodes: [leaf2, leaf3] }", 1);
  EXPECT_EQ(by_name(part, place(part, {"a", "b"})).at("spine1"), "b") << "two of its three links lead there";
}

TEST(Placement, ARackStaysWhole) {
  const spec::Lab lab = spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 3, spines: 1, hosts-per-leaf: 1 }\n"
      "nodes: { leaf1: { rack: r1 }, leaf3: { rack: r1 } }\nsites: { a: { nodes: leaf1 }, b: { nodes: leaf2 } }\n",
      "x.yaml");
  const auto at = by_name(lab, place(lab, {"a", "b"}));
  EXPECT_EQ(at.at("leaf3"), "a");
  EXPECT_EQ(at.at("h3"), "a");
}

TEST(Placement, WhatCannotBeIsRefused) {
  EXPECT_THAT(refusal(leaf_spine("a: { nodes: h1 }, b: { nodes: leaf1 }"), {"a", "b"}),
              AllOf(HasSubstr("h1 is at site a and leaf1 at site b"), HasSubstr("hosts stay with their switches")));
  EXPECT_THAT(refusal(leaf_spine("a: { }"), {"a", "d"}), HasSubstr("there is no site 'd'"));
  EXPECT_THAT(refusal(leaf_spine("a: { }, b: { }"), {"a", "b", "a"}), HasSubstr("site 'a' is chosen twice"));
  EXPECT_THAT(refusal(leaf_spine("a: { nodes: \"*\" }, b: { }"), {"a", "b"}), HasSubstr("no node is left for site b"));
  const spec::Lab one_switch = spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\nsites: { a: { }, b: { } }\n", "x.yaml");
  EXPECT_THAT(refusal(one_switch, {"a", "b"}), HasSubstr("1 parts that can be at different sites, and 2 sites are chosen"));
}

TEST(Placement, WrittenIntoTheLabItIsFoundAgain) {
  const spec::Lab lab = leaf_spine("a: { }, b: { }, c: { }");
  const Placement first = place(lab, {"a", "c"});
  const spec::Lab written = with_placement(lab, first);
  EXPECT_EQ(written.sites.size(), 2u);
  EXPECT_EQ(place(written, {"a", "c"}), first);
}

}  // namespace
}  // namespace railyard::sites
