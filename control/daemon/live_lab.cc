#include "control/daemon/live_lab.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/build/changes.h"
#include "control/daemon/attachment_kind.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/turn.h"
#include "control/spec/difference.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

LiveLab::LiveLab(std::string name, lab::Session& session, WallClockLive& live, Log& log)
    : name_(std::move(name)),
      session_(session),
      live_(live),
      log_(log),
      captures_(LabDir(name_).path(), session, live, log,
                [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }),
      replays_(session,
               [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }),
      faults_(session, [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }),
      series_(session, log,
              [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }),
      in_band_(session,
               [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }),
      probes_(session,
              [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }) {}

LiveLab::Asked LiveLab::ask(std::string what, std::function<void(Engine&, Instant)> change) const {
  // Shared with the engine, which may come to it when nobody waits any more.
  const auto done = std::make_shared<std::promise<Instant>>();
  const bool posted = live_.requests.post([done, change = std::move(change)](Engine& engine, Instant at) {
    try {
      change(engine, at);
      done->set_value(at);
    } catch (...) {
      done->set_exception(std::current_exception());
    }
  });
  if (!posted) throw ApiError(503, "too many pending changes; try again");
  return {std::move(what), seconds_of(live_.reached_ps), done->get_future()};
}

Instant LiveLab::wait(Asked asked) const {
  if (asked.result.wait_for(kPatience) != std::future_status::ready)
    throw ApiError(503, fmt::format("the engine did not apply it within {} s; it is still pending", kPatience.count()));
  const Instant at = asked.result.get();
  if (asked.what.empty()) {
    log_.debug(fmt::format("sampled the lab at {:.12f} s", seconds(at - Instant{})));
    return at;
  }
  log_.line(
      fmt::format("{}: asked at {:.3f} s, in effect at {:.12f} s", asked.what, asked.seconds, seconds(at - Instant{})));
  return at;
}

json LiveLab::agent(const std::string& name) const {
  const spec::NodeSpec& node = host_named(name);
  if (agents_ == nullptr || !node.agent)
    throw ApiError(409, fmt::format("{} has no agent; expected a host with `agent: {{}}` in the fabric file", name));
  return {{"host", name}, {"socket", LabDir(name_).agents_socket()}, {"token", agents_->token(name)}};
}

const spec::NodeSpec& LiveLab::host_named(const std::string& name) const {
  const spec::NodeSpec* node = session_.lab().spec().find(name);
  if (node != nullptr && node->kind == spec::NodeSpec::Kind::kHost) return *node;
  std::vector<std::string> names;
  for (const spec::NodeSpec& n : session_.lab().spec().nodes)
    if (n.kind == spec::NodeSpec::Kind::kHost) names.push_back(n.name);
  throw ApiError(404, fmt::format("lab '{}' has no host '{}'{}", name_, name, spec::did_you_mean(name, names)));
}

json LiveLab::host(const std::string& name) const {
  const spec::NodeSpec* const sw = session_.lab().spec().find(name);
  if (sw != nullptr && sw->kind == spec::NodeSpec::Kind::kSwitch) return speaker(*sw);
  const spec::NodeSpec& node = host_named(name);
  json out = host_status(node);
  if (const auto made = hosts_.find(name); made != hosts_.end()) {
    out["kind"] = made->second.kind;
    out["location"] = made->second.location;
    out["cores"] = session_.lab().spec().run.cores;
  } else {
    out["kind"] = kind_of(node.nics[0].attach);
  }
  return out;
}

// A switch in whose place commands can be run.
json LiveLab::speaker(const spec::NodeSpec& node) const {
  const auto made = hosts_.find(node.name);
  if (made == hosts_.end())
    throw ApiError(409, fmt::format("{} is a switch without a speaker; expected a host, or a switch with `control: frr` "
                                    "or `control: namespace`",
                                    node.name));
  return {{"name", node.name},
          {"kind", made->second.kind},
          {"location", made->second.location},
          {"programs", made->second.programs}};
}

json LiveLab::restart(const std::string& name) {
  const spec::NodeSpec& node = host_named(name);
  const auto made = hosts_.find(name);
  if (made == hosts_.end() || !made->second.restart)
    throw ApiError(409, fmt::format("{} is {}: it cannot be rebooted; expected a host with `attach: vm`", name,
                                    kind_of(node.nics[0].attach)));
  if (!made->second.restart()) throw ApiError(409, fmt::format("{} is already booting", name));
  return host(name);
}

PortRef LiveLab::port_named(const std::string& text) const {
  const auto name = spec::parse_port_name(text);
  if (!name) throw ApiError(400, fmt::format("'{}': {}", text, name.error()));
  try {
    const PortRef port = session_.lab().port(*name);
    if (session_.lab().rate(port) == BitRate{}) throw ApiError(404, fmt::format("there is no link at {}", text));
    return port;
  } catch (const std::out_of_range& unknown) {
    std::vector<std::string> names;
    for (const spec::NodeSpec& n : session_.lab().spec().nodes) names.push_back(n.name);
    const bool known = session_.lab().spec().find(name->node) != nullptr;
    throw ApiError(404,
                   fmt::format("{}: {}{}", text, unknown.what(), known ? "" : spec::did_you_mean(name->node, names)));
  }
}

