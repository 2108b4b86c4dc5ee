// A lab from its spec to its report: built, run under the clock that the spec asks for, counted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/exposition/workload_metrics.h"
#include "control/fault/faults.h"
#include "control/lab/figure_exchange.h"
#include "control/lab/open_port.h"
#include "control/lab/run_metrics.h"
#include "control/probes/prober.h"
#include "control/probes/rounds.h"
#include "control/rerouting/route_updates.h"
#include "control/report/report.h"
#include "control/spec/spec.h"
#include "control/telemetry/deadlock.h"
#include "control/telemetry/flow_series.h"
#include "control/telemetry/int_collector.h"
#include "control/telemetry/looks.h"
#include "control/telemetry/pause_tree.h"
#include "control/telemetry/port_watch.h"
#include "control/telemetry/queue_series.h"
#include "control/telemetry/traffic_end.h"
#include "control/telemetry/transient_watch.h"
#include "dataplane/capture/capture_tap.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/run/engine.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::lab {

struct CaptureRequest {
  spec::PortName port;
  std::string file;
  CaptureDirection direction = CaptureDirection::kBoth;
};

// A capture that cannot be: there is no such port, or two want the same. The message names it.
class CaptureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SessionOptions {
  std::string spec_file;  // these for the report
  std::string command;
  std::string lab_digest;
  bool digest = false;
  bool profile = false;  // with one worker: what more would bring (Engine::profile)
  std::vector<CaptureRequest> captures;
  Interfaces interfaces;  // behind the NICs of hosts that somebody has made
  Interfaces speakers;    // to be made for the ports of switches, in namespaces that somebody has made
  EngineVariation variation;
  // In the place of the spec's faults: those of a log, at its instants.
  std::optional<std::vector<fault::LoggedFault>> replayed_faults;
  // A time series of all queues, from the start, and one of all flows; an empty file: not that one.
  struct Series {
    std::string file;
    Duration every{};
    std::string flows_file{};
  };
  std::optional<Series> series;
  // Metrics over the time of a virtual run (run_metrics.h).
  struct Metrics {
    std::string file;
    Duration every{};
    std::uint32_t stretch = 1;
  };
  std::optional<Metrics> metrics;
  // Looks for what passes while the lab settles (report/transients.h).
  bool transients = false;
  // Where the records of in-band telemetry go; nothing: they are summed up only.
  std::optional<std::string> int_file;
  // Several processes run the lab, each a part of its devices; all have the same lab and options. Only the first writes
  // files. nullptr: this process runs all of it.
  Peers* peers = nullptr;
  // Told the instant reached now and then, with the one at which traffic ends (Instant::never() if unknown).
  std::function<void(Instant, Instant)> progress;
  // Told when ports to the outside stand and the clock starts.
  std::function<void()> ready;
};

// Adds what the wall clock has measured of a run: lateness, slip, how long it was busy, gaps of the machine.
void add_stats(report::EngineReport& engine, const WallClockStats& stats);

// One run. Starts the EAL if nobody has. Throws spec::SpecError, CaptureError, std::runtime_error or RunError, in each
// case with one clear message and nothing left behind.
class Session {
 public:
  Session(spec::Lab lab, SessionOptions options);
  ~Session();

  build::BuiltLab& lab() noexcept { return *lab_; }
  Engine& engine() noexcept { return *engine_; }
  // Only while the engine rests.
  fault::Faults& faults() noexcept { return *faults_; }
  rerouting::RouteUpdates& routing() noexcept { return *routing_; }
  // Who looks at the lab now and then. Only while the engine rests.
  telemetry::Looks& looks() noexcept { return looks_; }
  // Trains of probes between built-in NICs; and rounds of them, if the file asks for these. Only while the engine rests.
  probes::Prober& prober() noexcept { return *prober_; }
  probes::Rounds* probe_rounds() noexcept { return rounds_.get(); }
  // Trains that go on are taken away: what is behind NICs is about to change.
  void give_up_probes(Instant now);
  // Pauses seen so far. Only while the engine rests.
  const telemetry::DeadlockWatch& deadlocks() const noexcept { return deadlocks_; }
  const telemetry::PauseTreeWatch& pause_trees() const noexcept { return pause_trees_; }

  // In-band telemetry; running if the spec asks for it. start_int() and stop_int() have it fetch what there is now and
  // then. Only while the engine rests. Throw std::runtime_error as it does.
  telemetry::IntCollector& in_band() noexcept { return *int_; }
  void start_int(const spec::IntSpec& what);
  // Its records go to `file` too. Throws std::runtime_error naming `option`: it cannot be written.
  void write_int(const std::string& file, const std::string& option);
  void stop_int();

  // Runs to the end that the spec names: its duration and what is then still on its way, or until everything is done.
  // `stop`, if it becomes true, ends the run early, with the report so far, which says that it was interrupted. `live`,
  // under the wall clock: how others look at the run and ask things of it; it then goes on until `stop`.
  // Of several processes the first one has the report; that of the others is empty.
  report::Report run(const std::atomic<bool>& stop, WallClockLive* live = nullptr);
  // Binds the workers to the processors of run.cores, the calling thread as the first of them; run() does it, too. Throws
  // std::runtime_error: it cannot be. Nothing without run.cores, or under the virtual clock.
  void bind_workers();
  // After run(): captures, series and records of in-band telemetry whose files are not whole, one sentence each with
  // the file and why.
  const std::vector<std::string>& unwritten() const noexcept { return unwritten_; }

