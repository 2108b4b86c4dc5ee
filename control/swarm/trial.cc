#include "control/swarm/trial.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/fault/faults.h"
#include "control/report/failures.h"
#include "control/report/judge.h"
#include "control/report/report.h"
#include "control/rerouting/route_updates.h"
#include "control/routing/buffer_cycles.h"
#include "control/spec/load.h"
#include "control/spec/pcie.h"
#include "control/spec/value.h"
#include "control/swarm/figure_promises.h"
#include "control/swarm/int_promises.h"
#include "control/swarm/promises.h"
#include "control/swarm/reach.h"
#include "control/swarm/routing_promises.h"
#include "control/swarm/transport_promises.h"
#include "control/telemetry/deadlock.h"
#include "dataplane/run/virtual_clock.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::swarm {
namespace {

constexpr std::int64_t kLooks = 8;              // while there is traffic
constexpr Duration kReaction{30'000'000};       // 30 us: cable, responses, frames under way
constexpr Duration kDrainStep{1'000'000'000};   // 1 ms
constexpr std::uint64_t kMostHops = 4'000'000;  // of a lab that aims at 80,000: what goes on then does so for ever
constexpr Duration kDeadlock{200'000'000};      // 200 us
constexpr std::int64_t kMostPaused = 65535;

// For how long an XOFF that was lost or forgotten may be missed: until it is said again.
Duration longest_refresh(const spec::Lab& lab) {
  Duration longest{};
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b}) {
      const spec::NodeSpec& n = *lab.find(end.node);
      const int quanta = n.kind == spec::NodeSpec::Kind::kSwitch ? lab.switches.at(n.profile).pause_quanta
                                                                 : lab.hosts.at(n.profile).pause_quanta;
      longest = std::max(longest, Bytes{64} / l.rate * std::min<std::int64_t>(quanta, kMostPaused) / 2);
    }
  return longest;
}

// How long after the last fault its consequences may still be seen.
Duration aftermath(const spec::Lab& lab, const Reach& reach) {
  Duration time = kReaction + 2 * reach.longest_delay();
  if (reach.anywhere({spec::FaultEffect::kLosesPauseState})) time += longest_refresh(lab);
  time += longest_convergence(lab);
  if (reach.anywhere({spec::FaultEffect::kSlowsLink}))
    time += 10 * longest_refresh(lab) + 10 * kReaction;  // at a tenth of the rate
  return time;
}

std::set<std::string> features_of(const spec::Lab& lab, bool cycle) {
  std::set<std::string> out;
  if (cycle) out.insert("buffer cycle");
  if (lab.run.in_band) out.insert("in-band telem.");
  if (lab.routing.protocol == spec::RoutingProtocol::kBgp) out.insert("bgp");
  if (lab.routing.protocol == spec::RoutingProtocol::kInstant) out.insert("routing: instant");
  if (lab.routing.bfd) out.insert("BFD");
  if (lab.run.payload == spec::Payload::kReal) out.insert("real payload");
  if (std::ranges::any_of(lab.links, [](const spec::LinkSpec& l) { return l.llr.has_value(); })) out.insert("LLR");
  for (const spec::NodeSpec& n : lab.nodes) {
    if (n.nics.size() > 1) out.insert("several NICs");
    if (!spec::pcie_groups(lab, n).empty()) out.insert("shared PCIe");
    if (n.reduces) out.insert("reducing switch");
    if (n.kind == spec::NodeSpec::Kind::kHost && lab.hosts.at(n.profile).pfc != spec::PfcMode::kAuto)
      out.insert("PFC not by class");
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    if (!n.vlans.empty()) out.insert("VLANs");
    const spec::SwitchProfile& s = lab.switches.at(n.profile);
    if (s.mode == spec::ForwardingMode::kCutThrough) out.insert("cut-through");
    if (s.pfc_watchdog) out.insert("PFC watchdog");
    if (s.ports > 0) out.insert("ASIC profile");
    if (s.headroom_pool > Bytes{}) out.insert("headroom pool");
    for (const spec::TrafficSpec& t : lab.traffic) {
      const spec::TrafficClass& c = lab.qos.at(s.qos).classes[static_cast<std::size_t>(t.dscp) / 8];
      out.insert(std::string(info(c.path.policy).name));
      if (c.path.sampling.on()) out.insert("averaged load");
      if (c.path.global) out.insert("global load balancing");
      out.insert(c.lossless ? "lossless" : "lossy");
      if (c.pfc != spec::PfcMode::kAuto) out.insert("PFC not by class");
      if (c.drop.any()) out.insert("WRED");
      if (lab.qos.at(s.qos).trust == spec::Trust::kPcp) out.insert("trust: pcp");
      if (c.lossless && c.cbfc) out.insert("CBFC");
      if (c.trim) out.insert("trimming");
      if (c.remap_to >= 0) out.insert("class remap");
      if (c.ecn.enabled) out.insert("ECN");
    }
  }
  return out;
}

