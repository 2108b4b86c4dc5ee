// Routing at a site is that of the whole lab: each switch has the same next hops.
#include <string>

#include <gtest/gtest.h>

#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"
#include "control/sites/placement.h"
#include "control/spec/load.h"

namespace railyard::sites {
namespace {

void expect_same_routes(const spec::Lab& lab, const std::vector<std::string>& sites) {
  const routing::Graph graph(lab);
  const routing::Routes routes = routing::shortest_paths(graph);
  const Placement placement = place(lab, sites);
  std::size_t compared = 0;
  for (const std::string& site : sites) {
    const spec::Lab part = part_of(lab, placement, site);
    const routing::Graph there(*part.whole.lab);
    const routing::Routes routes_there = routing::shortest_paths(there);
    for (std::size_t n = 0; n < part.nodes.size(); ++n) {
      ASSERT_EQ(part.whole.lab->nodes[n].name, part.nodes[n].name) << "devices have the numbers of nodes";
      if (part.nodes[n].kind != spec::NodeSpec::Kind::kSwitch) continue;
      const ForwardingTable whole(*routes.fecs, routes.table_of(graph.node(part.nodes[n].name)));
      const ForwardingTable here(*routes_there.fecs, routes_there.table_of(n));
      for (const spec::NodeSpec& host : lab.nodes)
        for (const spec::NicSpec& nic : host.nics) {
          const NextHops& a = whole.lookup(routes.fecs->lookup(*nic.address_v4));
          const NextHops& b = here.lookup(routes_there.fecs->lookup(*nic.address_v4));
          ASSERT_EQ(a.count, b.count) << part.nodes[n].name << " to " << host.name;
          for (std::uint32_t i = 0; i < a.count; ++i) EXPECT_EQ(whole.member(a, i), here.member(b, i));
          ++compared;
        }
    }
  }
  EXPECT_GT(compared, 20u);
}

TEST(RoutesAtASite, AreThoseOfTheWholeLeafSpine) {
  const spec::Lab lab = spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 2 }\n"
      "sites: { a: { address: 192.0.2.1 }, b: { address: 192.0.2.2 }, c: { address: 192.0.2.3 } }\ntrunks: { delay: 1ms }\n",
      "x.yaml");
  expect_same_routes(lab, {"a", "b"});
  expect_same_routes(lab, {"a", "b", "c"});
}

// Both spines are at site b: packets between the leaves of site a leave it and come back.
TEST(RoutesAtASite, LeadThroughOtherSitesAndBack) {
  const spec::Lab lab = spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }\n"
      "sites: { a: { address: 192.0.2.1, nodes: [leaf1, leaf2] }, b: { address: 192.0.2.2, nodes: [leaf3, \"spine*\"] } }\n"
      "trunks: { delay: 1ms }\n",
      "x.yaml");
  expect_same_routes(lab, {"a", "b"});
}

}  // namespace
}  // namespace railyard::sites
