#include "control/routing/bgp/network.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/value.h"
#include "dataplane/base/rng.h"

namespace railyard::routing::bgp {
namespace {

using namespace railyard::literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kReaction = 1_us;

// The speakers of a lab, and what they have written.
class Fabric {
 public:
  explicit Fabric(const std::string& yaml)
      : lab_(spec::parse(yaml, "bgp.yaml")),
        graph_(lab_),
        routes_(shortest_paths(graph_)),
        network_(lab_.routing, graph_, routes_, kReaction) {}

  // Both ends of the link at a port.
  void set_link(Duration at, const std::string& port, bool up) {
    const spec::PortName name = *spec::parse_port_name(port);
    const std::size_t node = graph_.node(name.node);
    for (const Graph::Edge& e : graph_.edges(node)) {
      if (e.port.value + 1 != name.port) continue;
      graph_up_[e.link] = up;
      std::vector<PortChange> ends{{Instant{} + at, node, e.port, up},
                                   {Instant{} + at, e.neighbour, e.neighbour_port, up}};
      std::ranges::sort(ends, {}, &PortChange::key);
      for (const PortChange& end : ends) network_.port_changed(end);
    }
  }
  void drain(Duration at, const std::string& node, bool on) {
    drained_[graph_.node(node)] = on;
    network_.drain(Instant{} + at, graph_.node(node), on);
  }
  void run(Duration until) {
    network_.run(Instant{} + until, [&](TableChange c) {
      written_.push_back(fmt::format("{} {}", spec::format(c.at - Instant{}), lab_.nodes[c.node].name));
      for (auto& [origin, group] : c.groups) tables_[c.node][origin] = group.ports;
    });
  }
  // Until nothing is left to do; when that was.
  Duration settle() {
    Duration at{};
    while (network_.next() != Instant::never()) {
      at = network_.next() - Instant{};
      run(at + Duration{1});
    }
    return at;
  }

  std::size_t origin_of(const std::string& node) const {
    const std::size_t n = graph_.node(node);
    const auto& all = routes_.announced.origins;
    return static_cast<std::size_t>(std::ranges::find(all, n, [](const Origin& o) { return o.owners.front().node; }) -
                                    all.begin());
  }
  // By which ports `from` reaches what is behind `to`; from 1.
  std::vector<int> ports(const std::string& from, const std::string& to) const {
    std::vector<int> out;
    for (const PortIndex p : network_.rib(graph_.node(from)).group(origin_of(to)).ports) out.push_back(p.value + 1);
    return out;
  }
  std::optional<std::vector<AsNumber>> announced(const std::string& from, const std::string& to) {
    return network_.announced(graph_.node(from), origin_of(to));
  }
  // Towards hosts.
  AsNumber as(const std::string& node) const { return network_.as_of(graph_.node(node), origin_of("leaf1")); }
  const std::vector<std::string>& written() const { return written_; }
  Network& network() { return network_; }
  const Graph& graph() const { return graph_; }
  const spec::Lab& lab() const { return lab_; }