// By what `railyard check` finds; but paths may become others, and frames get into other classes.
bool may_deadlock(const build::BuiltLab& lab) {
  return lab.spec().routing.protocol != spec::RoutingProtocol::kStatic ||
         std::ranges::any_of(lab.spec().faults,
                             [](const spec::FaultSpec& f) {
                               return spec::has_effect(f, spec::FaultEffect::kChangesClass);
                             }) ||
         !routing::buffer_cycle(lab.graph(), lab.routes()).empty();
}

class Trial {
 public:
  Trial(spec::Lab spec, const EngineVariation& variation, Outcome& outcome)
      : outcome_(outcome),
        lab_(std::move(spec)),
        cycle_(may_deadlock(lab_)),
        engine_(lab_.fabric(), config(variation)),
        updates_(lab_, engine_),
        faults_(lab_, engine_),
        reach_(lab_),
        promises_(lab_, reach_, outcome),
        transports_(lab_, [this](const std::string& rule, const std::string& what) { promises_.broken(rule, what); }),
        routing_(lab_, updates_, [this](const std::string& what) { promises_.broken("routing", what); }) {
    if (lab_.spec().run.in_band)
      int_promises_.emplace(lab_, [this](const std::string& what) { promises_.broken("telemetry", what); });
    engine_.wake_all();
    outcome_.features = features_of(lab_.spec(), cycle_);
  }

  void run() {
    const Duration duration = *lab_.spec().run.duration;
    const Duration faults_end = duration / 100 * kFaultsEnd;
    for (std::int64_t i = 1; duration / kLooks * i < faults_end; ++i) look_at(duration / kLooks * i);
    look_at(faults_end);
    for (const spec::FaultSpec& f : faults_.present())
      faults_.remove(f.name, Instant{} + faults_end, Instant{} + faults_end);
    engine_.wake_all();
    const Duration calm = faults_end + aftermath(lab_.spec(), reach_);
    if (calm < duration) {
      look_at(calm);
      be_calm(calm);
    }
    look_at(duration);
    drain(duration, calm);
    look_at_figures(lab_, engine_.reached(), [this](const std::string& seen) { promises_.broken("figures", seen); });
    count();
  }

  // What the lab did not carry, unless its conditions ask for that.
  void verify() {
    report::Report r = report::collect(lab_, {}, engine_.reached());
    r.faults = faults_.status(engine_.reached());
    report::judge(r, lab_.spec());
    outcome_.unverified = report::failures_text(report::unexpected_failures(r));
  }

 private:
  static EngineConfig config(const EngineVariation& variation) {
    EngineConfig c;
    c.digest = true;
    c.pools.anywhere = true;
    c.variation = variation;
    c.workers = variation.always_parallel ? 2 : 1;
    return c;
  }

  void run_until(Duration t) {
    run_virtual(engine_, Instant{} + t);
    engine_.settle(Instant{} + t);
  }
  void look_at(Duration t) {
    run_until(t);
    reach_.look(faults_, Instant{} + t);
    promises_.look();
    transports_.look();
    routing_.look_at_rest();
    routing_.look_at_sessions(Instant{} + t);
    if (int_promises_) int_promises_->look(promises_.counters());
  }
  // Nothing goes wrong any more; and what goes on for ever ends.
  void be_calm(Duration at) {
    promises_.calm_from_now();
    routing_.look_in_calm();
    if (!lab_.spec().routing.bfd) return;
    for (const auto& d : lab_.fabric().devices()) {
      if (!lab_.is_switch(d->id())) continue;
      Switch& sw = lab_.switch_named(d->name());
      sw.change_at(Instant{} + at, [&sw](Instant) { sw.stop_bfd(); });
    }
    engine_.wake_all();
  }

  // Everything must come to rest, unless buffers wait for each other where they can.
  void drain(Duration from, Duration calm) {
    Duration at = from;
    bool is_calm = calm < from;
    const Duration limit = from + lab_.spec().run.drain;
    while (engine_.next() != Instant::never() && at < limit && hops() < kMostHops) {
      // Transports wait, and nothing happens meanwhile.
      at = std::min(limit, std::max(at + kDrainStep, engine_.next() - Instant{}));
      if (!is_calm && at > calm) {
        at = calm;
        run_until(at);
        promises_.look();
        be_calm(at);
        is_calm = true;
        continue;
      }
      run_until(at);
      if (is_calm) note_quiet(at);
      if (cycle_ && !telemetry::find_deadlocks(telemetry::pause_graph(lab_), kDeadlock).empty()) {
        outcome_.deadlocked = true;
        break;
      }
    }
    engine_.settle(Instant{} + at);
    promises_.look();
    transports_.look();
    if (outcome_.deadlocked) return;
    if (const std::uint64_t n = hops(); n >= kMostHops)
      return promises_.broken("storm", fmt::format("{} packet-hops; packets still move {} after traffic ended", n,
                                                   spec::format(at - from)));
    if (engine_.next() != Instant::never()) still_going_on(at - from);
    promises_.look_at_the_end(engine_.pools().in_use());
    if (engine_.next() == Instant::never()) transports_.look_at_the_end(promises_.lost());
    if (int_promises_ && engine_.pools().in_use() == 0) int_promises_->look_at_the_end(promises_.counters());
  }

