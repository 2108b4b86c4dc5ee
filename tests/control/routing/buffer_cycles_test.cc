// Which fabrics can deadlock, and where.
#include "control/routing/buffer_cycles.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// "s1 3": the switches that hold frames, and the classes.
std::set<std::string> cycle_in(const std::string& yaml) {
  const spec::Lab lab = spec::parse("name: x\n" + yaml, "x.yaml");
  const Graph graph(lab);
  std::set<std::string> out;
  std::size_t last = 0;
  const std::vector<WaitingBuffer> circle = buffer_cycle(graph, shortest_paths(graph));
  for (const WaitingBuffer& b : circle) {
    out.insert(fmt::format("{} {}", lab.nodes[b.at].name, b.priority));
    // Each is at the other end of the link by which the one before sends.
    if (&b != &circle.front()) EXPECT_EQ(b.from, last);
    last = b.at;
  }
  if (!circle.empty()) EXPECT_EQ(circle.front().from, last);
  return out;
}

// A host at each of `n` switches in a ring.
std::string ring(int n, const std::string& more = "") {
  std::string nodes = "nodes:\n";
  std::string links = "links:\n";
  for (int i = 1; i <= n; ++i) {
    nodes += fmt::format("  s{0}: {{ kind: switch{1} }}\n  h{0}: {{ kind: host }}\n", i, i == 1 ? more : "");
    links += fmt::format("  - [s{}:1, s{}:2]\n  - [h{}:1, s{}:3]\n", i, i % n + 1, i, i);
  }
  return nodes + links;
}

TEST(BufferCycle, UpAndDownHasNone) {
  EXPECT_THAT(cycle_in("topology: { preset: leaf-spine, leaves: 3, spines: 3, hosts-per-leaf: 2 }\n"), IsEmpty());
  EXPECT_THAT(cycle_in("topology: { preset: rail-optimized, hosts: 6, rails: 2, hosts-per-group: 2, spines: 2 }\n"),
              IsEmpty());
  EXPECT_THAT(cycle_in("topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"), IsEmpty());
  EXPECT_THAT(cycle_in("topology: { preset: fat-tree, k: 4 }\n"), IsEmpty());
}

TEST(BufferCycle, ARingHasOneFromFourOn) {
  EXPECT_THAT(cycle_in(ring(3)), IsEmpty()) << "no path goes over two links";
  EXPECT_THAT(cycle_in(ring(4)), ElementsAre("s1 3", "s2 3", "s3 3", "s4 3"));
  EXPECT_THAT(cycle_in(ring(5)), SizeIs(5));
}

TEST(BufferCycle, ALossyClassHasNone) {
  EXPECT_THAT(cycle_in(ring(5) + "qos: { default: { classes: { 3: { lossless: false } } } }\n"), IsEmpty());
}

// s1 moves frames to class 4, in which nobody sends: the circle of class 3 is cut there, and that of class 4 is not
// closed, since no path is longer than two links.
TEST(BufferCycle, AClassChangeAtOneSwitchCutsIt) {
  const auto lab = [](const std::string& at_s1) {
    const std::string classes = "classes: { 3: { lossless: true }, 4: { lossless: true } }";
    const std::string moves = "classes: { 3: { lossless: true, remap-to: 4 }, 4: { lossless: true } }";
    return "switches: { line: { qos: line } }\nqos: { default: { " + classes + " }, line: { " + moves + " } }\n" +
           ring(4, at_s1);
  };
  EXPECT_THAT(cycle_in(lab("")), SizeIs(4));
  const std::set<std::string> circle = cycle_in(lab(", profile: line"));
  // Hosts may send in class 4 themselves.
  EXPECT_THAT(circle, ElementsAre("s1 4", "s2 4", "s3 4", "s4 4"));
}

// Two lossless classes that nothing connects: one circle is found, in one class.
TEST(BufferCycle, ClassesAreBuffersOfTheirOwn) {
  const std::set<std::string> circle =
      cycle_in("qos: { default: { classes: { 3: { lossless: true }, 4: { lossless: true } } } }\n" + ring(5));
  EXPECT_THAT(circle, SizeIs(5));
}

// Links that are down have traffic turn down and up again: what was a Clos is a ring.
TEST(BufferCycle, DownAndUpAgainIsACircle) {
  std::string nodes = "nodes:\n";
  std::string links = "links:\n";
  for (int i = 1; i <= 5; ++i) {
    nodes += fmt::format("  l{0}: {{ kind: switch }}\n  s{0}: {{ kind: switch }}\n  h{0}: {{ kind: host }}\n", i);
    links += fmt::format("  - [l{}:1, s{}:1]\n  - [l{}:2, s{}:2]\n  - [h{}:1, l{}:3]\n", i, i, i % 5 + 1, i, i, i);
  }
  EXPECT_THAT(cycle_in(nodes + links), SizeIs(10));
}

}  // namespace
}  // namespace railyard::routing
