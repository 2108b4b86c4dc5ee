#include "control/build/flow_triggers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "dataplane/base/state_archive.h"

namespace railyard::build {
namespace {

// Where a flow is started.
const spec::PortName& starts_at(const Flow& f) { return f.asks_at_source() ? f.plan.source : f.plan.destination; }

}  // namespace

FlowTriggers::FlowTriggers(const spec::Lab& lab, std::vector<Flow>& flows, Fabric& fabric)
    : lab_(lab),
      flows_(flows),
      fabric_(fabric),
      delay_(fabric.window().size),
      fires_(2 * flows.size(), kNone),
      waits_(flows.size(), kNone) {
  for (const auto& d : fabric.devices()) devices_.emplace(d->name(), d->id());
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> numbered;  // by traffic and number
  for (std::size_t t = 0; t < lab.traffic.size(); ++t)
    for (const spec::ListedTrigger& said : lab.traffic[t].triggers) {
      numbered[{t, said.number}] = static_cast<std::uint32_t>(triggers_.size());
      triggers_.push_back({said});
    }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Flow& f = flows_[i];
    const spec::TrafficSpec& t = lab.traffic[f.plan.traffic];
    if (t.triggers.empty()) continue;
    const spec::ListedFlow& said = t.listed[f.plan.index];
    const auto named = [&](std::uint32_t number) { return numbered.at({f.plan.traffic, number}); };
    if (said.trigger != 0) {
      waits_[i] = named(said.trigger);
      triggers_[waits_[i]].targets.push_back(static_cast<std::uint32_t>(i));
      note_place(waits_[i], place_of(starts_at(f)), !f.is_generated());
    }
    if (said.send_done != 0) listen(i, false, named(said.send_done));
    if (said.recv_done != 0) listen(i, true, named(said.recv_done));
  }
  fabric_.between_windows([this] { return act(); });
  fabric_.share_between_windows(this,
                                {[this](StateArchive& a) { give_fired(a); }, [this](StateArchive& a) { take_fired(a); }});
}

std::size_t FlowTriggers::place_of(const spec::PortName& nic) {
  const auto [known, is_new] = place_by_nic_.try_emplace(nic, places_.size());
  if (is_new) {
    Place& place = places_.emplace_back();
    place.all = this;
    place.nic = nic;
  }
  return known->second;
}

void FlowTriggers::note_place(std::uint32_t trigger, std::size_t place, bool messages) {
  Trigger& t = triggers_[trigger];
  if (!t.place) t.place = place;
  // The generator does not look at what has changed before it is asked.
  t.local = t.local && messages && *t.place == place;
}

void FlowTriggers::listen(std::size_t flow, bool received, std::uint32_t trigger) {
  const Flow& f = flows_[flow];
  const std::uint32_t as = token(flow, received);
  fires_[as] = trigger;
  // Who asks for READs is the destination, and the source knows nothing of them.
  const bool at_source = !received && f.asks_at_source();
  if (!at_source && !f.measured())
    throw spec::SpecError(
        lab_.traffic[f.plan.traffic].place,
        fmt::format("flow {}: {} is attached and does not report reception; expected send_done_trigger", f.plan.name,
                    spec::format(f.plan.destination)));
  const std::size_t place = place_of(at_source ? f.plan.source : f.plan.destination);
  note_place(trigger, place, !f.is_generated());
  f.tell(at_source, places_[place], as);
}

void FlowTriggers::on_done(Place& place, Instant now, std::uint32_t token) {
  // A READ's destination is told once, whatever it fires.
  for (const std::uint32_t of : {token & ~1u, token | 1u}) {
    const std::uint32_t trigger = fires_[of];
    if (trigger == kNone || (of != token && flows_[of / 2].asks_at_source())) continue;
    if (!triggers_[trigger].local) {
      place.fired.push_back({now, of});
      any_.store(true, std::memory_order_relaxed);
      continue;
    }
    for (const std::uint32_t flow : fire(triggers_[trigger])) flows_[flow].start_at(now);
  }
}

std::vector<std::uint32_t> FlowTriggers::fire(Trigger& t) {
  ++t.fired;
  std::vector<std::uint32_t> starts;
  const bool all = t.said.kind != spec::ListedTrigger::Kind::kMultishot;
  if (all && t.fired != t.said.count) return starts;
  do {
    if (t.next < t.targets.size()) starts.push_back(t.targets[t.next++]);
  } while (all && t.next < t.targets.size());
  return starts;
}

// In the order of what has happened, however the windows were cut.
bool FlowTriggers::act() {
  if (!any_.load(std::memory_order_relaxed)) [[likely]]
    return false;
  any_.store(false, std::memory_order_relaxed);
  std::vector<Firing> all = std::exchange(elsewhere_, {});
  for (Place& p : places_) {
    all.insert(all.end(), p.fired.begin(), p.fired.end());
    p.fired.clear();
  }
  std::ranges::sort(all, {}, [](const Firing& f) { return std::pair(f.at, f.token); });
  bool any = false;
  for (const Firing& f : all)
    for (const std::uint32_t flow : fire(triggers_[fires_[f.token]])) {
      const spec::PortName& nic = starts_at(flows_[flow]);
      auto& host = dynamic_cast<Host&>(fabric_[devices_.at(nic.node)]);
      const PortIndex port{static_cast<std::uint16_t>(nic.port - 1)};
      if (!host.is_elsewhere()) starting_.fetch_add(1, std::memory_order_relaxed);
      host.change_at(f.at + delay_, [this, flow, &host, port](Instant now) {
        starting_.fetch_sub(1, std::memory_order_relaxed);
        flows_[flow].start_at(now);
        host.endpoint_changed(now, port);
      });
      any = true;
    }
  return any;
}

// All processes act on all of them.
void FlowTriggers::give_fired(StateArchive& archive) {
  std::vector<Firing> all;
  for (const Place& p : places_) all.insert(all.end(), p.fired.begin(), p.fired.end());
  archive(all);
}

void FlowTriggers::take_fired(StateArchive& archive) {
  std::vector<Firing> all;
  archive(all);
  elsewhere_.insert(elsewhere_.end(), all.begin(), all.end());
  if (!all.empty()) any_.store(true, std::memory_order_relaxed);
}

void FlowTriggers::exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& at) {
  for (Trigger& t : triggers_)
    if (t.place && t.local && at(devices_.at(places_[*t.place].nic.node))) archive(t.fired, t.next);
}

std::string FlowTriggers::waits_for(std::size_t flow) const {
  if (waits_[flow] == kNone || flows_[flow].started() != Instant::never()) return {};
  const Trigger& t = triggers_[waits_[flow]];
  const auto place = std::ranges::find(t.targets, static_cast<std::uint32_t>(flow)) - t.targets.begin();
  const auto needed = t.said.kind == spec::ListedTrigger::Kind::kMultishot ? place + 1 : std::ptrdiff_t{t.said.count};
  return fmt::format("trigger {} (fired {} of {} times)", t.said.number, t.fired, needed);
}

}  // namespace railyard::build
