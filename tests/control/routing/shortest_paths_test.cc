#include "control/routing/shortest_paths.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::routing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The routes of a lab, asked as a switch would: where does this address go?
class Routing {
 public:
  explicit Routing(const std::string& yaml)
      : lab_(spec::parse(yaml, "routing.yaml")), graph_(lab_), routes_(shortest_paths(graph_)) {}

  // Ports, counted from 1 as in the lab; empty for the switch's own address; nothing: no route.
  std::optional<std::vector<int>> ports(const std::string& node, const std::string& address) const {
    const auto routes = routes_.table_of(graph_.node(node));
    const ForwardingTable table(*routes_.fecs, routes);
    const NextHops& hops = table.lookup(routes_.fecs->lookup(*wire::IpAddress::parse(address)));
    if (hops.kind == NextHops::Kind::kNone) return std::nullopt;
    std::vector<int> out;
    for (std::uint32_t i = 0; i < hops.count; ++i) out.push_back(table.member(hops, i).value + 1);
    return out;
  }
  // For WCMP, of these ports.
  std::vector<std::uint32_t> weights(const std::string& node, const std::string& address) const {
    const auto routes = routes_.table_of(graph_.node(node));
    const ForwardingTable table(*routes_.fecs, routes);
    const NextHops& hops = table.lookup(routes_.fecs->lookup(*wire::IpAddress::parse(address)));
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < hops.count; ++i) out.push_back(table.weight(hops, i));
    return out;
  }
  std::string address(const std::string& host, std::size_t nic = 0) const {
    return to_string(*lab_.find(host)->nics[nic].address_v4);
  }
  std::string address6(const std::string& host) const { return to_string(*lab_.find(host)->nics[0].address_v6); }
  std::string loopback(const std::string& node) const { return to_string(*lab_.find(node)->loopback_v4); }
  std::size_t routes(const std::string& node) const { return routes_.table_of(graph_.node(node)).size(); }

 private:
  spec::Lab lab_;
  Graph graph_;
  Routes routes_;
};

//        spine1   spine2     ports 1, 2: leaf1, leaf2
//        leaf1    leaf2      ports 1, 2: hosts; 3, 4: spines
//        h1 h2    h3 h4
const std::string kLeafSpine = "name: ls\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n";

TEST(ShortestPaths, ToAHostBelowGoStraightDown) {
  const Routing r(kLeafSpine);
  EXPECT_THAT(*r.ports("leaf1", r.address("h1")), ElementsAre(1));
  EXPECT_THAT(*r.ports("leaf1", r.address("h2")), ElementsAre(2));
  EXPECT_THAT(*r.ports("leaf1", r.address6("h2")), ElementsAre(2));
}

// a reaches d by b (all of its 100 Gb/s), and by c, behind which two links of 25 Gb/s go on.
//
//        b ---- 100 ---- d
//   100 /              / /
//      a -- 100 -- c -25
//                    -25
constexpr const char* kUnequal = R"(name: unequal
defaults: { link: { rate: 100Gbps } }
nodes: { a: { kind: switch }, b: { kind: switch }, c: { kind: switch }, d: { kind: switch }, h: { kind: host }, g: { kind: host } }
links:
  - [h:1, a:1]
  - [g:1, d:1]
  - [a:2, b:1]
  - [a:3, c:1)";

TEST(Weights, ANextHopIsWorthWhatCanBeCarriedThroughIt) {
  const std::string rest = R"(]
  - [b:2, d:2]
  - [c:2, d:3, { rate: 25Gbps }]
  - [c:3, d:4, { rate: 25Gbps }]
)";
  const Routing r(kUnequal + rest);
  EXPECT_THAT(r.weights("a", r.address("g")), ElementsAre(2, 1)) << "100 and 2 x 25";
  EXPECT_THAT(r.weights("c", r.address("g")), ElementsAre(1, 1));
  EXPECT_THAT(r.weights("d", r.address("h")), ElementsAre(4, 1, 1)) << "100, 25 and 25";
  const Routing even(kLeafSpine);
  EXPECT_THAT(even.weights("leaf1", even.address("h3")), ElementsAre(1, 1));
}

TEST(Weights, ThoseOfLinksComeFirst) {
  const std::string rest = R"(, { weight: 7 }]
  - [b:2, d:2]
  - [c:2, d:3, { rate: 25Gbps }]
  - [c:3, d:4, { rate: 25Gbps }]
)";
  const Routing r(kUnequal + rest);
  EXPECT_THAT(r.weights("a", r.address("g")), ElementsAre(1, 7));
}

