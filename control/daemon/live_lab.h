// A lab that is running, for those who look at it and work on it: everything that the API can do.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/agents/agent_hosts.h"
#include "control/api/message.h"
#include "control/build/changes.h"
#include "control/daemon/agent_metrics.h"
#include "control/daemon/application_traffic.h"
#include "control/daemon/captures.h"
#include "control/daemon/faults.h"
#include "control/daemon/host_maker.h"
#include "control/daemon/link_log.h"
#include "control/daemon/log.h"
#include "control/daemon/probes.h"
#include "control/daemon/replays.h"
#include "control/daemon/in_band.h"
#include "control/daemon/series.h"
#include "control/daemon/settings.h"
#include "control/daemon/watch.h"
#include "control/exposition/exposition.h"
#include "control/exposition/workload_metrics.h"
#include "control/lab/session.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

// Of a counter of picoseconds.
inline double seconds_of(const Counter& ps) { return static_cast<double>(ps.read()) / 1e12; }

// Called by one thread, which is not the engine's. Looking reads counters and touches no worker; changes are posted to
// the engine and done between two windows. Throws api::ApiError.
class LiveLab {
 public:
  // All outlive it. `name`: that the lab is up under.
  LiveLab(std::string name, lab::Session& session, WallClockLive& live, Log& log);

  nlohmann::json about() const;
  nlohmann::json status() const;
  // All that is counted, for Prometheus (control/exposition/).
  std::string metrics(exposition::Format format);
  // The books, at one instant: waits for the engine.
  nlohmann::json audit();
  // Who pauses whom, at one instant and so far: see pauses.h.
  nlohmann::json pauses();
  // Collective operations and agents, at one instant: waits for the engine.
  nlohmann::json collectives();
  // Built-in traffic of the file: its rate, and whether it is stopped.
  nlohmann::json traffic() const;
  // Flows, at one instant, those of agents, too: waits for the engine.
  nlohmann::json flows();
  // All that was counted so far, at one instant, as `railyard run` reports at its end: the files of a report, by name.
  // Waits for the engine.
  nlohmann::json report();
  // What the doctor finds in the same figures, as `railyard doctor --json` prints it (doctor/table.h). Waits for the engine.
  nlohmann::json diagnosis();
  // Forwarding tables, of one switch or of all, and how they have changed; and the way of a packet: see
  // rerouting/tables.h. Waits for the engine.
  nlohmann::json routes(const std::string& node);
  nlohmann::json path(const nlohmann::json& body);
  // What routing leads around here; and, at one of several sites, at all other sites.
  nlohmann::json outages();
  nlohmann::json set_outages_elsewhere(const nlohmann::json& body);
  nlohmann::json path_of_flow(const std::string& name);
  // How the agent of a host gets in: socket, token.
  nlohmann::json agent(const std::string& host) const;
  nlohmann::json host(const std::string& name) const;
  // Has a virtual machine booted anew, and does not wait for that: host() tells when it is up.
  nlohmann::json restart(const std::string& name);
  // Has a collective, or a flow with agents, that has ended run again; or what stop() has stopped go on.
  nlohmann::json again(const std::string& name);
  // Until again(): built-in traffic sends no more, its rate becomes one bit a second for each queue pair; a built-in
  // collective begins no iteration any more, and finishes that which goes on.
  nlohmann::json stop(const std::string& name);
  // The link at `port` ("leaf1:3"), by either end. Returns when that takes effect.
  nlohmann::json set_link(const std::string& port, bool up);
  nlohmann::json hold(bool on);
  // Changes what `assignments` ("path=value", as in --set) say, all at one instant, or nothing. Returns what is
  // different and when that takes effect.
  nlohmann::json set(const std::vector<std::string>& assignments);
  // Puts something else behind a host's NICs ("h1": all of it, "h1:2": one NIC). `attach`: as in the file, as JSON, or
  // "built-in". Returns when that takes effect.
  nlohmann::json attach(const std::string& to, const nlohmann::json& attach);
  // What can be set, by path, with its present value: `path` and all below it; empty: everything.
  nlohmann::json settings(const std::string& path) const;

  // Where the nodes are in the picture of the lab; `folding`: "readable" or "none" (layout.h).
  nlohmann::json layout(const std::string& folding) const;
  // What a page needs for its first picture: layout, the last sample, and what has happened. Asks nothing of the engine.
  nlohmann::json overview(const std::string& folding) const;
  // Watch::news(), and how the clocks at the other ends of `trunks` stand to this one: what the front of a lab over several
  // sites asks for. Asks nothing of the engine.
  nlohmann::json news(std::uint64_t seen, std::uint64_t state) const;
  // Faults with what they touch (layout.h), hosts, and how far built-in collectives are: for those who watch.
  nlohmann::json state();
  // The JSON schema of fabric files, faults among them.
  static nlohmann::json schema();
  // A new link to the page. ApiError: 409 where the lab does not listen.
  nlohmann::json web() const;

  // All that faults did, one JSON text each (fault/fault_log.h); with `links`, and links that were taken down by hand.
  nlohmann::json fault_log(bool links) const;

