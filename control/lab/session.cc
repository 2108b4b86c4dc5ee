#include "control/lab/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/lab/pci_address.h"
#include "control/lab/version.h"
#include "control/report/judge.h"
#include "control/report/lowered_rates.h"
#include "control/spec/addresses.h"
#include "control/spec/spec_error.h"
#include "control/spec/telemetry_octets.h"
#include "control/spec/value.h"
#include "control/spec/lab_digest.h"
#include "dataplane/base/path_telemetry.h"
#include "dataplane/port/tap_port.h"
#include "dataplane/run/eal.h"
#include "dataplane/run/virtual_clock.h"
#include "dataplane/switch/switch.h"

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

// What stands behind each NIC and each trunk, and where that is said.
template <class F>
void for_each_port(const spec::Lab& lab, F&& f) {
  for (const spec::NodeSpec& node : lab.nodes) {
    for (const spec::NicSpec& nic : node.nics) f(nic.attach, nic.place);
    if (node.kind == spec::NodeSpec::Kind::kTrunk) f(node.trunk.attach, node.place);
  }
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

EngineConfig engine_config(const spec::Lab& lab, const SessionOptions& options) {
  EngineConfig c;
  c.workers = static_cast<std::size_t>(lab.run.workers);
  c.pools = pools_for(lab);
  c.digest = options.digest;
  c.variation = options.variation;
  return c;
}

// In virtual time no device of DPDK takes part, and starting the EAL would take most of a short run. Who asks for huge
// pages learns whether the machine has them.
bool needs_eal(const spec::Lab& lab) { return lab.run.clock != spec::Clock::kVirtual || lab.run.hugepages; }

EalConfig eal_config(const spec::Lab& lab) {
  EalConfig c;
  c.memory_mib = static_cast<std::size_t>(lab.run.memory.n >> 20);
  c.huge_pages = lab.run.hugepages;
  for_each_port(lab, [&](const spec::Attachment& attach, const spec::Place&) {
    if (const auto* dpdk = std::get_if<spec::AttachDpdk>(&attach)) c.pci |= is_pci_address(dpdk->device);
  });
  // Devices that the lab names are taken one by one; all others, bound to a driver or not, are left alone.
  if (c.pci) c.extra = {"-a", "0000:00:00.0"};
  return c;
}

void check_socket_free(const spec::Place& place, const char* kind, const std::string& path) {
  constexpr std::size_t kMostSocketPath = 107;  // sun_path, unix(7)
  if (path.size() > kMostSocketPath)
    throw spec::SpecError(place, fmt::format("{}: the socket path has {} characters; expected at most {}", kind,
                                             path.size(), kMostSocketPath));
  struct stat st;
  if (lstat(path.c_str(), &st) == 0)
    throw spec::SpecError(
        place,
        fmt::format("{}: {} exists already. Choose another path, or remove it if no process uses it", kind, path));
  const std::filesystem::path dir = std::filesystem::path(path).parent_path();
  if (!dir.empty() && !std::filesystem::is_directory(dir))
    throw spec::SpecError(place, fmt::format("{}: there is no directory {}", kind, dir.string()));
  if (::access(dir.empty() ? "." : dir.c_str(), W_OK | X_OK) != 0)
    throw spec::SpecError(place, fmt::format("{}: cannot create {}: no permission to write to {}", kind, path,
                                             dir.empty() ? "the working directory" : dir.string()));
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
  check_captures();
  check_sockets();
  if (needs_eal(lab_->spec()) && !eal_started()) start_eal(eal_config(lab_->spec()));
  engine_ = std::make_unique<Engine>(lab_->fabric(), engine_config(lab_->spec(), options_));
  faults_ = options_.replayed_faults ? std::make_unique<fault::Faults>(*lab_, *engine_, *options_.replayed_faults)
                                     : std::make_unique<fault::Faults>(*lab_, *engine_);
  routing_ = std::make_unique<rerouting::RouteUpdates>(*lab_, *engine_);
  prober_ = std::make_unique<probes::Prober>(*lab_);
  if (lab_->spec().probe) rounds_ = std::make_unique<probes::Rounds>(*lab_, *prober_);
  engine_->wake_all();
  try {
    attach_ports();
    attach_speakers();
    connect_trunks();
    attach_captures();
    lab_->open_outputs();
    start_series();
    start_metrics();
    int_ = std::make_unique<telemetry::IntCollector>(*lab_);
    if (lab_->spec().run.in_band) start_int(*lab_->spec().run.in_band);
    if (options_.int_file) write_int(*options_.int_file, "--int");
  } catch (...) {
    detach();
    throw;
  }
}

Session::~Session() { detach(); }

// What comes and what goes; whichever is in it at the end is closed.
class Session::Exchange {
 public:
  Exchange(Host& host, PortIndex port, OpenedPort opened)
      : host_(host), port_(port), device_(opened.port.get()), coming_(std::move(opened)) {}
  ~Exchange() {
    if (coming_.port == nullptr) return;
    coming_.port.reset();
    remove(coming_.socket);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  static void remove(const std::string& socket) {
    std::error_code ignored;
    if (!socket.empty()) std::filesystem::remove(socket, ignored);
  }

 private:
  friend class Session;
  Host& host_;
  PortIndex port_;
  OutsidePort* device_;
  OpenedPort coming_;
  std::unique_ptr<Attachment> gone_;
};

std::shared_ptr<Session::Exchange> Session::prepare_exchange(const spec::PortName& name, const spec::Attachment& attach,
                                                             const Interfaces& made) {
  const PortRef port = lab_->port(name);
  spec::NicSpec nic = lab_->node_of(port.device).nics[port.port.index()];
  // The address that the switch knows goes to an interface that is made.
  if (!nic.mac) nic.mac = spec::automatic_mac(port.device.index(), name.port);
  nic.attach = attach;
  if (const auto* vhost = std::get_if<spec::AttachVhostUser>(&attach); vhost != nullptr && !vhost->is_client)
    check_socket_free({}, "vhost-user", vhost->socket);
  if (const auto* memif = std::get_if<spec::AttachMemif>(&attach); memif != nullptr && !memif->is_client)
    check_socket_free({}, "memif", memif->socket);
  OpenedPort opened =
      open_port(name, nic, static_cast<std::uint32_t>(lab_->mtu(port)), made, engine_->pool_of(port.device), lab_->rate(port));
  return std::make_shared<Exchange>(lab_->host(name.node), port.port, std::move(opened));
}

void Session::exchange(Exchange& e, Instant at) { e.gone_ = e.host_.attach(at, e.port_, std::move(e.coming_.port)); }

void Session::finish_exchange(Exchange& e) {
  std::string socket;
  {
    // The run may be at its end, and its report be about to say what was attached.
    const std::lock_guard lock(attached_mutex_);
    const auto old =
        std::ranges::find_if(attached_, [&](const Attached& a) { return a.host == &e.host_ && a.port == e.port_; });
    if (old != attached_.end()) {
      socket = old->socket;
      attached_.erase(old);
    }
    if (e.device_ != nullptr)
      attached_.push_back({&e.host_, e.port_, e.device_, e.coming_.description, e.coming_.socket});
  }
  e.gone_.reset();
  Exchange::remove(socket);
}

// Ports go before the packets that they receive into.
void Session::detach() noexcept {
  for (Attached& a : attached_) {
    a.host->attach(Instant{}, a.port, nullptr);
    if (!a.socket.empty()) {
      std::error_code ignored;
      std::filesystem::remove(a.socket, ignored);
    }
  }
  attached_.clear();
  for (const SpeakerPort& s : speaker_ports_) s.device->attach_control(s.port, nullptr);
  speaker_ports_.clear();
  for (Trunk& t : trunks_) {
    t.end->connect_outside(nullptr, 1, nullptr);
    Exchange::remove(t.socket);
  }
  trunks_.clear();
}

void Session::check_sockets() const {
  std::set<std::string> sockets;  // of memif, where one may serve several NICs
  for_each_port(lab_->spec(), [&](const spec::Attachment& attach, const spec::Place& place) {
    if (const auto* vhost = std::get_if<spec::AttachVhostUser>(&attach); vhost != nullptr && !vhost->is_client)
      check_socket_free(place, "vhost-user", vhost->socket);
    const auto* memif = std::get_if<spec::AttachMemif>(&attach);
    if (memif != nullptr && !memif->is_client && sockets.insert(memif->socket).second)
      check_socket_free(place, "memif", memif->socket);
  });
}

void Session::attach_ports() {
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      const spec::PortName name{node.name, static_cast<int>(i) + 1};
      const PortRef port = lab_->port(name);
      try {
        OpenedPort opened = open_port(name, nic, static_cast<std::uint32_t>(lab_->mtu(port)), options_.interfaces,
                                      engine_->pool_of(port.device), lab_->rate(port));
        if (opened.port == nullptr) continue;
        Host& host = lab_->host(node.name);
        attached_.push_back({&host, port.port, opened.port.get(), opened.description, opened.socket});
        host.attach(Instant{}, port.port, std::move(opened.port));
      } catch (const std::runtime_error& error) {
        throw spec::SpecError(nic.place, error.what());
      }
    }
  }
}