TEST(ShortestPaths, ToAnotherLeafUseEverySpine) {
  const Routing r(kLeafSpine);
  for (const char* host : {"h3", "h4"}) {
    EXPECT_THAT(*r.ports("leaf1", r.address(host)), ElementsAre(3, 4)) << host;
    EXPECT_THAT(*r.ports("leaf1", r.address6(host)), ElementsAre(3, 4)) << host;
    EXPECT_THAT(*r.ports("spine2", r.address(host)), ElementsAre(2)) << host;
  }
}

TEST(ShortestPaths, ToSwitchesThemselvesAreThereToo) {
  const Routing r(kLeafSpine);
  EXPECT_THAT(*r.ports("leaf1", r.loopback("leaf1")), IsEmpty());  // its own
  EXPECT_THAT(*r.ports("leaf1", r.loopback("leaf2")), ElementsAre(3, 4));
  EXPECT_THAT(*r.ports("leaf1", r.loopback("spine2")), ElementsAre(4));
  EXPECT_THAT(*r.ports("spine1", r.loopback("spine2")), ElementsAre(1, 2));
}

TEST(ShortestPaths, OfUnequalLengthAreNotMixed) {
  // A ring of four switches: opposite ones are reached both ways, neighbours one way only.
  const Routing r(R"(name: ring
nodes: { s1: { kind: switch }, s2: { kind: switch }, s3: { kind: switch }, s4: { kind: switch },
         a: { kind: host }, b: { kind: host }, c: { kind: host }, d: { kind: host } }
links: [[s1:1, s2:2], [s2:1, s3:2], [s3:1, s4:2], [s4:1, s1:2], [a:1, s1:3], [b:1, s2:3], [c:1, s3:3], [d:1, s4:3]]
)");
  EXPECT_THAT(*r.ports("s1", r.address("b")), ElementsAre(1));
  EXPECT_THAT(*r.ports("s1", r.address("c")), ElementsAre(1, 2));
  EXPECT_THAT(*r.ports("s1", r.address("d")), ElementsAre(2));
}

TEST(ShortestPaths, ParallelLinksAreOneGroup) {
  const Routing r(R"(name: pair
nodes: { s1: { kind: switch }, s2: { kind: switch }, a: { kind: host }, b: { kind: host } }
links: [[s1:1, s2:1], [s1:2, s2:2], [s1:3, s2:3], [a:1, s1:9], [b:1, s2:9]]
)");
  EXPECT_THAT(*r.ports("s1", r.address("b")), ElementsAre(1, 2, 3));
}

TEST(ShortestPaths, NeverLeadThroughAHost) {
  // h has a NIC at either switch, and nothing else joins them.
  const Routing r(R"(name: islands
nodes: { s1: { kind: switch }, s2: { kind: switch }, a: { kind: host }, b: { kind: host }, h: { kind: host, nics: 2 } }
links: [[a:1, s1:1], [b:1, s2:1], [h:1, s1:2], [h:2, s2:2]]
)");
  EXPECT_EQ(r.ports("s1", r.address("b")), std::nullopt);
  EXPECT_EQ(r.ports("s1", r.address("h", 1)), std::nullopt);
  EXPECT_THAT(*r.ports("s1", r.address("h", 0)), ElementsAre(2));
}

TEST(ShortestPaths, OthersHostsAreOnePrefixWhereNobodyElsesAddressIsInIt) {
  // Four hosts at s2, announced as one: s1 has its own host and loopback, s2's loopback and prefix, for each family.
  const std::string four = R"(name: prefix
nodes: { s1: { kind: switch }, s2: { kind: switch }, a: { kind: host, address: 10.9.0.1 },
         b1: { kind: host }, b2: { kind: host }, b3: { kind: host }, b4: { kind: host } }
links: [[s1:1, s2:1], [a:1, s1:2], [b1:1, s2:2], [b2:1, s2:3], [b3:1, s2:4], [b4:1, s2:5]]
)";
  const Routing aggregated(four);
  EXPECT_EQ(aggregated.routes("s1"), 2 * (1u + 1 + 1 + 1));

  // a's address lies between those of b1..b4: they are announced one by one, and nobody loses his way.
  std::string between = four;
  between.replace(between.find("10.9.0.1"), 8, "10.0.1.3");
  for (const auto& [host, address] : {std::pair{"b1: { kind: host }", "10.0.1.1"},
                                      {"b2: { kind: host }", "10.0.1.2"},
                                      {"b3: { kind: host }", "10.0.1.4"},
                                      {"b4: { kind: host }", "10.0.1.5"}})
    between.replace(between.find(host), std::string(host).size(),
                    std::string(host, 4) + "{ kind: host, address: " + address + " }");
  const Routing apart(between);
  EXPECT_EQ(apart.routes("s1"), aggregated.routes("s1") + 3);
  EXPECT_THAT(*apart.ports("s2", "10.0.1.3"), ElementsAre(1));
  EXPECT_THAT(*apart.ports("s1", "10.0.1.3"), ElementsAre(2));
  for (const char* b : {"10.0.1.1", "10.0.1.2", "10.0.1.4", "10.0.1.5"})
    EXPECT_THAT(*apart.ports("s1", b), ElementsAre(1)) << b;
}

