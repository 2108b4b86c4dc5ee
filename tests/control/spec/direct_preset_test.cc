// Presets of switches that are linked to each other: their structure, and what they set of routing and classes.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

const std::string kLossy = "qos: { default: { classes: { 3: {} } } }\n";
const std::string kLossless = "qos: { default: { classes: { 3: { lossless: true } } } }\n";

Lab topology(const std::string& keys, const std::string& more = kLossy) {
  return parse("name: x\n" + more + "topology: { preset: " + keys + " }\n", "x.yaml");
}
std::string topology_error(const std::string& keys, const std::string& more = kLossy) {
  return error_of("name: x\n" + more + "topology: { preset: " + keys + " }\n");
}

struct Shape {
  std::size_t switches = 0;
  std::size_t hosts = 0;
  std::size_t fabric_links = 0;
  std::set<int> degrees;  // links to other switches, of a switch
  int farthest = 0;       // in links between switches, from a switch with hosts to another
};

Shape shape(const Lab& lab) {
  Shape s;
  std::map<std::string, std::set<std::string>> next;
  std::map<std::string, int> degree;
  std::set<std::string> with_hosts;
  for (const NodeSpec& n : lab.nodes) {
    const bool is_switch = n.kind == NodeSpec::Kind::kSwitch;
    (is_switch ? s.switches : s.hosts) += 1;
    if (is_switch) degree[n.name] = 0;
  }
  for (const LinkSpec& l : lab.links) {
    const bool a = degree.contains(l.a.node);
    const bool b = degree.contains(l.b.node);
    if (a != b) with_hosts.insert(a ? l.a.node : l.b.node);
    if (!a || !b) continue;
    ++s.fabric_links;
    ++degree[l.a.node];
    ++degree[l.b.node];
    next[l.a.node].insert(l.b.node);
    next[l.b.node].insert(l.a.node);
  }
  for (const auto& [name, d] : degree) s.degrees.insert(d);
  for (const std::string& from : with_hosts) {
    std::map<std::string, int> hops{{from, 0}};
    std::vector<std::string> todo{from};
    for (std::size_t i = 0; i < todo.size(); ++i)
      for (const std::string& to : next[std::string(todo[i])])
        if (hops.try_emplace(to, hops[todo[i]] + 1).second) todo.push_back(to);
    for (const std::string& to : with_hosts) {
      EXPECT_TRUE(hops.contains(to)) << from << " does not reach " << to;
      s.farthest = std::max(s.farthest, hops[to]);
    }
  }
  return s;
}

void expect_shape(const std::string& keys, const Shape& expected) {
  SCOPED_TRACE(keys);
  const Shape s = shape(topology(keys));
  EXPECT_EQ(s.switches, expected.switches);
  EXPECT_EQ(s.hosts, expected.hosts);
  EXPECT_EQ(s.fabric_links, expected.fabric_links);
  EXPECT_EQ(s.degrees, expected.degrees);
  EXPECT_EQ(s.farthest, expected.farthest);
}

TEST(DirectPresets, HaveTheStructureOfTheirDesigns) {
  expect_shape("ring, switches: 6, hosts-per-switch: 2", {6, 12, 6, {2}, 3});
  expect_shape("ring, switches: 2", {2, 2, 1, {1}, 1});
  expect_shape("torus, size: [5, 5]", {25, 25, 50, {4}, 4});
  expect_shape("torus, size: [4, 3, 2], hosts-per-switch: 2", {24, 48, 24 + 24 + 12, {5}, 4});
  expect_shape("full-mesh, switches: 5, hosts-per-switch: 3", {5, 15, 10, {4}, 1});
  expect_shape("flattened-butterfly, size: [4, 4], hosts-per-switch: 4", {16, 64, 48, {6}, 2});
  expect_shape("tree, levels: 3, branches: 3, hosts-per-leaf: 2", {13, 18, 12, {1, 3, 4}, 4});
  // Balanced: a = 2p = 2h, a h + 1 groups; a - 1 + h links of each switch; any two within three hops.
  expect_shape("dragonfly", {36, 72, 9 * 6 + 9 * 8 / 2, {5}, 3});
  expect_shape("dragonfly, p: 1", {6, 6, 3 + 3, {2}, 3});
  expect_shape("dragonfly, p: 2, a: 4, h: 2, groups: 3", {12, 24, 3 * 6 + 3 * 4, {5}, 2});  // each leads to both
  expect_shape("dragonfly-plus, leaves-per-group: 2, groups: 5", {20, 20, 20 + 10, {2, 4}, 3});
  // Two links from each leaf to each spine instead of one.
  expect_shape("dragonfly-plus, leaves-per-group: 2, uplinks-per-spine: 2, groups: 5", {20, 20, 40 + 10, {4, 6}, 3});
}

