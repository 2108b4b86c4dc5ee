#include "control/build/path_notes.h"

#include <set>

#include <fmt/format.h>

#include "dataplane/switch/path/policies.h"

namespace railyard::build {
namespace {

// QoS profiles of switches that have a choice: they are cabled to two others at least.
std::set<std::string> choosing_profiles(const spec::Lab& lab) {
  std::set<std::string> profiles;
  for (const spec::NodeSpec& n : lab.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    std::set<std::string> switches;
    for (const spec::LinkSpec& l : lab.links)
      for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)})
        if (near.node == n.name && lab.find(far.node)->kind == spec::NodeSpec::Kind::kSwitch) switches.insert(far.node);
    if (switches.size() > 1) profiles.insert(lab.switches.at(n.profile).qos);
  }
  return profiles;
}

}  // namespace

std::vector<std::string> path_notes(const spec::Lab& lab) {
  std::vector<std::string> notes;
  // Few labs set it, and the rest looks at all links.
  const auto locks = [](const PathConfig& c) { return info(c.policy).locks != nullptr && info(c.policy).locks(c); };
  bool any = false;
  for (const auto& [name, qos] : lab.qos)
    for (const spec::TrafficClass& c : qos.classes) any |= locks(c.path);
  if (!any) return notes;
  for (const std::string& name : choosing_profiles(lab))
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const PathConfig& path = lab.qos.at(name).classes[k].path;
      if (!locks(path)) continue;
      notes.push_back(fmt::format(
          "qos.{}.classes.{}.path: order {} is fixed. Alike senders can fall in step, and then their flows share links "
          "for ever. Use `path: spray`, whose order is drawn anew in each round",
          name, k, spray_policy::kOrders[static_cast<std::size_t>(path.order)]));
    }
  return notes;
}

}  // namespace railyard::build
