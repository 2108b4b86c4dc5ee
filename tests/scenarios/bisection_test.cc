// What crosses the middle of each preset's fabric, against the bisection that `railyard check` calculates: the hosts of the
// first half send to those of the second at line rate. Which path policy and which traffic it takes is in the table.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "control/spec/presets/preset.h"
#include "control/structure/structure.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace railyard::literals;

// Payload of the octets that a frame takes of the wire.
constexpr double kPayload = 4096.0 / 4176;

enum class Across {
  kShift,   // host i of n sends to host i + n/2
  kSpread,  // host i sends to one host of the second half, chosen so that the links between are loaded evenly
  kAll,     // each of the first half sends to each of the second
};

struct Case {
  const char* topology;
  const char* path;  // policy
  Across across;
  double least = 0.98;  // of the bisection
  double most = 1.02;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.topology << ", " << c.path; }

// The first ones reach the bisection within 2 % with a permutation, the last ones do not.
const std::vector<Case> kCases = {
    {"leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 4", "spray", Across::kShift},
    {"leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: 4", "spray", Across::kShift},
    {"rail-optimized, hosts: 8, rails: 2, hosts-per-group: 4, spines: 2", "spray", Across::kShift},
    {"rail-optimized, hosts: 8, rails: 2, spines: 0", "ecmp", Across::kShift},
    {"rail-optimized, hosts: 4, rails: 4, rails-per-switch: all", "ecmp", Across::kShift},
    {"rail-optimized, hosts: 4, rails: 2, switches-per-rail: 2, spines: 0", "ecmp", Across::kShift},
    {"fat-tree, k: 4", "spray", Across::kShift},
    {"fat-tree, k: 4, tiers: 2, oversubscription: 3", "spray", Across::kShift},
    {"multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 4, super-spines: 2", "spray", Across::kShift},
    {"multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 4, super-spines: 2, planes: true", "spray",
     Across::kShift},
    {"tree, levels: 3, branches: 2, hosts-per-leaf: 2", "ecmp", Across::kShift},
    {"ring, switches: 8, hosts-per-switch: 2", "spray", Across::kShift},
    {"torus, size: [4, 4], hosts-per-switch: 2", "spray", Across::kShift},
    {"full-mesh, switches: 4, hosts-per-switch: 8", "spray", Across::kSpread},
    {"flattened-butterfly, size: [4, 4], hosts-per-switch: 4", "spray", Across::kSpread},
    {"dragonfly, p: 2, a: 2, h: 1", "spray", Across::kSpread},
    {"dragonfly, p: 2, a: 4, h: 2, groups: 8", "spray", Across::kSpread},
    {"dragonfly-plus, leaves-per-group: 2, groups: 4", "spray", Across::kSpread},
    {"full-mesh, switches: 4, hosts-per-switch: 8", "ecmp", Across::kAll},
    {"flattened-butterfly, size: [4, 4], hosts-per-switch: 4", "ecmp", Across::kAll},
    {"dragonfly, p: 2, a: 2, h: 1", "ecmp", Across::kAll},
    {"dragonfly, p: 2, a: 4, h: 2, groups: 8", "ugal", Across::kAll},
    {"dragonfly-plus, leaves-per-group: 2, groups: 4", "ecmp", Across::kAll},
    // Flows that ECMP puts on the same uplinks leave others free: a permutation needs spray.
    {"leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: 4", "ecmp", Across::kShift, 0.5, 0.9},
    {"fat-tree, k: 4", "ecmp", Across::kShift, 0.4, 0.9},
    {"multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 2, hosts-per-leaf: 4, super-spines: 2", "ecmp", Across::kShift,
     0.4, 0.9},
    // One link of several leads to the host half a fabric further on, and no policy of these takes a detour.
    {"full-mesh, switches: 4, hosts-per-switch: 8", "spray", Across::kShift, 0.49, 0.51},
    {"flattened-butterfly, size: [4, 4], hosts-per-switch: 4", "spray", Across::kShift, 0.49, 0.51},
    {"dragonfly-plus, leaves-per-group: 2, groups: 4", "spray", Across::kShift, 0.49, 0.51},
};

