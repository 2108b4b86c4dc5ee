#include "tests/control/front/two_sites.h"

#include <cstdio>

#include <gtest/gtest.h>

namespace railyard::front {

SitePlan two_sites() {
  const std::string file = testing::TempDir() + "two_sites.yaml";
  FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(
      "name: x\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n"
      "trunks: { delay: 1ms }\n"
      "sites: { a: { address: 192.0.2.1, nodes: [leaf1, spine1] }, b: { address: 192.0.2.2, nodes: leaf2 } }\n",
      out);
  std::fclose(out);
  return plan_sites(file, {}, {"a", "b"});
}

}  // namespace railyard::front
