#include "control/routing/up_down.h"

#include <string>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

bool up_down(const std::string& text) {
  const spec::Lab lab = spec::parse("name: x\n" + text, "x.yaml");
  const Graph graph(lab);
  return goes_up_then_down(graph, shortest_paths(graph));
}

TEST(UpDown, ClosFabricsGoUpAndThenDown) {
  for (const char* keys : {"leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 1", "fat-tree, k: 4",
                           "multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 1, super-spines: 2",
                           "tree, levels: 3, branches: 2, hosts-per-leaf: 1", "rail-optimized, hosts: 4, rails: 2, spines: 0"})
    EXPECT_TRUE(up_down("topology: { preset: " + std::string(keys) + " }\n")) << keys;
}

TEST(UpDown, NotWhereLinksAreLevel) {
  for (const char* keys : {"ring, switches: 4", "torus, size: [3, 3]", "full-mesh, switches: 4"})
    EXPECT_FALSE(up_down("topology: { preset: " + std::string(keys) + " }\n")) << keys;
}

// leaf1 and leaf3 reach each other by leaf2 only: up, down, up, down.
TEST(UpDown, NotThroughAValley) {
  EXPECT_FALSE(
      up_down("nodes:\n  leaf1: { kind: switch }\n  leaf2: { kind: switch }\n  leaf3: { kind: switch }\n"
              "  spine1: { kind: switch }\n  spine2: { kind: switch }\n"
              "  h1: { kind: host }\n  h2: { kind: host }\n  h3: { kind: host }\n"
              "links: [[h1:1, leaf1:1], [h2:1, leaf2:1], [h3:1, leaf3:1], [leaf1:2, spine1:1], [leaf2:2, spine1:2], "
              "[leaf2:3, spine2:1], [leaf3:2, spine2:2]]\n"));
}

}  // namespace
}  // namespace railyard::routing