  // What BGP must come to, worked out by rounds: in round k those get a path of k numbers who hear one of k - 1 without
  // their own. Each entry of the result is a switch that has something else.
  std::vector<std::string> wrong() const {
    std::vector<std::string> out;
    for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
      struct Best {
        std::vector<AsNumber> path;
        std::vector<PortIndex> ports;
      };
      std::map<std::size_t, Best> best;
      const std::size_t owner = routes_.announced.origins[o].owners.front().node;
      best[owner] = {{network_.as_of(owner, o)}, {}};
      for (std::size_t length = 1; length < 200; ++length) {
        std::map<std::size_t, Best> found;
        for (std::size_t n = 0; n < graph_.size(); ++n) {
          if (!graph_.is_switch(n) || best.contains(n)) continue;
          for (const Graph::Edge& e : graph_.edges(n)) {
            const auto from = best.find(e.neighbour);
            if (from == best.end() || !is_up(e.link) || from->second.path.size() != length) continue;
            if (std::ranges::count(from->second.path, network_.as_of(n, o)) != 0) continue;
            Best& b = found[n];
            if (b.ports.empty()) {
              b.path = from->second.path;
              const std::size_t times = drained_.contains(n) && drained_.at(n) ? 9 : 1;
              b.path.insert(b.path.begin(), times, network_.as_of(n, o));
            }
            b.ports.push_back(e.port);
          }
        }
        best.merge(found);
      }
      for (std::size_t n = 0; n < graph_.size(); ++n) {
        if (!graph_.is_switch(n)) continue;
        const std::vector<PortIndex> expected = best.contains(n) ? best[n].ports : std::vector<PortIndex>{};
        if (network_.rib(n).group(o).ports != expected)
          out.push_back(fmt::format("{} to {}: {} ports, expected {}", lab_.nodes[n].name, lab_.nodes[owner].name,
                                    network_.rib(n).group(o).ports.size(), expected.size()));
      }
    }
    return out;
  }
  // The same where paths are ordered: what a view of the whole fabric says.
  std::vector<std::string> wrong_in_order() const {
    Graph graph = graph_;
    for (const auto& [link, up] : graph_up_) graph.set_up(link, up);
    for (const auto& [node, drained] : drained_) graph.set_drained(node, drained);
    std::vector<std::string> out;
    for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
      const PathsTo paths(graph, routes_.announced.origins[o]);
      for (std::size_t n = 0; n < graph.size(); ++n)
        if (graph.is_switch(n) && network_.rib(n).group(o).ports != paths.group(n).ports)
          out.push_back(fmt::format("{} to origin {}", lab_.nodes[n].name, o));
    }
    return out;
  }

 private:
  bool is_up(std::size_t link) const { return !graph_up_.contains(link) || graph_up_.at(link); }

  spec::Lab lab_;
  Graph graph_;
  Routes routes_;
  Network network_;
  std::map<std::size_t, bool> graph_up_;
  std::map<std::size_t, bool> drained_;
  std::map<std::size_t, std::map<std::size_t, std::vector<PortIndex>>> tables_;
  std::vector<std::string> written_;
};

// leafN: ports 1, 2: hosts; 3, 4: spines. spineN: port i: leaf i.
std::string leaf_spine(const std::string& routing = "bgp") {
  return "name: ls\ntopology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }\n"
         "defaults: { link: { rate: 100Gbps, delay: 1us } }\nrouting: " +
         routing + "\n";
}
const std::string kTimes =
    "{ carrier-delay: 1ms, processing: 2ms, message-delay: 99us, fib-delay: 500us, session-setup: 10ms }";

TEST(Bgp, AtRestHasAllShortestPaths) {
  Fabric f(leaf_spine());
  EXPECT_THAT(f.wrong(), IsEmpty());
  EXPECT_EQ(f.network().next(), Instant::never());
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(3, 4));
}

TEST(Bgp, SpinesShareAnAsAndLeavesHaveTheirOwn) {
  Fabric f(leaf_spine());
  EXPECT_EQ(f.as("spine1"), f.as("spine2"));
  EXPECT_NE(f.as("leaf1"), f.as("leaf2"));
  EXPECT_THAT(*f.announced("leaf1", "leaf2"), ElementsAre(f.as("leaf1"), f.as("spine1"), f.as("leaf2")));
  Fabric g(leaf_spine("{ as-numbers: per-switch }"));
  EXPECT_NE(g.as("spine1"), g.as("spine2"));
}

