// Groups of switches, each group a full mesh, with links from group to group: the dragonfly (Kim, Dally, Scott & Abts,
// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008). Switch i of group g is at [g, i]. Ports: p hosts,
// the a - 1 other switches of the group, then h links to other groups.
//
//     group 0      group 1      group 2        each group is linked to each other, by a x h links in all
//     s1 - s2      s3 - s4      s5 - s6
//     |     \______/     \______/     |
//     \_______________________________/        (p: 1, a: 2, h: 1: three groups)
//
// Routing is minimal: within the group to a switch with a link to the other group, over it, and within that group. Lossless
// classes go one up at each hop between groups; Valiant and UGAL (`path` of a class) take one such hop more.
#include <optional>

#include <fmt/format.h>

#include "control/spec/presets/direct.h"
#include "control/spec/presets/global_links.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

struct Dragonfly : Direct {
  int p = 2;
  std::optional<int> a;
  std::optional<int> h;
  std::optional<int> groups;
  const Tree* global_link = nullptr;
  bool class_change = true;
};

const Table<Dragonfly>& dragonfly_keys() {
  static const Table<Dragonfly> table = [] {
    std::vector<Key<Dragonfly>> keys{
        preset_key<Dragonfly>("dragonfly"),
        key("p", &Dragonfly::p, integer(1, kMostPorts), "hosts per switch (default: 2)"),
        key("a", &Dragonfly::a, maybe(integer(1, kMostSwitches)), "switches per group (default: 2p)"),
        key("h", &Dragonfly::h, maybe(integer(1, kMostPorts)), "links of each switch to other groups (default: p)"),
        key("groups", &Dragonfly::groups, maybe(integer(2, kMostSwitches)),
            "number of groups (default, and at most: a x h + 1, one link between any two)"),
        link_key("global-link", &Dragonfly::global_link, "links between groups (default: fabric-link)"),
        key("class-change", &Dragonfly::class_change, boolean(),
            "where the switches have lossless classes: packets go one class up at each hop between groups, so that no "
            "deadlock is possible (default: true)")};
    for (Key<Dragonfly>& key : direct_keys<Dragonfly>()) keys.push_back(std::move(key));
    return Table<Dragonfly>{"dragonfly", "Groups of switches that are full meshes, and links between any two groups: s1.., h1..",
                            std::move(keys)};
  }();
  return table;
}

// Valiant's paths have two hops between groups.
int global_hops(const Lab& lab) {
  for (const auto& [name, qos] : lab.qos)
    for (const TrafficClass& c : qos.classes)
      if (c.path.policy == PathPolicy::kValiant || c.path.policy == PathPolicy::kUgal) return 2;
  return 1;
}

void expand_dragonfly(const Tree& topology, const LinkSpec& link, Lab& lab) {
  Dragonfly said;
  dragonfly_keys().read(topology, said);
  said.hosts_per_switch = said.p;
  const std::int64_t a = said.a.value_or(2 * said.p);
  const std::int64_t h = said.h.value_or(said.p);
  if (said.groups && *said.groups > a * h + 1)
    topology.at_or_self("groups").fail(fmt::format("{} groups, but {} switches with {} links to other groups reach {}; "
                                                   "expected 2..{}",
                                                   *said.groups, a, h, a * h, a * h + 1));
  const std::int64_t groups = said.groups.value_or(static_cast<int>(std::min<std::int64_t>(a * h + 1, kMostSwitches + 1)));
  DirectBuilder build(topology, said, link, lab);
  build.check_size(groups * a, a - 1 + h);
  if (!lab.routing.order) lab.routing.order = PathOrder::kGroups;
  const ClassLadder ladder(topology, lab, said.switch_profile, said.host_profile,
                           said.class_change ? global_hops(lab) : 0, "class-change: false");
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < a; ++i) build.add_switch({g, i});
  build.add_hosts();
  const auto number = [&](int group, int i) {
    return static_cast<std::size_t>(group) * static_cast<std::size_t>(a) + static_cast<std::size_t>(i);
  };
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < a; ++i)
      for (int j = i + 1; j < a; ++j) build.link(number(g, i), j, number(g, j), i + 1);
  if (said.global_link != nullptr) build.use_link(*said.global_link);
  const auto of_switch = static_cast<int>(h);
  for (const GlobalLink& l : global_links(static_cast<int>(groups), static_cast<int>(a * h))) {
    const std::size_t from = number(l.group_a, l.link_a / of_switch);
    const std::size_t to = number(l.group_b, l.link_b / of_switch);
    const int from_port = static_cast<int>(a) + l.link_a % of_switch;
    const int to_port = static_cast<int>(a) + l.link_b % of_switch;
    build.link(from, from_port, to, to_port);
    build.step_up(ladder, from, from_port);
    build.step_up(ladder, to, to_port);
  }
}

}  // namespace

Preset dragonfly() {
  return {.name = "dragonfly",
          .summary = "Groups of switches, one link between any two groups: three hops at any size, and adaptive routing.",
          .expand = expand_dragonfly,
          .schema = [] { return dragonfly_keys().schema(); },
          .reference = {{"p: 2", "p hosts per switch, a = 2p switches per group, h = p links to other groups, a h + 1 groups"}},
          .draw = [](Draw& draw) -> std::string {
            return Text{"p: {}, a: 2, h: 1, class-change: false, {}", draw.between(1, 3), drawn_direct_keys(draw)};
          },
          .drawn_percent = 3};
}

}  // namespace railyard::spec