  // What has been counted so far, but for the wall clock's stats and in-band telemetry. While run() runs, by
  // the engine's thread between windows, with the engine settled.
  report::Report so_far() { return counted({}); }

  // Flows, collectives, routing and deadlocks in sums. Only while the engine rests, settled at `now`.
  exposition::Workload workload(Instant now);

  // A port to the outside, its counters readable by any thread while the lab runs.
  struct Attached {
    Host* host;
    PortIndex port;
    OutsidePort* device;
    std::string description;
    std::string socket;  // to be removed at the end
  };
  const std::vector<Attached>& attached() const noexcept { return attached_; }

  // While the lab runs, by the thread that reads attached(): opens what is to stand behind a NIC from now on (nothing
  // for a built-in host), to be handed to exchange(). `made`: the interface behind it if somebody has made one. Throws
  // std::runtime_error, and nothing has changed then.
  class Exchange;
  std::shared_ptr<Exchange> prepare_exchange(const spec::PortName& nic, const spec::Attachment& attach,
                                             const Interfaces& made);
  // By the engine's thread, between windows: puts it behind the NIC.
  static void exchange(Exchange& exchange, Instant at);
  // By the thread of prepare_exchange(), once exchange() has been called: what stood there is closed.
  void finish_exchange(Exchange& exchange);

  // A port of a switch whose control plane is outside; its counters are for any thread.
  struct SpeakerPort {
    Switch* device;
    PortIndex port;
    OutsidePort* speaker;
  };
  const std::vector<SpeakerPort>& speaker_ports() const noexcept { return speaker_ports_; }

  // A trunk whose end to the outside stands; its counters are for any thread.
  struct Trunk {
    TrunkEnd* end;
    std::string description;
    std::string socket;  // to be removed at the end
  };
  const std::vector<Trunk>& trunks() const noexcept { return trunks_; }

 private:
  report::Report counted(const report::Snapshot& loaded, Instant now = {});
  report::Report not_the_first();
  void add_cost(report::EngineReport& engine) const;
  void watch_pauses();
  void watch_standstill();
  void watch_ports();
  void watch_ports(Duration every, std::uint64_t looks);
  void watch_warm_up();
  // Counters of all devices at one instant, as far as they have taken them.
  struct Taken {
    report::Snapshot counters;
    std::atomic<std::size_t> devices{0};
    bool is_whole() const noexcept { return devices.load(std::memory_order_relaxed) == counters.size(); }
  };
  std::shared_ptr<Taken> take_at(Instant at);
  void watch_traffic_end(Instant latest);
  void watch_traffic_end_together();
  void stop_bfd_at(Instant at);
  void watch_transients();
  void start_probes(Instant until);
  void run_watched(Instant end, const std::atomic<bool>& stop, const std::function<void(Instant)>& progress);
  void check_captures() const;
  void check_sockets() const;
  void attach_ports();
  void attach_speakers();
  void connect_trunks();
  void attach_captures();
  void open_outputs();
  std::optional<std::string> place_of_capture(PortRef port, const std::string& file);
  void fetch_far_captures();
  void split();
  void end_together(Taken* loaded);
  void start_series();
  void start_metrics();
  void close_files();
  void detach() noexcept;

  SessionOptions options_;
  std::unique_ptr<build::BuiltLab> lab_;
  Parts parts_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<fault::Faults> faults_;
  std::unique_ptr<FigureExchange> figures_;  // of several processes
  std::unique_ptr<rerouting::RouteUpdates> routing_;
  telemetry::Looks looks_;
  std::unique_ptr<probes::Prober> prober_;
  std::unique_ptr<probes::Rounds> rounds_;
  telemetry::DeadlockWatch deadlocks_;
  telemetry::PauseTreeWatch pause_trees_;
  telemetry::PortWatch port_watch_;
  report::Snapshot warm_;   // counters at the end of the warm-up
  report::Snapshot early_;  // ... and at the end of a shorter one, if traffic ends before that
  std::unique_ptr<telemetry::TrafficEnd> traffic_end_;
  std::function<bool()> traffic_may_be_over_;  // of several processes
  std::shared_ptr<Taken> ended_;  // counters when traffic had ended by itself
  std::unique_ptr<telemetry::QueueSeries> series_;
  std::unique_ptr<telemetry::FlowSeries> flow_series_;
  std::unique_ptr<RunMetrics> metrics_;
  std::unique_ptr<telemetry::TransientWatch> transients_;
  std::unique_ptr<telemetry::IntCollector> int_;
  std::vector<std::unique_ptr<CaptureTap>> taps_;
  struct FarCapture {
    std::string file;       // asked for
    std::string temporary;  // where the process that runs the device has written it
    std::size_t process = 0;
  };
  std::vector<FarCapture> far_captures_;
  std::vector<Attached> attached_;
  std::mutex attached_mutex_;  // between the engine's thread and the one that exchanges ports
  std::vector<SpeakerPort> speaker_ports_;
  std::vector<Trunk> trunks_;
  std::vector<std::string> unwritten_;
  bool interrupted_ = false;
  // Queues wait for each other for good, in a run that has no other end.
  struct Standstill {
    static constexpr int kLooks = 10;
    std::uint64_t sent = 0;  // packets, by all devices
    int looks = 0;           // in a row that have found no more
    bool is_over() const noexcept { return looks >= kLooks; }
  } standstill_;
  double cpu_began_ = 0;  // run(): seconds of CPU, and of wall time
  double wall_began_ = 0;
};

}  // namespace railyard::lab
