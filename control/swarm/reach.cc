#include "control/swarm/reach.h"

#include <algorithm>
#include <utility>

#include "control/spec/fault_place.h"

namespace railyard::swarm {
namespace {

namespace what = spec::fault;
using Direction = spec::FaultPlace::Direction;

template <class... A>
bool is(const spec::FaultAction& action) {
  return (std::holds_alternative<A>(action) || ...);
}

bool is_of_a_link(const spec::FaultAction& action) {
  return is<what::Down, what::Flap, what::Rate, what::Crash>(action);
}

// Whether it is of some frames only: these others may overtake.
bool picks_frames(const spec::FaultSpec& f) {
  return !f.match.empty() || f.nth != 0 || (f.count != 0 && !f.every && !f.when) || f.probability ||
         std::ranges::any_of(f.on, [](const spec::FaultPlace& p) { return p.traffic_class >= 0; });
}

template <std::size_t... I>
std::vector<std::string> kinds_of(std::index_sequence<I...>) {
  return {kind_of(spec::FaultAction(std::in_place_index<I + 1>))...};  // the first says nothing
}

}  // namespace

std::string kind_of(const spec::FaultAction& action) {
  return is<what::BurstLoss>(action) ? "burst-loss" : spec::word(action);
}

std::vector<std::string> all_kinds() {
  return kinds_of(std::make_index_sequence<std::variant_size_v<spec::FaultAction> - 1>());
}

Reach::Reach(build::BuiltLab& lab) {
  for (const spec::FaultSpec& f : lab.spec().faults) {
    Fault& fault = faults_.emplace_back();
    fault.spec = &f;
    for (const spec::FaultPlace& place : f.on) {
      for (const spec::NodeSpec* n : spec::nodes_at(lab.spec(), place)) fault.devices.insert(lab.device(n->name).id());
      for (const spec::PortName& name : spec::ports_at(lab.spec(), place)) {
        const PortRef port = lab.port(name);
        const PortRef peer = lab.fabric().peer(port);
        fault.ports.insert(port);
        if (is_of_a_link(f.action)) fault.ports.insert(peer);
        if (!spec::acts_on_frames(f.action)) continue;
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

bool Reach::reorders() const {
  return anywhere<what::Down, what::Flap, what::Crash, what::Reorder, what::TrimPackets, what::DscpMap>() ||
         any<what::Delay>([](const Fault& f) { return picks_frames(*f.spec); });
}

std::set<std::string> Reach::kinds() const {
  std::set<std::string> out;
  for (const Fault& f : faults_)
    if (f.acted) out.insert(kind_of(f.spec->action));
  return out;
}

Duration Reach::longest_delay() const {
  Duration longest{};
  for (const Fault& f : faults_) {
    if (const auto* d = std::get_if<what::Delay>(&f.spec->action)) longest = std::max(longest, d->time + d->jitter);
    if (const auto* r = std::get_if<what::Reorder>(&f.spec->action)) longest = std::max(longest, r->within);
  }
  return longest;
}

}  // namespace railyard::swarm