json LiveLab::set_link(const std::string& port, bool up) {
  const PortRef a = port_named(port);
  const PortRef b = session_.lab().fabric().peer(a);
  const std::string name = fmt::format("{} - {}", port, session_.lab().peer_name(a));
  if (down_.contains(a) != up) throw ApiError(409, fmt::format("link {} is already {}", name, up ? "up" : "down"));
  // By one of its ends, whichever was named.
  const auto name_of = [this](PortRef p) {
    return fmt::format("{}:{}", session_.lab().node_of(p.device).name, p.port.value + 1);
  };
  const std::string logged_as = std::min(name_of(a), name_of(b));
  Asked asked = ask(fmt::format("link {} {}", name, up ? "up" : "down"), [=, log = link_log_](Engine& engine, Instant now) {
    log->add(logged_as, up, now);
    if (up)
      engine.fabric().link_up_at(now, a);
    else
      engine.fabric().link_down_at(now, a);
    engine.wake_all();
  });
  for (const PortRef end : {a, b}) {
    if (up)
      down_.erase(end);
    else
      down_.insert(end);
  }
  const Instant at = wait(std::move(asked));
  return {{"link", name}, {"up", up}, {"effective_seconds", seconds(at - Instant{})}};
}

std::shared_ptr<build::Changes> LiveLab::changes_to(const Settings& settings) const {
  try {
    return std::make_shared<build::Changes>(session_.lab(), settings.lab(), session_.engine().window());
  } catch (const spec::SpecError& error) {
    throw ApiError(400, error.what());
  } catch (const build::NotLive& error) {
    throw ApiError(409, error.what());
  }
}

json LiveLab::set(const std::vector<std::string>& assignments) {
  if (!made_of_) throw ApiError(503, "the lab is still starting: nothing can be set yet");
  if (assignments.empty()) throw ApiError(400, "nothing to set; expected path=value, such as run.duration=1ms");
  Settings settings = made_of_->with(assignments);
  const std::shared_ptr<build::Changes> changes = changes_to(settings);
  json out{{"changes", json::array()}};
  for (const spec::Difference& d : changes->differences()) {
    out["changes"].push_back({{"path", d.path}, {"from", d.from}, {"to", d.to}});
    // Traffic that gets a rate is not stopped any more.
    std::erase_if(stopped_, [&](const auto& s) { return d.path == fmt::format("traffic.{}.rate", s.first); });
  }
  if (!changes->differences().empty()) {
    const auto turn = std::make_shared<Turn>();
    Asked asked = ask(fmt::format("set {}", fmt::join(assignments, " ")),
                      [changes, turn, &lab = session_.lab()](Engine& engine, Instant at) {
                        if (!turn->take()) return;
                        changes->give_to(lab, at);
                        engine.wake_all();
                      });
    if (asked.result.wait_for(kPatience) != std::future_status::ready && turn->take())
      throw ApiError(503,
                     fmt::format("the engine did not apply it within {} s; nothing has changed", kPatience.count()));
    out["effective_seconds"] = seconds(wait(std::move(asked)) - Instant{});
  }
  made_of_ = std::move(settings);
  if (follow_) {
    try {
      follow_(made_of_->lab());
    } catch (const std::exception& error) {
      log_.line(fmt::format("set: the hosts were not updated: {}", error.what()));
      throw ApiError(500, fmt::format("set in the fabric, but the hosts were not updated: {}; set it again to retry",
                                      error.what()));
    }
  }
  return out;
}

json LiveLab::settings(const std::string& path) const {
  const std::vector<spec::Saying> all =
      made_of_ ? made_of_->changeable() : spec::live_sayings(session_.lab().spec());
  json out = json::array();
  for (const spec::Saying& s : all)
    if (path.empty() || s.path == path || s.path.starts_with(path + "."))
      out.push_back({{"path", s.path}, {"value", s.value}});
  if (out.empty()) {
    std::vector<std::string> paths;
    for (const spec::Saying& s : all) paths.push_back(s.path);
    throw ApiError(404,
                   fmt::format("there is no settable key '{}' in a live lab{}", path, spec::did_you_mean(path, paths)));
  }
  return {{"settings", std::move(out)}};
}

json LiveLab::hold(bool on) {
  if (live_.requests.held() == on) throw ApiError(409, on ? "the lab is already paused" : "the lab is not paused");
  live_.requests.hold(on);
  log_.line(on ? "paused" : "resumed");
  return {{"held", on}};
}

}  // namespace railyard::daemon
