#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "control/fault/parts.h"
#include "control/fault/state_changes.h"
#include "control/spec/fault_place.h"
#include "control/spec/spec_error.h"

namespace railyard::fault {
namespace {

using Direction = spec::FaultPlace::Direction;

}  // namespace

std::vector<PortRef> StateChanges::ports(const spec::FaultPlace& at) {
  std::vector<PortRef> out;
  for (const spec::PortName& name : spec::ports_at(lab_.spec(), at))
    if (const PortRef port = lab_.port(name); ports_.insert(port).second) out.push_back(port);
  return out;
}

std::vector<DeviceId> StateChanges::devices(const spec::FaultPlace& at) {
  std::vector<DeviceId> out;
  for (const spec::NodeSpec* node : spec::nodes_at(lab_.spec(), at))
    if (const DeviceId id = lab_.device(node->name).id(); devices_.insert(id).second) out.push_back(id);
  return out;
}

std::vector<PortRef> StateChanges::link_ends(const spec::FaultPlace& at) {
  std::vector<PortRef> out;
  for (const PortRef port : ports(at)) {
    const PortRef peer = lab_.fabric().peer(port);
    if (links_.insert(std::min(port, peer)).second) out.insert(out.end(), {port, peer});
  }
  return out;
}

std::vector<PortRef> StateChanges::senders(const spec::FaultPlace& at) {
  std::vector<PortRef> out;
  for (const spec::PortName& name : spec::ports_at(lab_.spec(), at)) {
    const PortRef port = lab_.port(name);
    if (at.direction != Direction::kIn && senders_.insert(port).second) out.push_back(port);
    const PortRef peer = lab_.fabric().peer(port);
    if (at.direction != Direction::kOut && senders_.insert(peer).second) out.push_back(peer);
  }
  return out;
}

void StateChanges::take_down(PortRef end) {
  Device& d = lab_.fabric()[end.device];
  add(
      end.device, [&d, end](Instant now) { d.begin_down(now, end.port); },
      [&d, end](Instant now) { d.end_down(now, end.port); });
  counts(end, DropReason::kLinkDown);
  touches(end.device).with_link = true;
}

std::vector<PortRef> senders_of(build::BuiltLab& lab, const spec::FaultSpec& fault) {
  StateChanges places(lab, fault, 0, Duration{});
  std::vector<PortRef> all;
  for (const spec::FaultPlace& place : fault.on) {
    const std::vector<PortRef> there = places.senders(place);
    all.insert(all.end(), there.begin(), there.end());
  }
  return all;
}

std::vector<std::shared_ptr<StateFault>> state_faults(build::BuiltLab& lab, const spec::FaultSpec& fault,
                                                      std::uint32_t id, const ActivityConfig& when, Duration window) {
  StateChanges changes(lab, fault, id, window);
  for (const spec::FaultPlace& place : fault.on)
    std::visit(
        [&]<class A>(const A& action) {
          if constexpr (requires { &A::change; }) action.change(changes, place);
        },
        fault.action);
  std::vector<std::shared_ptr<StateFault>> out;
  for (auto& [device, share] : changes.take())
    out.push_back(std::make_shared<StateFault>(
        lab.fabric()[device], Activity(when, RngStream(lab.spec().run.seed, fmt::format("fault/{}/when", fault.name))),
        std::move(share.changes), std::move(share.touches)));
  if (out.empty())
    throw spec::SpecError({}, fmt::format("fault {}: no class there marks CE; expected a named class, such as {}/3",
                                          fault.name, spec::format(fault.on.front())));
  return out;
}

}  // namespace railyard::fault
