// What the faults of a lab touch: where each acts, and whether it has.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/faults.h"

namespace railyard::swarm {

class Reach {
 public:
  // Those of the lab's spec.
  explicit Reach(build::BuiltLab& lab);

  // Looks at which have done anything yet: touched a frame, or begun. The others count for nothing below.
  void look(const fault::Faults& faults, Instant now);

  // Whether a fault of one of these kinds has acted on frames that `receiver` gets; on the link, port or class of a
  // port at `port` (of links: at either end); on `device`, or a port of it; anywhere.
  template <class... A>
  bool towards(PortRef receiver) const {
    return any<A...>([&](const Fault& f) { return f.receivers.contains(receiver); });
  }
  template <class... A>
  bool at(PortRef port) const {
    return any<A...>([&](const Fault& f) { return f.ports.contains(port); });
  }
  template <class... A>
  bool on(DeviceId device) const {
    return any<A...>([&](const Fault& f) { return f.devices.contains(device); });
  }
  template <class... A>
  bool anywhere() const {
    return any<A...>([](const Fault&) { return true; });
  }
  // The same of faults that frames overtake each other by.
  bool reorders() const;

  // Kinds of those that have done anything: "loss", "burst-loss".
  std::set<std::string> kinds() const;
  // For how long frames may be held back at most.
  Duration longest_delay() const;

 private:
  struct Fault {
    const spec::FaultSpec* spec;
    std::set<PortRef> receivers;  // of faults on frames
    std::set<PortRef> ports;
    std::set<DeviceId> devices;
    bool acted = false;
  };

  template <class... A, class F>
  bool any(F&& where) const {
    for (const Fault& f : faults_)
      if (f.acted && (std::holds_alternative<A>(f.spec->action) || ...) && where(f)) return true;
    return false;
  }

  std::vector<Fault> faults_;
};

// The word of an action, with "burst-loss" for that kind of loss.
std::string kind_of(const spec::FaultAction& action);
// All kinds that there are.
std::vector<std::string> all_kinds();

}  // namespace railyard::swarm
