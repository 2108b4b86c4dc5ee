#include "control/lab/session.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "control/lab/behind_ports.h"
#include "control/lab/pci_address.h"
#include "control/lab/version.h"
#include "control/report/judge.h"
#include "control/report/lowered_rates.h"
#include "control/spec/telemetry_octets.h"
#include "control/spec/value.h"
#include "control/spec/lab_digest.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/run/eal.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::lab {

namespace {

// User and system time of the process.
double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(u.ru_utime) + of(u.ru_stime);
}

std::uint64_t peak_rss_bytes() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<std::uint64_t>(u.ru_maxrss) * 1024;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Octets of the longest packet: a frame of a link, or of a trunk's port that carries one. Drivers without scattered
// reception want it in one mbuf, behind headroom and their own header.
std::uint32_t longest_packet(const spec::Lab& lab) {
  std::uint32_t mtu = 1500;
  for (const spec::LinkSpec& l : lab.links) mtu = std::max(mtu, static_cast<std::uint32_t>(l.mtu));
  if (spec::telemetry_octets(lab) > 0) mtu += static_cast<std::uint32_t>(PathTelemetry::kMostOctets);
  const bool wraps = std::ranges::any_of(lab.nodes, [](const spec::NodeSpec& node) {
    return node.kind == spec::NodeSpec::Kind::kTrunk && !node.trunk.udp;
  });
  constexpr std::uint32_t kDriversRoom = 128 + 32;  // RTE_PKTMBUF_HEADROOM and more
  return wraps ? whole_trunk_mtu(mtu) + kDriversRoom : mtu + 64;
}

// Packet memory within the spec's ceiling: frames with synthetic payload take half a KiB, real ones room for the MTU.
PoolConfig pools_for(const spec::Lab& lab) {
  const std::int64_t per_worker = lab.run.memory.n / lab.run.workers;
  PoolConfig c;
  c.real_octets = (longest_packet(lab) + 127) / 128 * 128;
  // The memory of a net_af_xdp device is made of pieces of at least 2048 octets (XDP_UMEM_MIN_CHUNK_SIZE).
  if (lab.run.hugepages) c.real_octets = std::max<std::uint32_t>(c.real_octets, 2048);
  c.elided_limit = static_cast<std::uint32_t>(std::clamp<std::int64_t>(per_worker * 8 / 10 / 576, 256, 1 << 26));
  c.real_limit =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(per_worker * 8 / 10 / (c.real_octets + 384), 256, 1 << 24));
  c.anywhere = lab.run.clock == spec::Clock::kVirtual;
  return c;
}

EngineConfig engine_config(const spec::Lab& lab, const SessionOptions& options, const Parts& parts) {
  EngineConfig c;
  c.workers = static_cast<std::size_t>(lab.run.workers);
  c.pools = pools_for(lab);
  c.digest = options.digest;
  c.profile = options.profile;
  c.variation = options.variation;
  c.parts = parts;
  return c;
}

// In virtual time no device of DPDK takes part, and starting the EAL would take most of a short run. Who asks for huge
// pages learns whether the machine has them.
bool needs_eal(const spec::Lab& lab) { return lab.run.clock != spec::Clock::kVirtual || lab.run.hugepages; }

EalConfig eal_config(const spec::Lab& lab) {
  EalConfig c;
  c.memory_mib = static_cast<std::size_t>(lab.run.memory.n >> 20);
  c.huge_pages = lab.run.hugepages;
  for_each_behind(lab, [&](const spec::Attachment& attach, const spec::Place&) {
    if (const auto* dpdk = std::get_if<spec::AttachDpdk>(&attach)) c.pci |= is_pci_address(dpdk->device);
  });
  // Devices that the lab names are taken one by one; all others, bound to a driver or not, are left alone.
  if (c.pci) c.extra = {"-a", "0000:00:00.0"};
  return c;
}

}  // namespace

void add_stats(report::EngineReport& engine, const WallClockStats& stats) {
  engine.lateness_ns = report::Percentiles::of(stats.lateness);
  engine.slip_ns = nanoseconds(stats.slip);
  engine.busy_seconds = seconds(stats.busy);
  engine.gaps = stats.gaps.count();
}

