#include "control/daemon/live_lab.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/build/changes.h"
#include "control/daemon/attachment_kind.h"
#include "control/daemon/credit_ports.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/pauses.h"
#include "control/daemon/turn.h"
#include "control/lab/version.h"
#include "control/report/collective_json.h"
#include "control/report/flow_json.h"
#include "control/report/flow_text.h"
#include "control/report/html/page.h"
#include "control/report/roce_text.h"
#include "control/spec/difference.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "dataplane/base/drop_reason.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

double seconds_of(const Counter& ps) { return static_cast<double>(ps.read()) / 1e12; }

}  // namespace

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
               [this](std::string what, auto change) { return wait(ask(std::move(what), std::move(change))); }) {}

json LiveLab::about() const {
  const spec::Lab& spec = session_.lab().spec();
  std::size_t switches = 0;
  std::size_t trunks = 0;
  for (const spec::NodeSpec& n : spec.nodes) {
    switches += n.kind == spec::NodeSpec::Kind::kSwitch;
    trunks += n.kind == spec::NodeSpec::Kind::kTrunk;
  }
  return {{"name", name_},
          {"version", lab::version()},
          {"pid", ::getpid()},
          {"size",
           {{"switches", switches},
            {"hosts", spec.nodes.size() - switches - trunks},
            {"links", spec.links.size()},
            {"flows", session_.lab().flows().size() + session_.lab().agent_flows().size()},
            {"collectives", spec.collectives.size()}}},
          {"held", live_.requests.held()}};
}

// False: the port's link is a trunk, and its far end is away.
bool LiveLab::trunk_up(PortRef port) const {
  for (const lab::Session::Trunk& t : session_.trunks()) {
    const PortRef end{t.end->id(), PortIndex{0}};
    if (port == end || port == session_.lab().fabric().peer(end))
      return t.end->trunk_counters().state == TrunkSession::State::kUp;
  }
  return true;
}

json LiveLab::trunk_status(const lab::Session::Trunk& t) const {
  const TrunkCounters c = t.end->trunk_counters();
  return {{"name", t.end->name()},
          {"switch_port", session_.lab().peer_name({t.end->id(), PortIndex{0}})},
          {"wire", t.description},
          {"up", c.state == TrunkSession::State::kUp},
          {"state", text(c.state)},
          {"sent", c.sent},
          {"received", c.received},
          {"lost", c.lost},
          {"late", c.late},
          {"lateness_ns",
           {{"p50", c.lateness_p50_ps / 1000}, {"p99", c.lateness_p99_ps / 1000}, {"max", c.lateness_max_ps / 1000}}},
          {"round_trip_ns", c.round_trip_ps / 1000},
          {"discarded", c.discarded},
          {"unconfirmed", c.unconfirmed},
          {"refused", c.wire.refused},
          {"carrier", c.has_carrier},
          {"fragmented", c.wire.fragmented},
          {"incomplete", c.wire.incomplete},
          {"foreign", c.wire.foreign},
          {"overrun", c.wire.overrun},
          {"stale", c.stale},
          {"malformed", c.malformed},
          {"other_version", c.other_version},
          {"clock_jumps", c.clock_jumps},
          {"downs", c.downs}};
}

json LiveLab::port_status(const DeviceCounters& counters, PortRef port) const {
  const PortCounters& c = counters.ports[port.port.index()];
  json out{{"node", counters.name},
           {"port", port.port.value + 1},
           {"peer", session_.lab().peer_name(port)},
           {"rate_bps", session_.lab().rate(port).bps},
           {"up", !down_.contains(port) && trunk_up(port)},
           {"rx", {{"packets", c.rx_packets()}, {"bytes", c.rx_octets()}}},
           {"tx", {{"packets", c.tx_packets()}, {"bytes", c.tx_octets()}}},
           {"lost_on_link", c.lost}};
  std::uint64_t marked = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t not_enabled = 0;
  std::uint64_t depth = 0;
  std::uint64_t max_depth = 0;
  json drops = json::object();
  const auto add_drops = [&drops](const DropCounts& counts) {
    for (std::size_t r = 0; r < kDropReasons; ++r) {
      if (counts[r] == 0) continue;
      json& at = drops[std::string(name(static_cast<DropReason>(r)))];
      at = (at.is_null() ? std::uint64_t{0} : at.get<std::uint64_t>()) + counts[r];
    }
  };
  add_drops(c.drops);
  for (const ClassCounters& k : c.classes) {
    marked += k.ecn_marked;
    sent += k.xoff_sent + k.xon_sent;
    received += k.xoff_received + k.xon_received;
    not_enabled += k.pfc_not_enabled;
    depth += k.depth_octets;
    max_depth += k.max_depth_octets;
    add_drops(k.drops);
  }
  out["ecn_marked"] = marked;
  out["pfc_sent"] = sent;
  out["pfc_received"] = received;
  out["pfc_not_enabled"] = not_enabled;
  out["depth_bytes"] = depth;
  out["max_depth_bytes"] = max_depth;
  out["drops"] = std::move(drops);
  if (c.llr.on)
    out["llr"] = {{"frames", c.llr.frames},
                  {"retries", c.llr.replays},
                  {"mean_late_ns", c.llr.mean_late().ps / 1000},
                  {"most_late_ns", c.llr.most_late.ps / 1000}};
  if (has_credits(session_.lab(), port))
    out["cbfc"] = {{"messages_sent", c.credit_messages_sent}, {"messages_received", c.credit_messages_received}};
  return out;
}