// A ring has paths that go nowhere up: every switch is an AS.
TEST(Bgp, ARingHasAnAsPerSwitch) {
  std::string yaml = "name: ring\nnodes:\n";
  for (int i = 1; i <= 4; ++i) yaml += fmt::format("  s{0}: {{ kind: switch }}\n  h{0}: {{ kind: host }}\n", i);
  yaml += "links:\n";
  for (int i = 1; i <= 4; ++i) yaml += fmt::format("  - [h{0}:1, s{0}:1]\n  - [s{0}:2, s{1}:3]\n", i, i % 4 + 1);
  Fabric f(yaml);
  EXPECT_THAT(f.wrong(), IsEmpty());
  std::set<AsNumber> all;
  for (const char* node : {"s1", "s2", "s3", "s4"})
    all.insert(f.network().as_of(f.graph().node(node), f.origin_of("s1")));
  EXPECT_THAT(all, testing::SizeIs(4));
  f.set_link(1_us, "s1:2", false);
  f.settle();
  EXPECT_THAT(f.ports("s1", "s2"), ElementsAre(3));
  EXPECT_THAT(f.wrong(), IsEmpty());
}

// 1 ms until the ends know; 2 ms until they have decided; 1 us + 99 us to the leaves; 2 ms there; 0.5 ms to each table.
TEST(Bgp, AWithdrawalGoesHopByHopInItsTime) {
  Fabric f(leaf_spine(kTimes));
  f.set_link(10_ms, "spine1:2", false);
  f.settle();
  // spine2 has lost its way to spine1's loopback by leaf2.
  EXPECT_THAT(f.written(),
              ElementsAre("13.5ms leaf2", "13.5ms spine1", "15.6ms spine2", "15.6ms leaf1", "15.6ms leaf3"));
  EXPECT_THAT(f.ports("spine1", "leaf2"), IsEmpty());
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(4));
  EXPECT_THAT(f.ports("leaf2", "leaf1"), ElementsAre(4));
  EXPECT_THAT(f.ports("leaf1", "leaf3"), ElementsAre(3, 4));
  EXPECT_THAT(f.wrong(), IsEmpty());
  EXPECT_EQ(f.network().counters().messages, 3u);  // spine1 to leaf1 and leaf3, leaf2 to spine2
}

// Up at 100 ms: noticed at 101, a session at 111, tables exchanged at 111.1, and so on.
TEST(Bgp, FailsBackAsItWas) {
  Fabric f(leaf_spine(kTimes));
  f.set_link(10_ms, "spine1:2", false);
  f.run(100_ms);
  const std::size_t failed = f.written().size();
  f.set_link(100_ms, "spine1:2", true);
  f.settle();
  EXPECT_THAT(std::vector(f.written().begin() + static_cast<std::ptrdiff_t>(failed), f.written().end()),
              testing::UnorderedElementsAre("113.6ms leaf2", "113.6ms spine1", "115.7ms leaf1", "115.7ms leaf3",
                                            "115.7ms spine2"));
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(3, 4));
  EXPECT_THAT(f.wrong(), IsEmpty());
}

TEST(Bgp, AnInterruptionBelowTheCarrierDelayIsNotNoticed) {
  Fabric f(leaf_spine(kTimes));
  f.set_link(10_ms, "spine1:2", false);
  f.set_link(10_ms + 900_us, "spine1:2", true);
  f.settle();
  EXPECT_THAT(f.written(), IsEmpty());
}

// With an AS for all spines, a leaf is no way from spine to spine; with one each it is.
TEST(Bgp, AValleyIsNoPathPerTierAndOnePerSwitch) {
  for (const bool per_switch : {false, true}) {
    Fabric f(leaf_spine(per_switch ? "{ as-numbers: per-switch }" : "bgp"));
    f.set_link(1_us, "leaf1:3", false);
    f.set_link(2_us, "leaf2:4", false);
    f.settle();
    EXPECT_THAT(f.wrong(), IsEmpty());
    if (per_switch)
      EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(4));
    else
      EXPECT_THAT(f.ports("leaf1", "leaf2"), IsEmpty());
  }
}