// In the figures of the first dragonfly: 9 groups, one link between any two.
TEST(Dragonfly, HasOneLinkBetweenAnyTwoGroups) {
  const Lab lab = topology("dragonfly");
  std::map<std::pair<int, int>, int> links;
  for (const LinkSpec& l : lab.links) {
    const NodeSpec& a = *lab.find(l.a.node);
    const NodeSpec& b = *lab.find(l.b.node);
    if (a.at.empty() || b.at.empty() || a.at[0] == b.at[0]) continue;
    ++links[std::minmax(a.at[0], b.at[0])];
  }
  EXPECT_EQ(links.size(), 36u);
  for (const auto& [pair, n] : links) EXPECT_EQ(n, 1) << pair.first << " " << pair.second;
}

TEST(Torus, NumbersSwitchesAndPortsByDimension) {
  const Lab lab = topology("torus, size: [3, 2], hosts-per-switch: 2");
  EXPECT_EQ(lab.find("s1")->at, (std::vector{0, 0}));
  EXPECT_EQ(lab.find("s3")->at, (std::vector{2, 0}));
  EXPECT_EQ(lab.find("s4")->at, (std::vector{0, 1}));
  const auto is_linked = [&](const PortName& a, const PortName& b) {
    return std::ranges::any_of(lab.links, [&](const LinkSpec& l) { return l.a == a && l.b == b; });
  };
  EXPECT_TRUE(is_linked({"s1", 3}, {"s2", 4}));
  EXPECT_TRUE(is_linked({"s3", 3}, {"s1", 4})) << "the link that closes the row";
  EXPECT_TRUE(is_linked({"s1", 5}, {"s4", 5})) << "two in a column have one link";
}

TEST(DirectPresets, SayWhichPathsArePreferred) {
  EXPECT_EQ(topology("torus, size: [3, 3]").routing.order, PathOrder::kDimensions);
  EXPECT_EQ(topology("flattened-butterfly, size: [3, 3]").routing.order, PathOrder::kDimensions);
  EXPECT_EQ(topology("dragonfly").routing.order, PathOrder::kGroups);
  EXPECT_EQ(topology("ring, switches: 5").routing.order, std::nullopt);
  EXPECT_EQ(topology("torus, size: [3, 3]", kLossy + "routing: { order: any }\n").routing.order, PathOrder::kAny)
      << "the file has the last word";
}

TEST(DirectPresets, AreTheSameWhenTheirExpandedFormIsRead) {
  for (const char* keys :
       {"torus, size: [4, 4]", "torus, size: [3, 3, 3]", "ring, switches: 5", "tree, levels: 3", "full-mesh, switches: 4",
        "flattened-butterfly, size: [3, 3]", "dragonfly", "dragonfly-plus, leaves-per-group: 2"})
    for (const std::string& qos : {kLossy, kLossless}) {
      const Lab lab = topology(keys, qos);
      EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << keys;
    }
}

// Class 3 -> 4 -> 5 and from there, where only what hosts sent in class 5 comes to, to a lossy class.
TEST(Torus, ChangesLosslessClassesAtDateLines) {
  const Lab lab = topology("torus, size: [4, 4]", kLossless);
  const QosProfile& qos = lab.qos.at("default");
  EXPECT_EQ(qos.classes[4], qos.classes[3]);
  EXPECT_EQ(qos.classes[5], qos.classes[3]);
  EXPECT_FALSE(qos.classes[6].lossless);
  const auto to = [&](const char* node, int port, int c) { return lab.find(node)->ports.at(port).classes.at(c).remap_to; };
  EXPECT_EQ(to("s4", 2, 3), 4) << "along the row, to s1";
  EXPECT_EQ(to("s1", 3, 3), 4) << "and back";
  EXPECT_EQ(to("s13", 4, 4), 5) << "along the column";
  EXPECT_EQ(to("s13", 4, 5), 0);
  EXPECT_TRUE(lab.find("s6")->ports.empty()) << "no date line";
  EXPECT_TRUE(topology("torus, size: [4, 4]").find("s4")->ports.empty()) << "nothing lossless";
  EXPECT_TRUE(topology("torus, size: [4, 4], date-lines: false", kLossless).find("s4")->ports.empty());
}