json LiveLab::host_status(const spec::NodeSpec& node) const {
  json nics = json::array();
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const spec::NicSpec& nic = node.nics[i];
    json n{{"port", i + 1}, {"attach", kind_of(nic.attach)}};
    if (nic.address_v4) n["address"] = to_string(*nic.address_v4);
    if (nic.address_v6) n["address6"] = to_string(*nic.address_v6);
    nics.push_back(std::move(n));
  }
  json out{{"name", node.name}, {"nics", std::move(nics)}};
  if (const auto made = hosts_.find(node.name); made != hosts_.end() && made->second.look) {
    const Guests::Look look = made->second.look();
    out["state"] = text(look.state);
    if (look.state == Guests::State::kDown) out["why"] = look.why;
    if (look.state == Guests::State::kUp) out["emulated"] = look.emulated;
  }
  return out;
}

json LiveLab::status() const {
  json out = about();
  out["engine"] = {{"modelled_seconds", seconds_of(live_.reached_ps)},
                   {"wall_seconds", seconds_of(live_.wall_ps)},
                   {"busy_seconds", seconds_of(live_.busy_ps)},
                   {"slip_ns", live_.slip_ps.read() / 1000},
                   {"slips", live_.slips.read()},
                   {"lateness_ns",
                    {{"p50", live_.lateness_p50_ps.read() / 1000},
                     {"p99", live_.lateness_p99_ps.read() / 1000},
                     {"max", live_.lateness_max_ps.read() / 1000}}}};
  out["hosts"] = json::array();
  for (const spec::NodeSpec& node : session_.lab().spec().nodes)
    if (node.kind == spec::NodeSpec::Kind::kHost) out["hosts"].push_back(host_status(node));
  out["ports"] = json::array();
  for (const auto& device : session_.lab().fabric().devices()) {
    const DeviceCounters counters = device->live_counters();
    for (std::size_t p = 0; p < counters.ports.size(); ++p)
      out["ports"].push_back(port_status(counters, {device->id(), PortIndex{static_cast<std::uint16_t>(p)}}));
  }
  out["attachments"] = json::array();
  for (const lab::Session::Attached& a : session_.attached()) {
    const OutsidePortCounters c = a.device->counters();
    const PortAbilities can = a.device->abilities();
    out["attachments"].push_back({{"host", a.host->name()},
                                  {"port", a.port.value + 1},
                                  {"device", a.description},
                                  {"link_up", a.device->link_up()},
                                  {"pfc", text(can.pfc)},
                                  {"largest_frame", can.largest_frame},
                                  {"completes_checksums", can.completes_checksums},
                                  {"received", c.received},
                                  {"sent", c.sent},
                                  {"host_ring_full", c.host_ring_full},
                                  {"no_memory", c.no_memory},
                                  {"not_sent", c.not_sent}});
  }
  out["trunks"] = json::array();
  for (const lab::Session::Trunk& t : session_.trunks()) out["trunks"].push_back(trunk_status(t));
  return out;
}

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

json LiveLab::pauses() {
  const auto out = std::make_shared<json>();
  wait(ask("", [out, this](Engine&, Instant) { *out = daemon::pauses(session_); }));
  return *out;
}