TEST(Bgp, MraiHoldsUpdatesBack) {
  Fabric f(leaf_spine("{ carrier-delay: 1ms, processing: 2ms, message-delay: 99us, fib-delay: 500us, mrai: 50ms }"));
  f.set_link(10_ms, "spine1:2", false);
  f.set_link(15_ms, "spine1:3", false);
  f.settle();
  // leaf1 hears of leaf2 at 13.1 ms, and of leaf3 at 63.1 ms, not at 18.1 ms.
  EXPECT_THAT(f.written(), testing::Contains("15.6ms leaf1"));
  EXPECT_THAT(f.written(), testing::Contains("65.6ms leaf1"));
  EXPECT_THAT(f.written(), testing::Not(testing::Contains("20.6ms leaf1")));
  EXPECT_THAT(f.wrong(), IsEmpty());
}

// The third loss within seconds takes the penalty above 2000: the port is down for routing until it has decayed to
// 1000.
TEST(Bgp, APortThatFlapsIsDampened) {
  Fabric f(leaf_spine(
      "{ carrier-delay: 1ms, dampening: { half-life: 5s, suppress: 2000, reuse: 1000, max-suppress: 20s } }"));
  for (int i = 0; i < 3; ++i) {
    f.set_link(100_ms * i, "spine1:2", false);
    f.run(100_ms * i + 50_ms);
    f.set_link(100_ms * i + 50_ms, "spine1:2", true);
    f.run(100_ms * i + 100_ms);
  }
  f.run(7000_ms);
  EXPECT_THAT(f.ports("spine1", "leaf2"), IsEmpty());
  f.run(9000_ms);  // 5 s * log2(2.96) = 7.8 s after the third
  EXPECT_THAT(f.ports("spine1", "leaf2"), ElementsAre(2));
  EXPECT_THAT(f.wrong(), IsEmpty());
}

TEST(Bgp, WhatIsDrainedIsAvoidedAndStillReached) {
  Fabric f(leaf_spine());
  f.drain(1_us, "spine1", true);
  f.settle();
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(4));
  EXPECT_THAT(f.ports("leaf1", "spine1"), ElementsAre(3));
  EXPECT_THAT(f.ports("spine1", "leaf2"), ElementsAre(2));  // what it gets it forwards
  EXPECT_THAT(f.wrong(), IsEmpty());
  f.drain(100_ms, "spine1", false);
  f.settle();
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(3, 4));
  EXPECT_THAT(f.wrong(), IsEmpty());
}

TEST(Bgp, ADrainedSwitchIsTheLastResort) {
  Fabric f(leaf_spine());
  f.drain(1_us, "spine1", true);
  f.set_link(1_ms, "leaf2:4", false);
  f.settle();
  EXPECT_THAT(f.ports("leaf1", "leaf2"), ElementsAre(3));
}

// Links of random fabrics go down and come up at random, faster than routing settles: at rest all is as worked out.
class Random : public testing::TestWithParam<const char*> {};