// Pairs hosts of the first half with hosts of the second, one by one, each time so that the most loaded link on the
// shortest ways between them has the least load, flows being split over equal ways as `spray` does.
class Spread {
 public:
  explicit Spread(const spec::Lab& lab) : graph_(lab), load_(lab.links.size()) {}

  // Of each of the first half: the one of the second.
  std::vector<std::size_t> pairs(const std::vector<spec::PortName>& nics) {
    std::vector<std::size_t> switches;
    for (const spec::PortName& nic : nics)
      for (const routing::Graph::Edge& e : graph_.edges(graph_.node(nic.node)))
        if (e.port.value + 1 == nic.port) switches.push_back(e.neighbour);
    std::vector<bool> taken(nics.size());
    std::vector<std::size_t> out(nics.size() / 2);
    for (const std::size_t i : in_turn(switches)) {
      std::size_t best = nics.size();
      double least = 0;
      for (std::size_t j = nics.size() / 2; j < nics.size(); ++j) {
        if (taken[j]) continue;
        const double most = add(switches[i], switches[j], +1);
        add(switches[i], switches[j], -1);
        if (best == nics.size() || most < least - 1e-9) {
          best = j;
          least = most;
        }
      }
      add(switches[i], switches[best], +1);
      taken[best] = true;
      out[i] = best;
    }
    while (exchange(switches, out)) {
    }
    return out;
  }

 private:
  // The hosts of the first half: the first of each switch, then the second of each, ...
  static std::vector<std::size_t> in_turn(const std::vector<std::size_t>& switches) {
    std::map<std::size_t, std::size_t> at_switch;
    std::vector<std::pair<std::size_t, std::size_t>> turns;
    for (std::size_t i = 0; i < switches.size() / 2; ++i) turns.emplace_back(at_switch[switches[i]]++, i);
    std::ranges::sort(turns);
    std::vector<std::size_t> out;
    for (const auto& [turn, i] : turns) out.push_back(i);
    return out;
  }
  // Exchanges the partners of two hosts wherever that makes loads more even. Whether it did anywhere.
  bool exchange(const std::vector<std::size_t>& switches, std::vector<std::size_t>& to) {
    bool any = false;
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t k = i + 1; k < to.size(); ++k) {
        const double before = unevenness();
        const auto move = [&](double flow) {
          add(switches[i], switches[to[i]], flow);
          add(switches[k], switches[to[k]], flow);
        };
        move(-1);
        std::swap(to[i], to[k]);
        move(+1);
        if (unevenness() < before - 1e-6) {
          any = true;
          continue;
        }
        move(-1);
        std::swap(to[i], to[k]);
        move(+1);
      }
    return any;
  }
  double unevenness() const {
    double sum = 0;
    for (const auto& [there, back] : load_) sum += there * there + back * back;
    return sum;
  }
  // Adds a flow's share to each link of its ways; returns the greatest load among these, and a little of all of them, so
  // that of ways as good the shorter one is better.
  double add(std::size_t from, std::size_t to, double flow) {
    const std::vector<std::size_t> far = distances(to);
    std::map<std::size_t, double, std::greater<>> at;  // by distance and node: the farthest first
    at[far[from] * graph_.size() + from] = flow;
    double most = 0;
    double sum = 0;
    while (!at.empty() && at.begin()->first >= graph_.size()) {
      const auto [key, here] = *at.begin();
      at.erase(at.begin());
      const std::size_t node = key % graph_.size();
      std::vector<const routing::Graph::Edge*> next;
      for (const routing::Graph::Edge& e : graph_.edges(node))
        if (graph_.is_switch(e.neighbour) && far[e.neighbour] + 1 == far[node]) next.push_back(&e);
      for (const routing::Graph::Edge* e : next) {
        const double share = here / static_cast<double>(next.size());
        double& load = load_[e->link][node < e->neighbour ? 0 : 1];
        load += share;
        most = std::max(most, load);
        sum += load;
        at[far[e->neighbour] * graph_.size() + e->neighbour] += share;
      }
    }
    return most + 1e-3 * sum;
  }
  std::vector<std::size_t> distances(std::size_t to) const {
    std::vector<std::size_t> far(graph_.size(), graph_.size());
    std::vector<std::size_t> seen{to};
    far[to] = 0;
    for (std::size_t i = 0; i < seen.size(); ++i)
      for (const routing::Graph::Edge& e : graph_.edges(seen[i]))
        if (graph_.is_switch(e.neighbour) && far[e.neighbour] == graph_.size()) {
          far[e.neighbour] = far[seen[i]] + 1;
          seen.push_back(e.neighbour);
        }
    return far;
  }

  routing::Graph graph_;
  std::vector<std::array<double, 2>> load_;  // by link and direction
};