// What can be refused is refused before anything starts; then what may fail outside, and last what leaves traces.
Session::Session(spec::Lab lab, SessionOptions options)
    : options_(std::move(options)),
      lab_(std::make_unique<build::BuiltLab>(std::move(lab), build::Outputs::kLeaveAlone)),
      deadlocks_(lab_->spec().run.deadlock),
      port_watch_(*lab_) {
  report::check_conditions(lab_->spec(), false);
  split();
  check_captures();
  check_sockets();
  if (needs_eal(lab_->spec()) && !eal_started()) start_eal(eal_config(lab_->spec()));
  engine_ = std::make_unique<Engine>(lab_->fabric(), engine_config(lab_->spec(), options_, parts_));
  faults_ = options_.replayed_faults ? std::make_unique<fault::Faults>(*lab_, *engine_, *options_.replayed_faults)
                                     : std::make_unique<fault::Faults>(*lab_, *engine_);
  prober_ = std::make_unique<probes::Prober>(*lab_);
  if (parts_) figures_ = std::make_unique<FigureExchange>(*lab_, *engine_, *faults_, *prober_, port_watch_, parts_);
  routing_ = std::make_unique<rerouting::RouteUpdates>(*lab_, *engine_);
  if (lab_->spec().probe) rounds_ = std::make_unique<probes::Rounds>(*lab_, *prober_);
  engine_->wake_all();
  try {
    attach_ports();
    attach_speakers();
    connect_trunks();
    attach_captures();
    open_outputs();
    start_series();
    start_metrics();
    int_ = std::make_unique<telemetry::IntCollector>(
        *lab_, parts_ ? std::make_unique<telemetry::IntExchange>(parts_, engine_->boundary()->visiting()) : nullptr);
    if (lab_->spec().run.in_band) start_int(*lab_->spec().run.in_band);
    if (options_.int_file) write_int(*options_.int_file, "--int");
  } catch (...) {
    detach();
    throw;
  }
}

Session::~Session() { detach(); }

