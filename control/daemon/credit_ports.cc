#include "control/daemon/credit_ports.h"

#include <algorithm>

#include "control/build/device_settings.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

bool has_credits(const build::BuiltLab& lab, PortRef port) {
  const auto any = [&](PortRef end) {
    const spec::NodeSpec& node = lab.node_of(end.device);
    if (node.kind == spec::NodeSpec::Kind::kTrunk) return false;
    const spec::Lab& spec = lab.spec();
    const spec::QosProfile& qos =
        spec.qos.at(node.kind == spec::NodeSpec::Kind::kSwitch ? spec.switches.at(node.profile).qos
                                                               : spec.hosts.at(node.profile).qos);
    return std::ranges::any_of(qos.classes, [](const spec::TrafficClass& c) { return build::has_credits(c); });
  };
  return lab.rate(port) != BitRate{} && (any(port) || any(lab.fabric().peer(port)));
}

}  // namespace railyard::daemon