class Bisection : public testing::TestWithParam<Case> {};

TEST_P(Bisection, IsWhatCrossesTheMiddle) {
  const Case& c = GetParam();
  const std::string text = fmt::format(
      "name: x\ntopology: {{ preset: {} }}\nqos: {{ default: {{ classes: {{ 3: {{ path: {} }} }} }} }}\n"
      "run: {{ duration: 600us, drain: 10us }}\n",
      c.topology, c.path);
  const spec::Lab lab = spec::parse(text, "x.yaml");
  std::vector<spec::PortName> nics;
  std::size_t hosts = 0;
  for (const spec::NodeSpec& node : lab.nodes)
    if (node.kind == spec::NodeSpec::Kind::kHost) {
      ++hosts;
      for (std::size_t n = 0; n < node.nics.size(); ++n) nics.push_back({node.name, static_cast<int>(n) + 1});
    }
  ASSERT_EQ(hosts % 2, 0u);
  const std::size_t half = nics.size() / 2;
  const std::vector<std::size_t> spread =
      c.across == Across::kSpread ? Spread(lab).pairs(nics) : std::vector<std::size_t>{};
  std::string traffic = "traffic:\n";
  for (std::size_t i = 0; i < half; ++i) {
    std::vector<std::string> to;
    if (c.across == Across::kShift) to = {format(nics[half + i])};
    if (c.across == Across::kSpread) to = {format(nics[spread[i]])};
    if (c.across == Across::kAll)
      for (std::size_t j = half; j < nics.size(); ++j) to.push_back(format(nics[j]));
    traffic += fmt::format("  - {{ name: t{}, from: \"{}\", to: [\"{}\"] }}\n", i, format(nics[i]), fmt::join(to, "\", \""));
  }
  Scenario s{text + traffic};
  const auto delivered = [&] {
    std::uint64_t sum = 0;
    for (const report::FlowReport& f : s.report().flows) sum += f.delivered_bytes;
    return sum;
  };
  s.run_until(200_us);
  const std::uint64_t before = delivered();
  s.run_until(600_us);
  const double bps = static_cast<double>(delivered() - before) * 8 / 400e-6 / kPayload;
  const structure::Structure structure = structure::structure(routing::Graph(lab));
  const double share = bps / static_cast<double>(structure.bisection_bps.value());
  EXPECT_GE(share, c.least) << bps / 1e9 << " Gb/s of " << static_cast<double>(*structure.bisection_bps) / 1e9;
  EXPECT_LE(share, c.most);
}

INSTANTIATE_TEST_SUITE_P(Presets, Bisection, testing::ValuesIn(kCases));

TEST(BisectionCases, AreOfEveryPreset) {
  std::set<std::string> missing;
  for (const spec::Preset& p : spec::presets()) missing.insert(p.name);
  for (const Case& c : kCases) missing.erase(std::string(c.topology).substr(0, std::string(c.topology).find(',')));
  EXPECT_TRUE(missing.empty()) << *missing.begin();
}

}  // namespace
}  // namespace railyard::test