// Often, so that senders have room for what they sample; under the wall clock not so often that it costs the lab
// anything.
void Session::start_int(const spec::IntSpec& what) {
  const bool wall = lab_->spec().run.clock == spec::Clock::kWall;
  const Duration every = std::max(engine_->window(), wall ? Duration{10'000'000'000} : Duration{100'000'000});
  int_->start(what);
  looks_.add(int_.get(), engine_->reached() + every, every, [this](Instant) { int_->look(); },
             telemetry::Looks::Reads::kNothing);
}

void Session::stop_int() {
  looks_.remove(int_.get());
  int_->stop();
}

// Under the virtual clock: time is cut where somebody looks, which changes nothing. What stands still is looked at
// once.
void Session::run_watched(Instant end, const std::atomic<bool>& stop, const std::function<void(Instant)>& progress) {
  while (looks_.next() < end && !stop.load(std::memory_order_relaxed)) {
    const Instant until = looks_.next();
    run_virtual(*engine_, until, &stop, progress);
    if (stop.load(std::memory_order_relaxed)) break;
    if (figures_ != nullptr) figures_->gather_for(looks_);
    looks_.look(until);
    progress(until);
    // Only the first process has seen everything.
    if (parts_ ? parts_.peers->any(parts_.peers->self() == 0 && standstill_.is_over()) : standstill_.is_over()) return;
    if (engine_->next() == Instant::never()) break;
    looks_.skip_to(engine_->next());
  }
  run_virtual(*engine_, end, &stop, progress);
}

void Session::bind_workers() {
  const spec::RunSpec& run = lab_->spec().run;
  if (run.clock != spec::Clock::kWall || run.cores.empty()) return;
  try {
    engine_->bind_workers(run.cores);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("run.cores: {}", error.what()));
  }
}

report::Report Session::run(const std::atomic<bool>& asked_to_stop, WallClockLive* live) {
  const spec::RunSpec& run = lab_->spec().run;
  if (live == nullptr && !lab_->agent_flows().empty())
    throw std::runtime_error(fmt::format("flow {} has an agent, and agents join live labs only; use `railyard up`",
                                         lab_->agent_flows()[0].plan.name));
  if (live == nullptr && !lab_->agent_collectives().empty())
    throw std::runtime_error(
        fmt::format("collective {} has agents' ranks, and agents join live labs only; use `railyard up`",
                    lab_->spec().collectives[lab_->agent_collectives()[0].spec].name));
  const Instant traffic_end = run.duration ? Instant{} + *run.duration : Instant::never();
  const Instant end = traffic_end + run.drain;
  // Several processes stop together, wherever they are asked to.
  std::atomic<bool> all_stop{false};
  const std::atomic<bool>& stop = parts_ ? all_stop : asked_to_stop;
  const auto progress = [&](Instant at) {
    if (parts_) all_stop.store(parts_.peers->any(asked_to_stop.load(std::memory_order_relaxed)));
    if (options_.progress) options_.progress(at, traffic_end);
  };
  std::shared_ptr<Taken> loaded;
  if (run.duration) loaded = take_at(traffic_end);
  bind_workers();
  if (options_.ready) options_.ready();
  watch_pauses();
  watch_standstill();
  watch_ports();
  watch_warm_up();
  watch_transients();
  start_probes(traffic_end);
  if (live == nullptr) watch_traffic_end(traffic_end);
  if (live == nullptr && run.duration && lab_->spec().routing.bfd) stop_bfd_at(traffic_end);
  cpu_began_ = cpu_seconds();
  wall_began_ = wall_seconds();
  std::optional<WallClockStats> stats;
  if (run.clock == spec::Clock::kVirtual) {
    run_watched(end, stop, progress);
  } else {
    WallClockConfig config;
    config.scale_numerator = run.scale_numerator;
    config.scale_denominator = run.scale_denominator;
    config.lag_limit = run.lag_limit;
    config.polling = run.polling;
    engine_->after_windows(&looks_, [this] {
      if (engine_->reached() < looks_.next()) [[likely]]
        return;
      engine_->settle(engine_->reached());
      looks_.look(engine_->reached());
    });
    stats = run_wall(*engine_, live != nullptr ? Instant::never() : end, config, stop, progress, Machine::real(), live);
  }
  if (parts_) end_together(loaded.get());
  // A run that was ended early has no counters of its end yet.
  if (ended_ && ended_->is_whole()) loaded = ended_;
  const bool all_taken = loaded && loaded->is_whole();
  // A lab in which nothing is left to do has come to its end all the same.
  const bool stopped = stop.load(std::memory_order_relaxed) || live != nullptr || !run.duration;
  // Under the wall clock a run without a duration has no other end.
  const bool has_end = run.duration || run.clock == spec::Clock::kVirtual;
  interrupted_ = stop.load(std::memory_order_relaxed) && live == nullptr && has_end && engine_->reached() < end &&
                 (run.clock == spec::Clock::kWall || engine_->next() != Instant::never());
  const report::Snapshot none;  // counters of a large lab take gigabytes: they are not copied
  const bool is_first = !parts_ || parts_.peers->self() == 0;
  report::Report r = is_first ? counted(all_taken ? std::as_const(loaded->counters) : none, stopped ? Instant{} : end) : not_the_first();
  if (stats) add_stats(r.engine, *stats);
  if (parts_) {
    report::ProcessReport mine;
    mine.cpu_seconds = r.engine.cpu_seconds;
    mine.peak_rss_bytes = r.engine.peak_rss_bytes;
    mine.wait_seconds = parts_.peers->waited_seconds();
    r.engine.processes = figures_->costs(mine);
    r.engine.cpu_seconds = 0;
    for (const report::ProcessReport& p : r.engine.processes) r.engine.cpu_seconds += p.cpu_seconds;
  }
  if (int_->running()) {
    stop_int();
    r.in_band = int_->report();
  }
  if (options_.digest) r.trace_digest = engine_->digest().value();
  if (metrics_ != nullptr) metrics_->look(engine_->reached(), workload(engine_->reached()));
  close_files();
  return r;
}

void Session::add_cost(report::EngineReport& engine) const {
  engine.cpu_seconds = cpu_seconds() - cpu_began_;
  engine.wall_seconds = wall_seconds() - wall_began_;
  engine.peak_rss_bytes = peak_rss_bytes();
}

report::Report Session::counted(const report::Snapshot& loaded, Instant now) {
  const spec::RunSpec& run = lab_->spec().run;
  const bool is_warm = !warm_.empty() && (loaded.empty() || warm_.front().at < loaded.front().at);
  report::Report r = report::collect(*lab_, loaded, now, is_warm ? warm_ : early_);
  r.run = {options_.spec_file,
           lab_->spec().name,
           run.seed.value,
           run.clock == spec::Clock::kVirtual ? "virtual" : "wall",
           version(),
           run.workers,
           run.payload == spec::Payload::kReal ? "real" : "elided",
           run.scale_denominator == 1 ? fmt::format("{}", run.scale_numerator)
                                      : fmt::format("{}/{}", run.scale_numerator, run.scale_denominator),
           options_.command,
           options_.lab_digest.empty() ? spec::lab_digest(lab_->spec()) : options_.lab_digest,
           lab_->spec().diagnosis};
  r.run.interrupted = interrupted_;
  r.deadlocks = deadlocks_.seen();
  r.pause_trees = pause_trees_;
  report::add_port_watch(port_watch_, r.ports);
  r.reroutings = routing_->reroutings();
  r.watched_for_deadlocks = run.deadlock > Duration{};
  r.engine.windows = engine_->windows();
  r.engine.window_ps = engine_->window().ps;
  add_cost(r.engine);
  r.engine.simulated_seconds = seconds(engine_->reached() - Instant{});
  {
    const std::lock_guard lock(attached_mutex_);
    for (const Attached& a : attached_) {
      const OutsidePortCounters c = a.device->counters();
      r.attachments.push_back({a.host->name(), a.port.value + 1, a.description, c.received, c.sent, c.host_ring_full, c.no_memory, c.not_sent});
    }
  }
  for (const Trunk& t : trunks_)
    r.trunks.push_back({t.end->name(), t.description, std::string(text(t.end->trunk_counters().state)), t.end->trunk_counters(),
                        report::Percentiles::of(t.end->lateness())});
  r.faults = faults_->status(engine_->reached());
  report::use_lowered_rates(*lab_, r, faults_->lowered_rates());
  // Of a live lab: what it records, or has recorded.
  if (int_->running()) int_->look();
  if (telemetry::IntReport in_band = int_->report(); in_band.one_in > 0) r.in_band = std::move(in_band);
  if (rounds_ != nullptr) r.probes = report::probe_report(*rounds_);
  if (transients_) r.transients = report::transients(*transients_, r.flows);
  report::judge(r, lab_->spec());
  return r;
}

}  // namespace railyard::lab
