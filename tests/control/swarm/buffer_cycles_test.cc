#include "control/swarm/buffer_cycles.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::swarm {
namespace {

bool cycle_in(const std::string& yaml) { return has_buffer_cycle(spec::parse("name: x\n" + yaml, "x.yaml")); }

// A host at each of `n` switches in a ring.
std::string ring(int n) {
  std::string nodes = "nodes:\n";
  std::string links = "links:\n";
  for (int i = 1; i <= n; ++i) {
    nodes += fmt::format("  s{0}: {{ kind: switch }}\n  h{0}: {{ kind: host }}\n", i);
    links += fmt::format("  - [s{}:1, s{}:2]\n  - [h{}:1, s{}:3]\n", i, i % n + 1, i, i);
  }
  return nodes + links;
}

TEST(BufferCycles, UpAndDownHasNone) {
  EXPECT_FALSE(cycle_in("topology: { preset: leaf-spine, leaves: 3, spines: 3, hosts-per-leaf: 2 }\n"));
  EXPECT_FALSE(cycle_in("topology: { preset: rail-optimized, hosts: 6, rails: 2, hosts-per-group: 2, spines: 2 }\n"));
  EXPECT_FALSE(cycle_in("topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"));
}

TEST(BufferCycles, ARingHasOneFromFourOn) {
  EXPECT_FALSE(cycle_in(ring(3))) << "no path goes over two links";
  EXPECT_TRUE(cycle_in(ring(4)));
  EXPECT_TRUE(cycle_in(ring(5)));
}

}  // namespace
}  // namespace railyard::swarm
