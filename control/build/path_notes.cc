#include "control/build/path_notes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "dataplane/switch/path/policies.h"

namespace railyard::build {
namespace {

// QoS profiles of switches that have several next hops for something.
std::set<std::string> choosing_profiles(BuiltLab& built) {
  const spec::Lab& lab = built.spec();
  std::set<std::string> profiles;
  for (const spec::NodeSpec& n : lab.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    const std::vector<Route>& routes = built.switch_named(n.name).config().routes;
    if (std::ranges::any_of(routes, [](const Route& r) { return r.ports.size() > 1; }))
      profiles.insert(lab.switches.at(n.profile).qos);
  }
  return profiles;
}

}  // namespace

std::vector<std::string> path_notes(BuiltLab& built) {
  const spec::Lab& lab = built.spec();
  std::vector<std::string> notes;
  const auto locks = [](const PathConfig& c) { return info(c.policy).locks != nullptr && info(c.policy).locks(c); };
  for (const std::string& name : choosing_profiles(built))
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
