// Code points that devices on one path map to different classes.
#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

// A device in the words of a message, with the class that it puts the stream into.
struct End {
  std::string name;
  std::string map;  // path of the key that says so
  int priority = 0;
  bool lossless = false;
};

End end_of(const Facts& facts, const spec::NodeSpec& node, const Stream& s, std::string map, int priority) {
  return {node.name, map.empty() ? facts.class_key(s, node) : std::move(map), priority,
          facts.qos(node).classes[static_cast<std::size_t>(priority)].lossless};
}

// `from` sends to `to`, whose pauses are for its own class.
void compare(const Stream& s, const End& from, const End& to, Findings& findings) {
  if (from.priority == to.priority || (!from.lossless && !to.lossless)) return;
  findings.add(to.map,
               fmt::format("{} sends {} (DSCP {}) in class {}{}, but {} classifies it as class {}{}: PFC pauses of one "
                           "class do not stop the other.",
                           from.name, s.name, s.like.dscp, from.priority, from.lossless ? " (lossless)" : "", to.name,
                           to.priority, to.lossless ? " (lossless)" : ""),
               fmt::format("Map DSCP {} to the same class in both.", s.like.dscp));
}

void find(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.streams()) {
    const std::vector<Hop> hops = facts.hops(s);
    if (hops.empty()) continue;
    const auto& nodes = facts.lab().nodes;
    const spec::NodeSpec& sender = *facts.lab().find(s.from.node);
    const spec::NodeSpec& receiver = *facts.lab().find(s.to.node);
    const std::string said = s.like.priority ? s.path + ".class" : std::string();
    // A class that the entry names for its NIC is to blame first.
    End at_nic = end_of(facts, sender, s, said, s.nic_class);
    End at_leaf = end_of(facts, nodes[hops.front().node], s, said, hops.front().in_class);
    compare(s, at_nic, at_leaf, findings);
    for (const Hop& h : hops) {
      const End here = end_of(facts, nodes[h.node], s, "", h.out_class);
      const routing::Graph& graph = facts.graph();
      for (const routing::Graph::Edge& e : graph.edges(h.node)) {
        if (e.port.value + 1 != h.out_port) continue;
        const spec::NodeSpec& next = nodes[e.neighbour];
        if (next.kind == spec::NodeSpec::Kind::kSwitch || &next == &receiver)
          compare(s, here, end_of(facts, next, s, "", facts.class_at(s, facts.qos(next))), findings);
      }
    }
  }
}

}  // namespace

const Rule kClassMapsDisagree{"class-maps-disagree", Severity::kWarning,
                              "Two neighbours on a path map the same packets to different classes, one of them "
                              "lossless, so that PFC pauses the wrong queue.",
                              find};

}  // namespace railyard::lint
