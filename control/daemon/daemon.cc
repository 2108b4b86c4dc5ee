#include "control/daemon/daemon.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/agents/agent_hosts.h"
#include "control/agents/agent_server.h"
#include "control/api/http_client.h"
#include "control/api/http_server.h"
#include "control/daemon/applications.h"
#include "control/daemon/cleanup.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/daemon/made_hosts.h"
#include "control/daemon/routes.h"
#include "control/daemon/speakers.h"
#include "control/daemon/watch.h"
#include "control/daemon/web_server.h"
#include "control/lab/session.h"
#include "control/lab/version.h"
#include "control/spec/load.h"

namespace railyard::daemon {
namespace {

// A daemon that was killed holds its lab until the kernel has closed all it had open: for that we wait, and not for one
// that answers. One that comes up just now does not yet.
void wait_for_a_killed_one(const LabDir& dir, const std::atomic<bool>& stop) {
  for (int i = 0; i < 100 && dir.running() && !stop; ++i) {
    try {
      api::ask(dir.socket(), {"GET", "/lab", nullptr});
      return;
    } catch (const api::Unreachable&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } catch (const api::ApiError&) {
      return;
    }
  }
}

// The directory of a lab, from when it is this process's until it is gone again; without what a killed one has left.
class Hold {
 public:
  explicit Hold(const LabDir& dir) : dir_(dir), lock_(dir) {
    const std::vector<std::string> left = remove_leftovers(dir);
    if (!left.empty())
      throw std::runtime_error(fmt::format("cannot remove an earlier lab '{}': {}", dir.name(), fmt::join(left, "; ")));
  }
  // What could not be removed is still in the journal, for the next to try.
  ~Hold() {
    if (!std::filesystem::exists(dir_.journal())) dir_.remove();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  const LabDir& dir_;
  LabLock lock_;
};

// A lab that stays up is live, and has no end but one that was asked for.
Settings live_settings(const DaemonConfig& config) {
  std::vector<std::string> overrides{"run.clock=wall"};
  overrides.insert(overrides.end(), config.overrides.begin(), config.overrides.end());
  Settings settings(spec::read_file(config.spec_file, spec::kMostSpecOctets), config.spec_file, std::move(overrides),
                    config.site);
  const bool asked_for = std::ranges::any_of(
      config.overrides, [](const std::string& assignment) { return assignment.starts_with("run.duration="); });
  if (settings.lab().run.duration && !asked_for) settings = settings.with({"run.duration="});
  return settings;
}

bool has_agents(const spec::Lab& lab) {
  return std::ranges::any_of(lab.nodes, [](const spec::NodeSpec& node) { return node.agent.has_value(); });
}

// 128 bits that nobody can guess.
std::string drawn_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

agents::AgentHosts::Config agents_of(const spec::Lab& lab, const std::string& name, WallClockLive& live, Log& log) {
  agents::AgentHosts::Config c{.lab = name, .version = lab::version()};
  for (const spec::NodeSpec& node : lab.nodes)
    if (node.agent) c.tokens[node.name] = node.agent->token.empty() ? drawn_token() : node.agent->token;
  c.post = [&live](std::function<void(Instant)> change) {
    return live.requests.post([change = std::move(change)](Engine& engine, Instant at) {
      change(at);
      engine.wake_all();
    });
  };
  c.log = [&log](const std::string& line) { log.line(line); };
  return c;
}

}  // namespace

void run_daemon(const DaemonConfig& config, std::atomic<bool>& stop,
                const std::function<void(const std::string& name)>& ready) {
  const std::optional<api::TlsFiles> tls = tls_said(config.tls_certificate, config.tls_key);
  const auto metrics = endpoint_said("--metrics", config.metrics, 9420, tls.has_value());
  const auto listen = endpoint_said("--listen", config.listen, 8421, tls.has_value());
  const Settings settings = live_settings(config);
  spec::Lab spec = settings.lab();

  const LabDir dir(config.name.empty() ? spec.name : config.name);
  wait_for_a_killed_one(dir, stop);
  const Hold hold(dir);
  Log log(dir.log(), config.log_level);
  log.line(fmt::format("lab '{}' from {}", dir.name(), config.spec_file));

  Speakers speakers(spec, dir, log);
  // Before the ports, which open what is made here; gone after them.
  MadeHosts made(spec, dir, log);
  speakers.set_up(made.journal());
  Applications applications(spec, dir, log);
  applications.set_up();
  lab::SessionOptions options;
  options.spec_file = config.spec_file;
  options.interfaces = made.interfaces();
  options.interfaces.merge(applications.interfaces());
  options.speakers = speakers.interfaces();
  lab::Session session(std::move(spec), std::move(options));
  for (const lab::Session::Attached& a : session.attached()) {
    const PortAbilities can = a.device->abilities();
    log.line(fmt::format("{}:{} {}: frames up to {} octets; PFC frames: {}; checksums left to the NIC are {}",
                         a.host->name(), a.port.value + 1, a.description, can.largest_frame, text(can.pfc),
                         can.completes_checksums ? "completed" : "passed on as they are"));
  }
  WallClockLive live;
  LiveLab lab(dir.name(), session, live, log);
  lab.probes().keep(dir.probes(), log);
  made.tell(lab);
  speakers.tell(lab);
  applications.tell(lab);
  lab.hosts_are_made_by(made);
  lab.made_of(settings);
  lab.when_set([&made](const spec::Lab& now) { made.follow(now); });
  agents::AgentHosts agents(session.lab(), agents_of(session.lab().spec(), dir.name(), live, log));
  if (has_agents(session.lab().spec())) lab.agents_are(agents);
  const auto down = [&] {
    stop = true;
    live.requests.wake();
  };
  {
    std::mutex one_at_a_time;  // of those who look at the lab
    // Before the servers, whose streams it feeds.
    Watch watch(session, live, log);
    lab.watched_by(watch);
    // Who asks the API goes first.
    const auto unless_busy = [&](auto look) -> Watch::Look {
      return [&one_at_a_time, look]() -> std::optional<nlohmann::json> {
        const std::unique_lock lock(one_at_a_time, std::try_to_lock);
        if (!lock.owns_lock()) return std::nullopt;
        return look();
      };
    };
    watch.start(unless_busy([&lab] { return lab.state(); }), unless_busy([&lab] { return lab.pauses(); }));
    std::optional<WebServer> web;
    const bool tls_metrics = metrics && !metrics->address.is_loopback();
    const std::string token = api::drawn_secret();
    if (listen || tls_metrics) keep_token(dir.token(), token);
    if (listen) {
      web.emplace(WebServerConfig{.listen = *listen, .tls = tls, .page = config.page, .token = token},
                  [&](const api::Request& request) {
                    const std::scoped_lock lock(one_at_a_time);
                    return route(lab, down, request);
                  });
      lab.shown_at([&web, token_file = dir.token()] {
        return nlohmann::json{{"link", web->new_link()}, {"listens", web->authority()}, {"token_file", token_file}};
      });
      log.line(fmt::format("listening at {}://{}", web->scheme(), web->authority()));
    }
    api::HttpServer server({.socket = dir.socket()}, [&](const api::Request& request) {
      const std::scoped_lock lock(one_at_a_time);
      return route(lab, down, request);
    });
    std::optional<api::HttpServer> for_metrics;
    const api::Guard metrics_guard(config.metrics, token, true);
    if (metrics) {
      api::HttpServerConfig c{.socket = {}, .tcp = metrics};
      if (tls_metrics) {
        c.tls = tls;
        c.admit = [&metrics_guard](const api::Request& request) -> std::optional<api::Response> {
          metrics_guard.check_known(request);
          return std::nullopt;
        };
      }
      for_metrics.emplace(c, [&](const api::Request& request) {
        const std::scoped_lock lock(one_at_a_time);
        return public_route(lab, request);
      });
    }
    std::optional<agents::AgentServer> for_agents;
    if (has_agents(session.lab().spec()))
      for_agents.emplace(agents::AgentServerConfig{.socket = dir.agents_socket(),
                                                   .listen = session.lab().spec().run.agents,
                                                   .log = [&log](const std::string& line) { log.line(line); }},
                         agents);
    const Speakers::Running following = speakers.start(made.journal(), session, live);
    const Applications::Running serving = applications.start(session, live);
    const auto guest_links = made.follow_links(session, watch);
    made.boot(stop);
    if (stop) throw std::runtime_error(fmt::format("lab '{}' was stopped before it had started", dir.name()));
    log.line("up");
    log.to_stderr(config.log_to_stderr);
    session.bind_workers();
    ready(dir.name());
    session.run(stop, &live);
    watch.farewell("The lab was stopped.");
    for (const std::string& error : session.unwritten()) log.warning(error);
  }
  log.line("down");
}

}  // namespace railyard::daemon