// An interface for each port that is linked, as front panels of switches have them.
void Session::attach_speakers() {
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    if (!spec::has_speaker(lab_->spec(), node)) continue;
    Switch& device = lab_->switch_named(node.name);
    try {
      for (const routing::Graph::Edge& e : lab_->graph().edges(device.id().index())) {
        const PortRef port{device.id(), e.port};
        const auto made = options_.speakers.find({node.name, e.port.value + 1});
        if (made == options_.speakers.end())
          throw std::runtime_error(fmt::format("{} has a `control`, which needs a live lab; use `railyard up`", node.name));
        TapPortConfig config;
        config.interface = made->second.name;
        config.netns = made->second.netns;
        config.mtu = static_cast<std::uint32_t>(lab_->mtu(port));
        config.mac = spec::automatic_mac(device.id().index(), e.port.value + 1);
        config.up = true;
        config.rate = lab_->rate(port);
        auto tap = std::make_unique<TapPort>(config, engine_->pool_of(device.id()));
        speaker_ports_.push_back({&device, e.port, tap.get()});
        device.attach_control(e.port, std::move(tap));
      }
    } catch (const std::runtime_error& error) {
      throw spec::SpecError(node.place, error.what());
    }
  }
}

// Often, so that senders have room for what they sample; under the wall clock not so often that it costs the lab
// anything.
void Session::start_int(const spec::IntSpec& what) {
  const bool wall = lab_->spec().run.clock == spec::Clock::kWall;
  const Duration every = std::max(engine_->window(), wall ? Duration{10'000'000'000} : Duration{100'000'000});
  int_->start(what);
  looks_.add(int_.get(), engine_->reached() + every, every, [this](Instant) { int_->look(); });
}

void Session::stop_int() {
  looks_.remove(int_.get());
  int_->stop();
}

void Session::connect_trunks() {
  // Later lives have larger numbers, as long as the machine's clock is not set back between them by more than a restart
  // and the timeout take.
  const auto session = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  for (const spec::NodeSpec& node : lab_->spec().nodes) {
    if (node.kind != spec::NodeSpec::Kind::kTrunk) continue;
    try {
      TrunkEnd& end = lab_->trunk(node.name);
      const PortRef port{end.id(), PortIndex{0}};
      OpenedWire opened = open_wire(node, end.config(), session, engine_->pool_of(end.id()));
      trunks_.push_back({&end, std::move(opened.description), std::move(opened.socket)});
      end.connect_outside(std::move(opened.wire), session, [this, port](Instant at, bool up) {
        if (up)
          lab_->fabric().link_up_at(at, port);
        else
          lab_->fabric().link_down_at(at, port);
        engine_->wake_all();
      });
    } catch (const std::runtime_error& error) {
      throw spec::SpecError(node.place, error.what());
    }
  }
}

// Under the virtual clock: time is cut where somebody looks, which changes nothing. What stands still is looked at
// once.
void Session::run_watched(Instant end, const std::atomic<bool>& stop, const std::function<void(Instant)>& progress) {
  while (looks_.next() < end && !stop.load(std::memory_order_relaxed)) {
    const Instant until = looks_.next();
    run_virtual(*engine_, until, &stop, progress);
    if (stop.load(std::memory_order_relaxed)) break;
    looks_.look(until);
    progress(until);
    if (standstill_.is_over()) return;
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

report::Report Session::run(const std::atomic<bool>& stop, WallClockLive* live) {
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
  const auto progress = [&](Instant at) {
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
    config.busy_poll = run.busy_poll;
    engine_->after_windows(&looks_, [this] {
      if (engine_->reached() < looks_.next()) [[likely]]
        return;
      engine_->settle(engine_->reached());
      looks_.look(engine_->reached());
    });
    stats = run_wall(*engine_, live != nullptr ? Instant::never() : end, config, stop, progress, Machine::real(), live);
  }
  // A run that was ended early has no counters of its end yet.
  if (ended_ && ended_->is_whole()) loaded = ended_;
  const bool all_taken = loaded && loaded->is_whole();
  // A lab in which nothing is left to do has come to its end all the same.
  const bool stopped = stop.load(std::memory_order_relaxed) || live != nullptr || !run.duration;
  // Under the wall clock a run without a duration has no other end.
  const bool has_end = run.duration || run.clock == spec::Clock::kVirtual;
  interrupted_ = stop.load(std::memory_order_relaxed) && live == nullptr && has_end && engine_->reached() < end &&
                 (run.clock == spec::Clock::kWall || engine_->next() != Instant::never());
  report::Report r = counted(all_taken ? loaded->counters : report::Snapshot{}, stopped ? Instant{} : end);
  if (stats) add_stats(r.engine, *stats);
  if (int_->running()) {
    stop_int();
    r.in_band = int_->report();
  }
  if (options_.digest) r.trace_digest = engine_->digest().value();
  if (metrics_ != nullptr) metrics_->look(engine_->reached(), workload(engine_->reached()));
  close_files();
  return r;
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
  r.engine.cpu_seconds = cpu_seconds() - cpu_began_;
  r.engine.wall_seconds = wall_seconds() - wall_began_;
  r.engine.simulated_seconds = seconds(engine_->reached() - Instant{});
  r.engine.peak_rss_bytes = peak_rss_bytes();
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