json LiveLab::audit() {
  const auto out = std::make_shared<json>();
  wait(ask("", [out, &lab = session_.lab()](Engine& engine, Instant) {
    engine.settle(engine.reached());
    const report::Report r = report::collect(lab, {});
    *out = {{"balanced", r.audit.balanced},
            {"generated", r.audit.generated},
            {"consumed", r.audit.consumed},
            {"dropped", r.audit.dropped},
            {"lost_on_links", r.audit.lost_on_links},
            {"queued", r.audit.queued},
            {"on_the_wire", r.audit.on_the_wire},
            {"unbalanced", r.audit.unbalanced},
            {"at_seconds", seconds(engine.reached() - Instant{})}};
  }));
  return *out;
}

json LiveLab::collectives() {
  const auto out = std::make_shared<json>();
  wait(ask("", [out, this](Engine&, Instant) {
    *out = agents_ == nullptr ? json{{"agents", json::array()}, {"collectives", json::array()}} : agents_->report();
    std::vector<report::CollectiveReport> all;
    if (agents_ != nullptr) all = agents_->collectives();
    for (const build::Collective& c : session_.lab().collectives()) {
      all.push_back(report::collective_report(session_.lab(), c));
      json as_json = report::collective_json(all.back());
      (*out)["collectives"].push_back(std::move(as_json));
    }
    (*out)["text"] = report::collective_text(all);
  }));
  return *out;
}

json LiveLab::flows() {
  struct All {
    std::vector<report::FlowReport> flows;
    std::vector<report::UetNicReport> uet_nics;
  };
  const auto all = std::make_shared<All>();
  wait(ask("", [all, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    report::Report r = report::collect(session_.lab(), {});
    *all = {std::move(r.flows), std::move(r.uet_nics)};
    if (agents_ != nullptr) std::ranges::move(agents_->flows(), std::back_inserter(all->flows));
  }));
  const spec::BudgetSpec& budgets = session_.lab().spec().run.budgets;
  json out{{"flows", json::array()}, {"uet_nics", json::array()}};
  for (const report::FlowReport& f : all->flows) {
    json as_json = report::flow_json(f, budgets);
    out["flows"].push_back(std::move(as_json));
  }
  for (const report::UetNicReport& n : all->uet_nics) {
    json as_json = report::uet_nic_json(n);
    out["uet_nics"].push_back(std::move(as_json));
  }
  // Of many flows their sums.
  constexpr std::size_t kMostLines = 16;
  std::string text;
  const auto part = [&text](const std::string& of) {
    if (!of.empty()) text += "\n" + of;
  };
  if (!all->flows.empty() && all->flows.size() <= kMostLines) text = report::flow_text(all->flows);
  part(report::roce_text(all->flows));
  part(report::uet_text(all->flows, all->uet_nics));
  out["text"] = std::move(text);
  return out;
}

json LiveLab::report() {
  const auto all = std::make_shared<report::Report>();
  wait(ask("", [all, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    *all = session_.so_far();
    lab::add_stats(all->engine, *live_.stats);
    if (agents_ == nullptr) return;
    std::ranges::move(agents_->flows(), std::back_inserter(all->flows));
    std::ranges::move(agents_->collectives(), std::back_inserter(all->collectives));
  }));
  return {{"report.json", all->json() + "\n"},
          {"report.txt", all->text()},
          {"report.html", report::html(*all, {.lab = &session_.lab().spec()})},
          {"lab.yaml", spec::to_yaml(session_.lab().spec())}};
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
  const spec::NodeSpec& node = host_named(name);
  json out = host_status(node);
  if (const auto made = hosts_.find(name); made != hosts_.end()) {
    out["kind"] = made->second.kind;
    out["location"] = made->second.location;
  } else {
    out["kind"] = kind_of(node.nics[0].attach);
  }
  return out;
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

json LiveLab::again(const std::string& name) {
  if (agents_ == nullptr) throw ApiError(409, "the lab has no agents; expected a collective or flow with agents");
  const auto what = std::make_shared<std::string>();
  try {
    wait(ask("again " + name, [what, name, this](Engine&, Instant at) { *what = agents_->again(at, name); }));
  } catch (const agents::NotAgain& not_again) {
    throw ApiError(409, not_again.what());
  }
  return {{"name", name}, {"what", *what}};
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
  Asked asked = ask(fmt::format("link {} {}", name, up ? "up" : "down"), [=](Engine& engine, Instant now) {
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
  for (const spec::Difference& d : changes->differences())
    out["changes"].push_back({{"path", d.path}, {"from", d.from}, {"to", d.to}});
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
