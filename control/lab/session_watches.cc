// What is looked at while a run goes on: pauses, the end of the warm-up and of traffic, transients.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "control/lab/session.h"
#include "control/spec/warm_up.h"

namespace railyard::lab {

// Pauses: at least twice in the time that makes a deadlock, and under the virtual clock 32 times while there is
// traffic. Under the wall clock not so often that looking costs the lab anything to speak of: a deadlock does not go
// away.
void Session::watch_pauses() {
  constexpr std::int64_t kLooks = 32;
  constexpr Duration kLeastLive{10'000'000'000};
  const spec::RunSpec& run = lab_->spec().run;
  if (run.deadlock <= Duration{}) return;
  Duration step = run.deadlock / 2;
  if (run.clock == spec::Clock::kWall)
    step = std::max(step, kLeastLive);
  else if (run.duration)
    step = std::min(step, *run.duration / kLooks);
  step = std::max(step, engine_->window());
  looks_.add(&pause_trees_, Instant{} + step, step, [this](Instant) {
    const telemetry::PauseGraph graph = telemetry::pause_graph(*lab_);
    deadlocks_.look(*lab_, graph);
    // Shares of looks are of those while there is traffic.
    if (!ended_) pause_trees_.look(*lab_, graph);
  }, telemetry::Looks::Reads::kPauses);
}

// A run without a duration ends when nothing is left to do. In a deadlock that nothing resolves pauses are repeated for
// good: such a run ends when no device has sent anything but pauses for ten looks.
void Session::watch_standstill() {
  constexpr Duration kEvery{1'000'000'000'000};
  const spec::RunSpec& run = lab_->spec().run;
  if (run.clock == spec::Clock::kWall || run.duration || run.deadlock <= Duration{}) return;
  looks_.add(&standstill_, Instant{} + kEvery, kEvery, [this](Instant) {
    std::uint64_t sent = 0;
    for (const auto& device : lab_->fabric().devices()) {
      const DeviceCounters counters = device->counters();
      for (const PortCounters& p : counters.ports) sent += p.tx_packets();
    }
    const bool waits = std::ranges::any_of(deadlocks_.seen(), [](const auto& d) { return !d.resolved; });
    standstill_.looks = waits && sent == standstill_.sent ? standstill_.looks + 1 : 0;
    standstill_.sent = sent;
  });
}

// Ports: as finely as a short run needs, and half as often each time that the run turns out to be longer. Under the wall
// clock so that looking costs the lab nothing to speak of.
void Session::watch_ports() {
  constexpr std::uint64_t kLooks = 128;  // until the interval doubles
  const bool wall = lab_->spec().run.clock == spec::Clock::kWall;
  const Duration every = std::max(engine_->window(), wall ? Duration{10'000'000'000} : Duration{5'000'000});
  watch_ports(every, wall ? 0 : kLooks);
}

void Session::watch_ports(Duration every, std::uint64_t looks) {
  looks_.add(&port_watch_, engine_->reached() + every, every, [this, every, looks](Instant at) {
    port_watch_.look(at);
    if (looks > 0 && port_watch_.looks() % looks == 0) watch_ports(every * 2, looks);
  }, telemetry::Looks::Reads::kNothing);
}

// Counters at the end of the warm-up, once; where nothing has gone on until then, a little after something does. In a
// run of some length also after the usual time of runs without one: its traffic may end before a tenth of it.
void Session::watch_warm_up() {
  constexpr Duration kUsual{1'000'000'000};
  const spec::RunSpec& run = lab_->spec().run;
  const Duration warm_up = spec::warm_up_of(run);
  const auto watch = [&](report::Snapshot& to, Duration after) {
    looks_.add(&to, Instant{} + after, std::max(after, kUsual), [this, &to](Instant) {
      if (engine_->next() == Instant::never()) return;
      for (const auto& d : lab_->fabric().devices()) to.push_back(d->counters());
      looks_.remove(&to);
    });
  };
  watch(warm_, warm_up);
  if (!run.budgets.warm_up && warm_up > kUsual) watch(early_, kUsual);
}

// Shared with the devices: a run that is ended early leaves the counters to be taken by whoever goes on.
std::shared_ptr<Session::Taken> Session::take_at(Instant at) {
  auto taken = std::make_shared<Taken>();
  taken->counters.resize(lab_->fabric().size());
  for (const auto& d : lab_->fabric().devices())
    d->snapshot_at(at, [taken, id = d->id()](DeviceCounters c) {
      taken->counters[id.index()] = std::move(c);
      taken->devices.fetch_add(1, std::memory_order_relaxed);
    });
  engine_->wake_all();
  return taken;
}

// Counters at the end of traffic, if that comes before `latest`. What a device has seen is known when its window is
// over, and some devices are then at the window's end: the counters are of one window after the end, wherever windows
// are cut.
void Session::watch_traffic_end(Instant latest) {
  traffic_end_ = std::make_unique<telemetry::TrafficEnd>(*lab_);
  if (!traffic_end_->is_known()) return;
  // What is no longer offered from some instant on may leave nothing to do there; windows begin where something is.
  constexpr std::size_t kMostStops = 1000;
  Device& first = *lab_->fabric().devices().front();
  for (const Instant stop : std::span(traffic_end_->stops()).first(std::min(traffic_end_->stops().size(), kMostStops)))
    if (stop < latest) first.change_at(stop, [](Instant) {});
  engine_->wake_all();
  if (parts_) watch_traffic_end_together();
  engine_->after_windows(traffic_end_.get(), [this, latest] {
    if (parts_) {
      if (!traffic_may_be_over_()) return;
      figures_->exchange_traffic();
    }
    const std::optional<Instant> end = traffic_end_->look(engine_->reached());
    if (!end) [[likely]]
      return;
    const Instant at = std::max(*end + engine_->window(), engine_->reached());
    if (at < latest) ended_ = take_at(at);
  });
}

// Its packets never end, and frames in flight are to come to rest.
void Session::stop_bfd_at(Instant at) {
  for (const auto& d : lab_->fabric().devices()) {
    if (!lab_->is_switch(d->id())) continue;
    Switch& sw = lab_->switch_named(d->name());
    sw.change_at(at, [&sw](Instant) { sw.stop_bfd(); });
  }
  engine_->wake_all();
}

// As fine as a round trip is short; under the wall clock so that looking costs the lab nothing to speak of.
void Session::watch_transients() {
  if (!options_.transients) return;
  const bool wall = lab_->spec().run.clock == spec::Clock::kWall;
  const Duration every = std::max(engine_->window(), wall ? Duration{1'000'000'000} : Duration{1'000'000});
  transients_ = std::make_unique<telemetry::TransientWatch>(*lab_, every);
  looks_.add(transients_.get(), Instant{} + every, every, [this](Instant at) { transients_->look(at); });
}

}  // namespace railyard::lab