TEST(Torus, TakesClassesWithoutSettings) {
  const Lab lab = topology("torus, size: [4, 4]", "");  // classes 5 and 6 are strict in the built-in profile
  const auto& classes = lab.find("s4")->ports.at(2).classes;
  EXPECT_EQ(classes.at(3).remap_to, 4);
  EXPECT_EQ(classes.at(4).remap_to, 7);
  EXPECT_TRUE(lab.qos.at("default").classes[5].strict);
}

TEST(Dragonfly, ChangesClassesBetweenGroups) {
  const Lab minimal = topology("dragonfly, p: 1", kLossless);
  const auto& global = minimal.find("s1")->ports.at(3).classes;
  EXPECT_EQ(global.at(3).remap_to, 4);
  EXPECT_EQ(global.at(4).remap_to, 0);
  EXPECT_FALSE(minimal.find("s1")->ports.contains(2)) << "within the group";
  const Lab valiant = topology("dragonfly, p: 1", "qos: { default: { classes: { 3: { lossless: true, path: valiant } } } }\n");
  EXPECT_EQ(valiant.find("s1")->ports.at(3).classes.at(4).remap_to, 5) << "two hops between groups";
}

TEST(DirectPresets, SayWhatIsWrong) {
  EXPECT_EQ(topology_error("torus"), "x.yaml:3:11: topology: key 'size' is missing: switches along each dimension: [4, 4] or [4, 4, 4]");
  EXPECT_EQ(topology_error("torus, size: [4, 1]"), "x.yaml:3:38: topology.size.1: 1 is out of range; expected 2..4096");
  EXPECT_EQ(topology_error("torus, size: []"), "x.yaml:3:34: topology.size: found 0 sizes; expected 1..8, such as [4, 4]");
  EXPECT_THAT(topology_error("torus, size: [100, 100]"), HasSubstr("10000 switches; expected at most 4096"));
  EXPECT_THAT(topology_error("ring, switches: 1"), HasSubstr("1 is out of range; expected 2..4096"));
  EXPECT_THAT(topology_error("dragonfly, p: 2, groups: 10"),
              HasSubstr("topology.groups: 10 groups, but 4 switches with 2 links to other groups reach 8; expected 2..9"));
  EXPECT_THAT(topology_error("dragonfly, p: 100"), HasSubstr("switches; expected at most 4096"));
  EXPECT_THAT(topology_error("dragonfly-plus, leaves-per-group: 2, groups: 6"), HasSubstr("expected 2..5"));
  EXPECT_THAT(topology_error("tree, levels: 12, branches: 9"), HasSubstr("6561 or more leaves; expected at most 4096"));
  EXPECT_THAT(topology_error("torus, size: [4, 4, 4]",
                             "qos: { default: { classes: { 1: { strict: true }, 2: { strict: true }, 3: { lossless: true }, "
                             "4: { strict: true }, 5: { strict: true }, 6: { strict: true } } } }\n"),
              HasSubstr("topology: lossless class 3 needs 3 more classes, one for each class change on a path, but 1 of them "
                        "has no settings and a DSCP (or PCP) of its own; expected room in the QoS profile, or date-lines: "
                        "false"));
}

// Hand-written fabrics may use the same.
TEST(PathOrder, NeedsCoordinatesThatFitTheLinks) {
  const auto pair = [](const std::string& a, const std::string& b, const std::string& order) {
    return error_of("name: x\nrouting: { order: " + order + " }\nnodes: { a: { kind: switch" + a + " }, b: { kind: switch" +
                    b + " } }\nlinks: [[a:1, b:1]]\n");
  };
  EXPECT_EQ(pair(", at: [0, 0]", ", at: [1, 0]", "dimensions"), "(no error)");
  EXPECT_THAT(pair(", at: [0, 0]", ", at: [1, 1]", "dimensions"),
              HasSubstr("a is at [0, 0] and b at [1, 1]; with routing order: dimensions, expected switches that differ in "
                        "exactly one coordinate"));
  EXPECT_THAT(pair(", at: [0, 0]", ", at: [1]", "dimensions"), HasSubstr("expected switches that differ"));
  EXPECT_THAT(pair("", ", at: [1]", "groups"),
              HasSubstr("a has no coordinates, which routing order: groups needs; expected at: [...] at the switch"));
  EXPECT_EQ(pair(", at: [0]", ", at: [1, 5]", "groups"), "(no error)");
  EXPECT_THAT(pair(", at: []", ", at: [1]", "groups"), HasSubstr("found 0 numbers; expected 1..8"));
}

}  // namespace
}  // namespace railyard::spec
