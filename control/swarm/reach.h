// What the faults of a lab touch: where each acts, and whether it has.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/faults.h"
#include "control/spec/faults/fault_kind.h"
#include "dataplane/base/drop_reason.h"

namespace railyard::swarm {

class Reach {
 public:
  // Those of the lab's spec.
  explicit Reach(build::BuiltLab& lab);

  // Looks at which have done anything yet: touched a frame, or begun. The others count for nothing below.
  void look(const fault::Faults& faults, Instant now);

  // Whether a fault with one of these effects has acted: one on frames, on those that `receiver` gets; one on states, on
  // the link or port at `port` (of links: at either end), or on `device` or a port of it; either, anywhere.
  using Effects = std::initializer_list<spec::FaultEffect>;
  bool towards(PortRef receiver, Effects effects) const {
    return any(effects, [&](const Fault& f) { return f.receivers.contains(receiver); });
  }
  bool at(PortRef port, Effects effects) const {
    return any(effects, [&](const Fault& f) { return f.ports.contains(port); });
  }
  bool on(DeviceId device, Effects effects) const {
    return any(effects, [&](const Fault& f) { return f.devices.contains(device); });
  }
  bool anywhere(Effects effects) const {
    return any(effects, [](const Fault&) { return true; });
  }
  // Whether a fault that has acted explains a drop counted at `port`, by its kind.
  bool explains(DropReason reason, PortRef port) const;

  // Kinds of those that have done anything: "loss", "burst-loss".
  std::set<std::string> kinds() const;
  // For how long frames may be held back at most.
  Duration longest_delay() const;

 private:
  struct Fault {
    const spec::FaultSpec* spec;
    std::set<PortRef> receivers;  // of faults on frames, and of slow directions of links
    std::set<PortRef> ports;      // and `devices`: of faults on states
    std::set<DeviceId> devices;
    bool acted = false;
  };

  template <class F>
  bool any(Effects effects, F&& where) const {
    return std::ranges::any_of(faults_, [&](const Fault& f) {
      return f.acted && where(f) &&
             std::ranges::any_of(effects, [&](spec::FaultEffect e) { return spec::has_effect(*f.spec, e); });
    });
  }

  build::BuiltLab& lab_;
  std::vector<Fault> faults_;
};

}  // namespace railyard::swarm
