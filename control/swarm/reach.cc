#include "control/swarm/reach.h"

#include <algorithm>

#include "control/fault/frame_stage.h"
#include "control/spec/fault_place.h"

namespace railyard::swarm {
namespace {

using Direction = spec::FaultPlace::Direction;

// Whether it is of the link as such, and so at both ends.
bool is_of_a_link(const spec::FaultSpec& fault) {
  const spec::FaultKind& kind = spec::fault_kind(fault.action);
  return (kind.scope == spec::FaultScope::kLink && !kind.on_frames) ||
         spec::has_effect(fault, spec::FaultEffect::kBreaksLink);
}

}  // namespace

Reach::Reach(build::BuiltLab& lab) : lab_(lab) {
  for (const spec::FaultSpec& f : lab.spec().faults) {
    Fault& fault = faults_.emplace_back();
    fault.spec = &f;
    for (const spec::FaultPlace& place : f.on) {
      const bool on_frames = spec::acts_on_frames(f.action);
      if (!on_frames)
        for (const spec::NodeSpec* n : spec::nodes_at(lab.spec(), place)) fault.devices.insert(lab.device(n->name).id());
      for (const spec::PortName& name : spec::ports_at(lab.spec(), place)) {
        const PortRef port = lab.port(name);
        const PortRef peer = lab.fabric().peer(port);
        if (!on_frames) {
          fault.ports.insert(port);
          if (is_of_a_link(f)) fault.ports.insert(peer);
          // Of a link that is slow in one direction, what goes that way is late: pause frames wait for slow frames, while
          // the other direction goes on at its full rate.
          if (spec::has_effect(f, spec::FaultEffect::kSlowsLink)) {
            if (place.direction == Direction::kIn) fault.receivers.insert(port);
            if (place.direction == Direction::kOut) fault.receivers.insert(peer);
          }
          continue;
        }
        if (place.direction != Direction::kOut) fault.receivers.insert(port);
        if (place.direction != Direction::kIn) fault.receivers.insert(peer);
      }
    }
  }
}

void Reach::look(const fault::Faults& faults, Instant now) {
  const std::vector<fault::FaultStatus> status = faults.status(now);
  for (Fault& f : faults_)
    for (const fault::FaultStatus& s : status)
      if (s.name == f.spec->name) f.acted |= s.on_frames ? s.frames > 0 : s.occurrences > 0;
}

bool Reach::explains(DropReason reason, PortRef port) const {
  using Where = spec::ExplainedDrop::Where;
  return std::ranges::any_of(faults_, [&](const Fault& f) {
    return f.acted && std::ranges::any_of(spec::fault_kind(f.spec->action).explains, [&](const spec::ExplainedDrop& d) {
             if (d.reason != reason) return false;
             if (d.where == Where::kPort) return f.ports.contains(port) || f.receivers.contains(port);
             if (d.where == Where::kDevice)
               return f.devices.contains(port.device) ||
                      std::ranges::any_of(f.receivers, [&](PortRef r) { return r.device == port.device; });
             return !lab_.is_switch(port.device);
           });
  });
}

std::set<std::string> Reach::kinds() const {
  std::set<std::string> out;
  for (const Fault& f : faults_)
    if (f.acted) out.insert(spec::fault_kind(f.spec->action).name);
  return out;
}

Duration Reach::longest_delay() const {
  Duration longest{};
  for (const Fault& f : faults_) longest = std::max(longest, fault::longest_hold(*f.spec));
  return longest;
}

}  // namespace railyard::swarm