// As many bursts of six changes as there are drawn.
void disturb(Fabric& f, std::uint64_t seed, const std::function<void(int burst)>& at_rest) {
  RngStream draws(Seed{seed}, "bgp");
  std::vector<std::string> ports;
  for (const spec::LinkSpec& l : f.lab().links)
    if (l.a.node[0] != 'h' && l.b.node[0] != 'h') ports.push_back(fmt::format("{}:{}", l.a.node, l.a.port));
  std::map<std::string, bool> up;
  Duration at{};
  for (int burst = 0; burst < 4; ++burst) {
    for (int i = 0; i < 6; ++i) {
      at = at + Duration{static_cast<std::int64_t>(draws.below(5'000'000'000))};
      f.run(at);
      const std::string& port = ports[draws.below(ports.size())];
      const bool now = !up.try_emplace(port, true).first->second;
      up[port] = now;
      f.set_link(at, port, now);
    }
    at = std::max(at, f.settle());
    at_rest(burst);
    at = at + 1_ms;
  }
}

TEST_P(Random, AtRestIsAsWorkedOut) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string yaml = std::string("name: r\n") + GetParam();
    Fabric f(yaml);
    disturb(f, seed, [&](int burst) { ASSERT_THAT(f.wrong(), IsEmpty()) << "seed " << seed << " burst " << burst; });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, Random,
    testing::Values("topology: { preset: leaf-spine, leaves: 4, spines: 3, hosts-per-leaf: 1 }\n",
                    "topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 1, uplinks-per-spine: 2 }\n",
                    "topology: { preset: fat-tree, k: 4 }\n",
                    "topology: { preset: fat-tree, k: 4 }\nrouting: { as-numbers: per-switch }\n",
                    "topology: { preset: fat-tree, k: 4 }\nrouting: { mrai: 20ms }\n"));

// Speakers that know of their neighbours' paths alone come to the tables of one who sees everything.
class RandomInOrder : public testing::TestWithParam<const char*> {};

TEST_P(RandomInOrder, AtRestIsWhatAViewOfTheWholeSays) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Fabric f(std::string("name: r\n") + GetParam());
    disturb(f, seed, [&](int burst) {
      ASSERT_THAT(f.wrong_in_order(), IsEmpty()) << "seed " << seed << " burst " << burst;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, RandomInOrder,
                         testing::Values("topology: { preset: torus, size: [4, 3] }\n",
                                         "topology: { preset: torus, size: [3, 3, 3] }\n",
                                         "topology: { preset: flattened-butterfly, size: [3, 4] }\n",
                                         "topology: { preset: dragonfly, p: 1, a: 3, h: 1 }\n",
                                         "topology: { preset: dragonfly-plus, leaves-per-group: 2, groups: 4 }\n"));

// A drained switch is no corner for others any more, though the paths around it are out of order.
TEST(Bgp, WhatIsDrainedIsAvoidedEvenOutOfOrder) {
  Fabric f("name: t\ntopology: { preset: torus, size: [4, 4] }\n");
  EXPECT_THAT(f.ports("s1", "s6"), ElementsAre(2)) << "along the row, by s2";
  f.drain(1_ms, "s2", true);
  f.settle();
  EXPECT_THAT(f.ports("s1", "s6"), ElementsAre(4)) << "along the column, by s5";
  EXPECT_THAT(f.ports("s1", "s2"), ElementsAre(2));
  f.drain(100_ms, "s2", false);
  f.settle();
  EXPECT_THAT(f.wrong_in_order(), IsEmpty());
}

// However time is cut.
TEST(Bgp, PortionsOfTimeDoNotMatter) {
  std::vector<std::vector<std::string>> written;
  for (const Duration step : {1_us, 700_us, 1000_ms}) {
    Fabric f("name: x\ntopology: { preset: fat-tree, k: 4 }\n");
    f.set_link(1_ms, "core1:1", false);
    for (Duration at = step; at < 30_ms; at = at + step) f.run(at);
    f.settle();
    written.push_back(f.written());
  }
  EXPECT_EQ(written[0], written[1]);
  EXPECT_EQ(written[0], written[2]);
  EXPECT_FALSE(written[0].empty());
}

TEST(AsPaths, AreKeptOnce) {
  AsPaths paths;
  const PathId one = paths.extend(7, kEmptyPath);
  const PathId two = paths.extend(8, one);
  EXPECT_EQ(paths.extend(8, one), two);
  EXPECT_THAT(paths.numbers(two), ElementsAre(8, 7));
  EXPECT_TRUE(paths.contains(two, 7));
  EXPECT_FALSE(paths.contains(two, 9));
  EXPECT_EQ(paths.length(two), 2u);
  EXPECT_GT(paths.length(kNoPath), paths.length(two));
}

}  // namespace
}  // namespace railyard::routing::bgp
