// Path policies that do not share links as their name promises.
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::lint {
namespace {

// Where a stream's shortest paths leave one switch by several ports.
void find_spray_in_fixed_order(const Facts& facts, Findings& findings) {
  std::set<std::string> said;
  for (const Stream& s : facts.kinds_of_streams()) {
    std::set<std::pair<std::size_t, int>> exits;
    std::set<std::size_t> choosing;
    const std::vector<Hop> hops = facts.hops(s);
    for (const Hop& h : hops) exits.insert({h.node, h.out_port});
    for (auto e = exits.begin(); e != exits.end(); ++e)
      if (const auto next = std::next(e); next != exits.end() && next->first == e->first) choosing.insert(e->first);
    for (const Hop& h : hops) {
      if (!choosing.contains(h.node)) continue;
      const spec::NodeSpec& node = facts.lab().nodes[h.node];
      const PathConfig& path = facts.qos(node).classes[static_cast<std::size_t>(h.in_class)].path;
      const PathPolicyInfo& policy = info(path.policy);
      if (policy.locks == nullptr || !policy.locks(path)) continue;
      const std::string key = Facts::class_path(facts.qos_name(node), h.in_class) + ".path";
      if (!said.insert(key).second) continue;
      findings.add(key,
                   fmt::format("{} order {} is fixed: equal senders synchronise, and then their flows share "
                               "links for the whole run",
                               policy.name, spray_policy::kOrders[static_cast<std::size_t>(path.order)]),
                   "Set `path: spray`, which draws a new order in each round.");
    }
  }
}

}  // namespace

const Rule kSprayInFixedOrder{
    "spray-in-fixed-order", Severity::kWarning,
    "Packets are sprayed in a fixed order: equal senders synchronise and their flows collide.",
    find_spray_in_fixed_order};

}  // namespace railyard::lint