  void note_quiet(Duration at) {
    if (!transports_.is_quiet() && transports_.any() && promises_.nothing_queued())
      transports_.quiet_from(Instant{} + at, promises_.lost());
  }

  // Who goes on, long after traffic has ended.
  void still_going_on(Duration after) {
    for (const telemetry::Deadlock& d : telemetry::find_deadlocks(telemetry::pause_graph(lab_), kDeadlock))
      promises_.broken("deadlock", fmt::format("{} queues wait for each other, {} first", d.ring.size(),
                                               telemetry::format(lab_, d.ring.front())));
    std::size_t paused = 0;
    for (const auto& d : lab_.fabric().devices()) {
      for (std::uint16_t p = 0; p < d->ports(); ++p)
        for (std::uint8_t k = 0; k < kPriorities; ++k)
          if (d->paused_since(PortIndex{p}, Priority{k}) != Instant::never()) {
            promises_.broken("pause", fmt::format("{}:{} class {} is still paused {} after traffic ended", d->name(),
                                                  p + 1, k, spec::format(after)));
            ++paused;
          }
    }
    if (paused == 0)
      promises_.broken("drain", fmt::format("events are still pending {} after traffic ended", spec::format(after)));
  }

  std::uint64_t hops() {
    std::uint64_t all = 0;
    for (const DeviceCounters& d : promises_.counters())
      if (lab_.is_switch(lab_.device(d.name).id()))
        for (const PortCounters& p : d.ports) all += p.tx_packets();
    return all;
  }

  void count() {
    outcome_.hops = hops();
    outcome_.kinds = reach_.kinds();
    outcome_.digest = engine_.digest().value();
    transports_.count(outcome_);
    for (const DeviceCounters& d : promises_.counters()) {
      outcome_.drops += d.dropped();
      for (const PortCounters& p : d.ports) {
        outcome_.lost += p.lost;
        for (const ClassCounters& c : p.classes) {
          outcome_.xoffs += c.xoff_sent;
          outcome_.marks += c.ecn_marked;
          outcome_.trims += c.trimmed;
        }
      }
    }
  }

  Outcome& outcome_;
  build::BuiltLab lab_;
  bool cycle_;
  Engine engine_;
  rerouting::RouteUpdates updates_;
  fault::Faults faults_;
  Reach reach_;
  Promises promises_;
  TransportPromises transports_;
  RoutingPromises routing_;
  std::optional<IntPromises> int_promises_;
};

Outcome run_trial(const std::string& yaml, const EngineVariation& variation, bool verifies) {
  Outcome outcome;
  try {
    Trial trial(spec::parse(yaml, "swarm"), variation, outcome);
    trial.run();
    if (verifies) trial.verify();
  } catch (const spec::SpecError& error) {
    outcome.violations.push_back({"spec", error.what()});
  } catch (const RunError& error) {
    outcome.violations.push_back({"run", error.what()});
  }
  return outcome;
}

}  // namespace

Outcome run_trial(const std::string& yaml, const EngineVariation& variation) {
  return run_trial(yaml, variation, false);
}

Outcome try_lab(const std::string& yaml) { return run_trial(yaml, {}, true); }

Outcome try_seed(std::uint64_t seed, const std::set<std::string>& without) {
  constexpr std::uint64_t kEvery = 8;
  constexpr std::uint64_t kInParallel = 64;  // which costs much where each processor has a process already
  const std::string yaml = generate(seed).text(without);
  Outcome outcome = run_trial(yaml);
  if (seed % kEvery == 0 && !outcome.failed()) {
    EngineVariation variation;
    variation.shuffle = variation.slices = Seed{seed};
    variation.always_parallel = seed % kInParallel == 0;
    const Outcome other = run_trial(yaml, variation);
    if (other.digest != outcome.digest || other.failed())
      outcome.violations.push_back({"determinism", "a different result with other time steps and another order"});
  }
  outcome.seed = seed;
  return outcome;
}

}  // namespace railyard::swarm