// Two rails at each of two leaves, with addresses by rail: 10.1.1.0/24 and 10.2.1.0/24 are the second leaf's, and what lies
// between the two is the first one's. A prefix per rail and leaf, not a route per NIC.
TEST(ShortestPaths, RailsThatShareALeafAreOnePrefixEach) {
  const Routing r("name: rails\ntopology: { preset: rail-optimized, hosts: 8, rails: 2, rails-per-switch: 2, "
                  "hosts-per-group: 4, spines: 1 }\n");
  EXPECT_EQ(r.routes("leaf-r1-r2-g1"), 2 * (8u + 1 + (2 + 1) + 1)) << "own NICs and loopback; the other leaf; the spine";
  EXPECT_EQ(r.routes("spine1"), 2 * (1u + 2 * (2 + 1)));
  EXPECT_THAT(*r.ports("spine1", "10.2.1.4"), ElementsAre(2));
  EXPECT_THAT(*r.ports("spine1", "10.2.0.4"), ElementsAre(1));
}

TEST(ShortestPaths, ToNowhereAreNone) {
  const Routing r(kLeafSpine);
  EXPECT_EQ(r.ports("leaf1", "192.0.2.1"), std::nullopt);
  EXPECT_EQ(r.ports("leaf1", "2001:db8::1"), std::nullopt);
}

// The table that a switch is made with is that of its list of routes.
TEST(ForwardingTables, AreThoseOfTheRoutes) {
  for (const char* lab_text :
       {"topology: { preset: rail-optimized, hosts: 6, rails: 2, hosts-per-group: 3, spines: 2 }\n",
        "topology: { preset: torus, size: [3, 3] }\n",
        "topology: { preset: dragonfly, p: 1, a: 2, h: 1 }\nqos: { default: { classes: { 0: { path: ugal } } } }\n"}) {
    const spec::Lab lab = spec::parse(std::string("name: x\n") + lab_text, "x.yaml");
    const Graph graph(lab);
    const Routes routes = shortest_paths(graph);
    for (std::size_t n = 0; n < graph.size(); ++n) {
      if (!graph.is_switch(n)) continue;
      const ForwardingTable made = routes.forwarding_of(n);
      const ForwardingTable listed(*routes.fecs, routes.table_of(n));
      EXPECT_EQ(made.groups().size(), listed.groups().size()) << lab_text;
      for (std::uint32_t f = 0; f < routes.fecs->size(); ++f) {
        const NextHops& a = made.lookup(Fec{f});
        const NextHops& b = listed.lookup(Fec{f});
        ASSERT_EQ(a.kind, b.kind) << lab_text << lab.nodes[n].name;
        ASSERT_EQ(a.count, b.count);
        ASSERT_EQ(a.detours, b.detours);
        for (std::uint32_t i = 0; i < a.count + std::uint32_t{a.detours}; ++i) {
          ASSERT_EQ(made.member(a, i), listed.member(b, i));
          ASSERT_EQ(made.weight(a, i), listed.weight(b, i));
        }
      }
    }
  }
}

// With addresses by rail a shared leaf announces a prefix for each rail; by leaf, one for all.
TEST(Announcements, OfALeafThatRailsShare) {
  const auto prefixes_of_a_leaf = [](const std::string& addresses) {
    const spec::Lab lab = spec::parse("name: x\ntopology: { preset: rail-optimized, hosts: 4, rails: 4, rails-per-switch: 2, "
                                      "hosts-per-group: 2, spines: 1, addresses: " +
                                          addresses + " }\n",
                                      "x.yaml");
    std::set<std::size_t> counts;
    for (const Origin& o : shortest_paths(Graph(lab)).announced.origins)
      if (lab.nodes[o.owners.front().node].role == "leaf")
        counts.insert(static_cast<std::size_t>(std::ranges::count_if(
            o.prefixes, [](const wire::IpPrefix& p) { return p.is_v4() && p.length < 128; })));
    return counts;
  };
  EXPECT_THAT(prefixes_of_a_leaf("rail"), ElementsAre(2));
  EXPECT_THAT(prefixes_of_a_leaf("leaf"), ElementsAre(1));
}

}  // namespace
}  // namespace railyard::routing
