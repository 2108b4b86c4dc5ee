#include "control/spec/presets/class_ladder.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

bool has_code_point(const QosProfile& qos, int priority) {
  return qos.trust == Trust::kDscp ? std::ranges::find(qos.dscp_to_class, priority) != qos.dscp_to_class.end()
                                   : std::ranges::find(qos.pcp_to_class, priority) != qos.pcp_to_class.end();
}

// A class that nobody has set, above class `than` if there is one; -1: none. Never that of packets without a mark.
int free_class(const QosProfile& qos, int than) {
  constexpr auto kClasses = static_cast<int>(kPriorities);
  for (int i = 1; i < kClasses; ++i) {
    const int k = (than + i) % kClasses;
    const bool is_named = std::ranges::any_of(qos.classes, [&](const TrafficClass& c) {
      return c.remap_to == k || (c.trim && c.trim->to_class == k);
    });
    if (k != 0 && k != qos.default_class && !is_named && has_code_point(qos, k) &&
        qos.classes[static_cast<std::size_t>(k)] == TrafficClass{})
      return k;
  }
  return -1;
}

template <class Profiles>
QosProfile* qos_of(Lab& lab, const Profiles& profiles, const std::string& name) {
  const auto profile = profiles.find(name);
  if (profile == profiles.end()) return nullptr;  // said by check_profiles()
  const auto qos = lab.qos.find(profile->second.qos);
  return qos == lab.qos.end() ? nullptr : &qos->second;
}

}  // namespace

ClassLadder::ClassLadder(const Tree& topology, Lab& lab, const std::string& switch_profile,
                         const std::string& host_profile, int steps, const std::string& without) {
  up_.fill(-1);
  QosProfile* const qos = qos_of(lab, lab.switches, switch_profile);
  QosProfile* const hosts = qos_of(lab, lab.hosts, host_profile);
  if (qos == nullptr || steps == 0) return;
  constexpr auto kClasses = static_cast<int>(kPriorities);
  const auto of = [](QosProfile& q, int priority) -> TrafficClass& {
    return q.classes[static_cast<std::size_t>(priority)];
  };
  std::vector<int> lossless;
  for (int c = 0; c < kClasses; ++c)
    if (of(*qos, c).lossless) lossless.push_back(c);
  std::vector<int> tops;
  for (const int bottom : lossless) {
    int last = bottom;
    for (int step = 0; step < steps; ++step) {
      const int next = free_class(*qos, bottom);
      if (next < 0)
        topology.fail(fmt::format("lossless class {} needs {} more {}, one for each class change on a path, but {} of them "
                                  "{} no settings and a DSCP (or PCP) of its own; expected room in the QoS profile, or {}",
                                  bottom, steps, steps == 1 ? "class" : "classes", step, step == 1 ? "has" : "have",
                                  without));
      of(*qos, next) = of(*qos, bottom);
      if (hosts != nullptr && hosts != qos && of(*hosts, bottom).lossless && of(*hosts, next) == TrafficClass{})
        of(*hosts, next) = of(*hosts, bottom);
      up_[static_cast<std::size_t>(last)] = next;
      last = next;
    }
    tops.push_back(last);
  }
  const auto lossy = std::ranges::find(qos->classes, false, &TrafficClass::lossless);
  for (const int top : tops) {
    if (lossy == qos->classes.end())
      topology.fail(fmt::format("no class is lossy, and what hosts send in class {} needs one where its class would change; "
                                "expected a lossy class, or {}",
                                top, without));
    up_[static_cast<std::size_t>(top)] = static_cast<int>(lossy - qos->classes.begin());
  }
}

void ClassLadder::step_up(NodeSpec& node, int port) const {
  for (std::size_t c = 0; c < kPriorities; ++c)
    if (up_[c] >= 0) node.ports[port].classes[static_cast<int>(c)].remap_to = up_[c];
}

}  // namespace railyard::spec