  // Throws ApiError: there is no such port, or no link at it.
  PortRef port_named(const std::string& text) const;
  Captures& captures() noexcept { return captures_; }
  Replays& replays() noexcept { return replays_; }
  LiveFaults& faults() noexcept { return faults_; }
  LiveSeries& series() noexcept { return series_; }
  LiveInt& in_band() noexcept { return in_band_; }
  LiveProbes& probes() noexcept { return probes_; }

  // Throws ApiError (503) where nobody watches.
  Watch& watch() const;
  // Something was changed: those who watch are told soon.
  void note_change() const {
    if (watch_ != nullptr) watch_->look_soon();
  }
  void watched_by(Watch& watch) noexcept { watch_ = &watch; }
  // Those who look are told that nothing can be changed.
  void is_read_only(bool on) noexcept { read_only_ = on; }
  // Where the page of the lab is: makes a link to it.
  void shown_at(std::function<nlohmann::json()> link) { link_ = std::move(link); }

  // What the session's lab was made of; until then nothing can be set.
  void made_of(Settings settings) { made_of_ = std::move(settings); }
  // Calls `follow` with the lab as it is now after each setting, so that what is outside the fabric can follow.
  void when_set(std::function<void(const spec::Lab&)> follow) { follow_ = std::move(follow); }
  // Programs of hosts with `attach: application`.
  void applications_are(std::shared_ptr<const ApplicationTraffic> traffic) { applications_ = std::move(traffic); }
  void add_host(const std::string& name, MadeHost host) { hosts_[name] = std::move(host); }
  // Whose ranks some collectives wait for.
  void agents_are(agents::AgentHosts& agents) { agents_ = &agents; }
  // Who makes and removes namespaces while the lab is up.
  void hosts_are_made_by(HostMaker& maker) { maker_ = &maker; }

 private:
  static constexpr std::chrono::seconds kPatience{5};  // with the engine

  // By number of the flow.
  nlohmann::json stop_traffic(const std::string& name);
  nlohmann::json stop_collective(const build::Collective& collective);
  nlohmann::json start_collective(const build::Collective& collective);
  // How far each built-in one is, in a few words: waits for the engine.
  nlohmann::json collective_states();
  // nullptr: none that is built in is called so.
  const build::Collective* built_in_collective(const std::string& name) const;
  using FlowRates = std::vector<std::pair<std::size_t, BitRate>>;
  Instant set_rates(const std::string& what, const FlowRates& rates);

  // Of programs' agents, too. Waits for the engine.
  std::shared_ptr<const report::Report> counted_so_far();

  // Something that the engine was asked to do.
  struct Asked {
    std::string what;
    double seconds;  // of simulated time, when it was asked, to a quarter of a second
    std::future<Instant> result;
  };
  Asked ask(std::string what, std::function<void(Engine&, Instant)> change) const;
  // What makes the lab as it is the one that `settings` say.
  std::shared_ptr<build::Changes> changes_to(const Settings& settings) const;
  // Until it is done; the instant at which it took effect.
  Instant wait(Asked asked) const;
  nlohmann::json port_status(const DeviceCounters& counters, PortRef port) const;
  bool trunk_up(PortRef port) const;
  exposition::Workload workload();
  nlohmann::json trunk_status(const lab::Session::Trunk& trunk) const;
  nlohmann::json host_status(const spec::NodeSpec& node) const;
  nlohmann::json speaker(const spec::NodeSpec& node) const;
  const spec::NodeSpec& host_named(const std::string& name) const;

  std::string name_;
  lab::Session& session_;
  WallClockLive& live_;
  Log& log_;
  std::map<std::string, MadeHost> hosts_;
  std::set<PortRef> down_;  // both ends
  std::shared_ptr<LinkLog> link_log_ = std::make_shared<LinkLog>();  // shared with changes that are still to come
  Captures captures_;
  std::optional<Settings> made_of_;
  std::set<std::string> stopped_collectives_;
  std::map<std::string, FlowRates> stopped_;  // by traffic: what its rates were
  HostMaker* maker_ = nullptr;
  agents::AgentHosts* agents_ = nullptr;
  std::shared_ptr<const ApplicationTraffic> applications_;
  Watch* watch_ = nullptr;
  bool read_only_ = false;
  std::function<nlohmann::json()> link_;
  std::function<void(const spec::Lab&)> follow_;
  Replays replays_;
  LiveFaults faults_;
  LiveSeries series_;
  LiveInt in_band_;
  LiveProbes probes_;
  // What the engine has counted of workloads, shared with it: it may come to it when nobody waits any more.
  struct Counted {
    std::mutex mutex;
    AgentMetrics of_agents;
    exposition::Workload workload;
    bool is_asked = false;
  };
  std::shared_ptr<Counted> counted_ = std::make_shared<Counted>();
  std::chrono::steady_clock::time_point counted_at_{};
  std::size_t metrics_octets_ = 0;  // about as many as metrics() had last
};

// Of the last repeat that all ranks have completed: the one that was last, and how long after the median. null: there is
// none. While the engine rests.
nlohmann::json slowest_rank(const build::Collective& collective);

}  // namespace railyard::daemon
