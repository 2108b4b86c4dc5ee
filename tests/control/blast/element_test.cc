#include "control/blast/element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::blast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> names(const std::vector<Element>& all) {
  std::vector<std::string> out;
  for (const Element& e : all) out.push_back(e.name);
  return out;
}

// Two hosts, each with a NIC on either leaf.
const spec::Lab& two_rails() {
  static const spec::Lab lab = spec::parse(
      "name: rails\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\n", "rails.yaml");
  return lab;
}

TEST(Element, EachKindHasItsParts) {
  EXPECT_THAT(names(elements(two_rails(), {Kind::kLink})), ElementsAre("leaf-r1:3-spine1:1", "leaf-r2:3-spine1:2"));
  EXPECT_THAT(names(elements(two_rails(), {Kind::kNic})), ElementsAre("h1:1", "h1:2", "h2:1", "h2:2"));
  EXPECT_THAT(names(elements(two_rails(), {Kind::kSwitch})), ElementsAre("leaf-r1", "leaf-r2", "spine1"));
  EXPECT_THAT(names(elements(two_rails(), {Kind::kRail})), ElementsAre("rail 1", "rail 2"));
  EXPECT_THAT(names(elements(two_rails(), {Kind::kPort})),
              ElementsAre("leaf-r1:3 out", "spine1:1 out", "leaf-r2:3 out", "spine1:2 out"));
}

TEST(Element, ASwitchTakesItsLinksAlong) {
  const std::vector<Element> all = elements(two_rails(), {Kind::kSwitch});
  EXPECT_THAT(all[0].links, SizeIs(3)) << "two NICs and a spine";
  EXPECT_THAT(all[2].links, SizeIs(2));
}

// One leaf serves both NICs of its hosts.
TEST(Element, WithoutRailsNoRailFails) {
  const spec::Lab lab = spec::parse(
      "name: one\nnodes:\n  h1: { kind: host, nics: 2 }\n  s1: { kind: switch }\n"
      "links: [[h1:1, s1:1], [h1:2, s1:2]]\n",
      "one.yaml");
  EXPECT_THAT(elements(lab, {Kind::kRail}), IsEmpty());
}

// Four hosts at two leaves, a rack for each leaf; two hosts of one rack are of no concern to those of the other.
TEST(Element, ARackTakesItsSwitchesAndHostsAlong) {
  const spec::Lab lab = spec::parse(
      "name: ls\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n", "ls.yaml");
  const std::vector<Element> all = elements(lab, {Kind::kRack});
  ASSERT_THAT(names(all), ElementsAre("rack1", "rack2"));
  EXPECT_THAT(all[0].faults, ElementsAre("on: \"leaf1\", crash: true"));
  EXPECT_THAT(all[0].links, SizeIs(3)) << "two hosts and a spine";
  EXPECT_THAT(all[0].hosts, ElementsAre("h1", "h2"));
  EXPECT_FALSE(divides(lab, all[0]));
}

// A rack without the leaf of its hosts, and one with it.
TEST(Element, HostsOfARackLoseTheirLinks) {
  const spec::Lab lab = spec::parse(
      "name: ls\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3, hosts-per-rack: 2 }\n", "ls.yaml");
  const std::vector<Element> all = elements(lab, {Kind::kRack});
  ASSERT_THAT(names(all), ElementsAre("rack1", "rack2"));
  EXPECT_THAT(all[1].faults, ElementsAre("on: \"h3:1\", down: true"));
  EXPECT_FALSE(divides(lab, all[1]));
  EXPECT_FALSE(divides(lab, all[0])) << "one host is left";
}

TEST(Element, PairsAreEachTwo) {
  const std::vector<Element> all = pairs(two_rails(), elements(two_rails(), {Kind::kSwitch}));
  EXPECT_THAT(names(all), ElementsAre("leaf-r1 + leaf-r2", "leaf-r1 + spine1", "leaf-r2 + spine1"));
  EXPECT_THAT(all[0].faults, SizeIs(2));
}

// What becomes of it is what a fabric file understands.
TEST(Element, FaultsAreThoseOfAFile) {
  for (const Kind kind : {Kind::kLink, Kind::kNic, Kind::kSwitch, Kind::kRail, Kind::kRack, Kind::kPort}) {
    for (const Element& e : elements(two_rails(), {kind})) {
      spec::Lab lab = two_rails();
      for (const std::string& text : faults_of(e, Duration{2'000'000'000}, Duration{1'000'000'000})) {
        lab.faults.push_back(spec::parse_fault(lab, text, "fault"));
        EXPECT_EQ(lab.faults.back().at, Duration{2'000'000'000});
        EXPECT_EQ(lab.faults.back().lasts, Duration{1'000'000'000});
      }
    }
  }
}

TEST(Element, UnderMaintenanceASwitchIsDrainedBeforeItIsOff) {
  const std::vector<Element> all = elements(two_rails(), {Kind::kMaintenance});
  EXPECT_THAT(names(all), ElementsAre("leaf-r1", "leaf-r2", "spine1"));
  EXPECT_THAT(faults_of(all[2], Duration{8'000}, Duration{4'000}),
              ElementsAre("name: blast-1, on: \"spine1\", drain: true, at: 8000ps, for: 4000ps",
                          "name: blast-2, on: \"spine1\", crash: true, at: 10000ps, for: 1000ps"));
}

// By the topology alone. Hosts with a NIC on each of two rails reach each other over the other one.
TEST(Element, WhatDividesTheHosts) {
  for (const Element& e : elements(two_rails(), {Kind::kLink, Kind::kNic, Kind::kSwitch, Kind::kRail}))
    EXPECT_FALSE(divides(two_rails(), e)) << e.name;
  EXPECT_TRUE(divides(two_rails(), pairs(two_rails(), elements(two_rails(), {Kind::kRail}))[0])) << "both rails";
  const spec::Lab lab =
      spec::parse("name: ls\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n", "ls.yaml");
  for (const Element& e : elements(lab, {Kind::kLink, Kind::kNic, Kind::kSwitch}))
    EXPECT_EQ(divides(lab, e), e.kind == Kind::kNic || e.name.starts_with("leaf") != (e.kind == Kind::kLink)) << e.name;
  // Only the spines do not: and both of them do.
  const std::vector<Element> both = pairs(lab, elements(lab, {Kind::kSwitch}));
  ASSERT_THAT(names(both), ElementsAre("spine1 + spine2"));
  EXPECT_TRUE(divides(lab, both[0]));
}

TEST(Element, AnUnknownKindIsNamed) { EXPECT_THROW(parse_kind("cable"), std::invalid_argument); }

}  // namespace
}  // namespace railyard::blast
