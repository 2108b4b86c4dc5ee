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

End end_of(const Facts& facts, const spec::NodeSpec& node, std::string map, int priority) {
  return {node.name, std::move(map), priority, facts.qos(node).classes[static_cast<std::size_t>(priority)].lossless};
}

// As a device classifies packets that come with this code point.
End receiver_of(const Facts& facts, const spec::NodeSpec& node, const routing::CodePoint& point) {
  return end_of(facts, node, facts.class_key(node, point), facts.class_at(node, point));
}

// What the receiving device goes by: "DSCP 26", "PCP 3".
std::string code_of(const Facts& facts, const spec::NodeSpec& at, const routing::CodePoint& point) {
  if (facts.qos(at).trust == spec::Trust::kDscp) return fmt::format("DSCP {}", point.dscp);
  return point.pcp == routing::CodePoint::kUntagged ? "untagged" : fmt::format("PCP {}", point.pcp);
}

// `from` sends to `to`, whose pauses are for its own class.
void compare(const Stream& s, const End& from, const End& to, const std::string& code, Findings& findings) {
  if (from.priority == to.priority || (!from.lossless && !to.lossless)) return;
  findings.add(to.map,
               fmt::format("{} sends {} ({}) in class {}{}, but {} classifies it as class {}{}: PFC pauses of one "
                           "class do not stop the other.",
                           from.name, s.name, code, from.priority, from.lossless ? " (lossless)" : "", to.name,
                           to.priority, to.lossless ? " (lossless)" : ""),
               code == "untagged" ? std::string("Carry the VLAN tagged, or set default-class.")
                                  : fmt::format("Map {} to the same class in both.", code));
}

void find(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    const std::vector<Hop> hops = facts.hops(s);
    if (hops.empty()) continue;
    const auto& nodes = facts.lab().nodes;
    const spec::NodeSpec& sender = *facts.lab().find(s.from.node);
    const routing::CodePoint& sent = hops.front().arrives;
    End at_leaf = receiver_of(facts, nodes[hops.front().node], sent);
    // A class that the entry names for its NIC is to blame first.
    if (s.like.priority) at_leaf.map = s.path + ".class";
    compare(s, end_of(facts, sender, "", s.nic_class), at_leaf, code_of(facts, nodes[hops.front().node], sent),
            findings);
    for (const Hop& h : hops) {
      const spec::NodeSpec& here = nodes[h.node];
      const spec::NodeSpec& next = *facts.lab().find(facts.peer_of({here.name, h.out_port}).node);
      if (next.kind == spec::NodeSpec::Kind::kTrunk) continue;
      compare(s, end_of(facts, here, "", h.out_class), receiver_of(facts, next, h.leaves),
              code_of(facts, next, h.leaves), findings);
    }
  }
}

}  // namespace

const Rule kClassMapsDisagree{"class-maps-disagree", Severity::kWarning,
                              "Two neighbours on a path map the same packets to different classes, one of them "
                              "lossless, so that PFC pauses the wrong queue.",
                              find};

}  // namespace railyard::lint
