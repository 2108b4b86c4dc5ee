#include "control/routing/graph.h"

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

//   a:1 --- s:5     s:2 --- t:1     t:7 --- b:1
spec::Lab line() {
  return spec::parse(R"(name: line
nodes: { s: { kind: switch }, t: { kind: switch }, a: { kind: host }, b: { kind: host } }
links: [[a:1, s:5], [s:2, t:1], [t:7, b:1]]
)",
                     "line.yaml");
}

TEST(Graph, NumbersNodesAsTheLabDoes) {
  const spec::Lab lab = line();
  const Graph graph(lab);
  ASSERT_EQ(graph.size(), 4u);
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) EXPECT_EQ(graph.node(lab.nodes[n].name), n);
  EXPECT_TRUE(graph.is_switch(graph.node("s")));
  EXPECT_FALSE(graph.is_switch(graph.node("a")));
}

TEST(Graph, HasEveryLinkAtBothEndsInTheOrderOfPorts) {
  const spec::Lab lab = line();
  const Graph graph(lab);
  const auto& s = graph.edges(graph.node("s"));
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].port, PortIndex{1});  // port 2, to t
  EXPECT_EQ(s[0].neighbour, graph.node("t"));
  EXPECT_EQ(s[0].neighbour_port, PortIndex{0});
  EXPECT_EQ(s[0].link, 1u);
  EXPECT_EQ(s[1].port, PortIndex{4});  // port 5, to a
  EXPECT_EQ(s[1].neighbour, graph.node("a"));
  const auto& a = graph.edges(graph.node("a"));
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].neighbour, graph.node("s"));
  EXPECT_EQ(a[0].neighbour_port, PortIndex{4});
  EXPECT_EQ(a[0].link, 0u);
}

TEST(Graph, CountsPortsUpToTheHighestThatIsLinked) {
  const spec::Lab lab = line();
  const Graph graph(lab);
  EXPECT_EQ(graph.ports(graph.node("s")), 5u);
  EXPECT_EQ(graph.ports(graph.node("t")), 7u);
  EXPECT_EQ(graph.ports(graph.node("a")), 1u);
}

}  // namespace
}  // namespace railyard::routing
