// What a live lab says of itself: its state at any instant, and the results so far.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/daemon/attachment_kind.h"
#include "control/daemon/credit_ports.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/pauses.h"
#include "control/doctor/table.h"
#include "control/lab/version.h"
#include "control/report/collective_json.h"
#include "control/report/doctor_text.h"
#include "control/report/flow_json.h"
#include "control/report/flow_text.h"
#include "control/report/html/page.h"
#include "control/report/port_json.h"
#include "control/report/roce_text.h"
#include "control/spec/to_yaml.h"
#include "dataplane/base/drop_reason.h"

namespace railyard::daemon {

using nlohmann::json;

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
          {"delay_ns", t.end->config().terms.delay.ps / 1000},
          {"round_trip_ns", c.round_trip_ps / 1000},
          {"clock_offset_ns", c.clock_offset_ps / 1000},
          {"clock_error_ns", (c.round_trip_ps / 2 + 999) / 1000},
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
  json queues = json::array();
  const auto add_drops = [&drops](const DropCounts& counts) {
    for (std::size_t r = 0; r < kDropReasons; ++r) {
      if (counts[r] == 0) continue;
      json& at = drops[std::string(name(static_cast<DropReason>(r)))];
      at = (at.is_null() ? std::uint64_t{0} : at.get<std::uint64_t>()) + counts[r];
    }
  };
  add_drops(c.drops);
  for (std::size_t i = 0; i < kPriorities; ++i) {
    const ClassCounters& k = c.classes[i];
    std::uint64_t dropped = 0;
    for (const std::uint64_t n : k.drops) dropped += n;
    if ((k.tx_packets | k.max_depth_octets | k.xoff_received | dropped) != 0)
      queues.push_back({{"class", i},
                        {"depth_bytes", k.depth_octets},
                        {"max_depth_bytes", k.max_depth_octets},
                        {"ecn_marked", k.ecn_marked},
                        {"dropped", dropped},
                        {"paused_seconds", seconds(k.paused)}});
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
  for (const lab::Session::SpeakerPort& s : session_.speaker_ports())
    if (s.device->id() == port.device && s.port == port.port) {
      const OutsidePortCounters speaker = s.speaker->counters();
      out["speaker"] = {{"received", speaker.sent}, {"sent", speaker.received}};
    }
  out["drops"] = std::move(drops);
  out["queues"] = std::move(queues);
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
  out["applications"] = applications_ != nullptr ? applications_->status() : json::array();
  out["trunks"] = json::array();
  for (const lab::Session::Trunk& t : session_.trunks()) out["trunks"].push_back(trunk_status(t));
  return out;
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

namespace {

// How long a rank of those that compute has done so, mean, ns; a step that goes on counts whole. Null: none computes.
json mean_computed_ns(const build::Collective& c) {
  double all = 0;
  std::size_t ranks = 0;
  for (const CollectiveRank* rank : c.ranks) {
    if (rank->computed() == Duration{}) continue;
    all += seconds(rank->computed()) * 1e9;
    ++ranks;
  }
  return ranks == 0 ? json(nullptr) : json(all / static_cast<double>(ranks));
}

}  // namespace

json LiveLab::collectives() {
  const auto out = std::make_shared<json>();
  wait(ask("", [out, this](Engine&, Instant now) {
    *out = agents_ == nullptr ? json{{"agents", json::array()}, {"collectives", json::array()}} : agents_->report();
    std::vector<report::CollectiveReport> all;
    if (agents_ != nullptr) all = agents_->collectives();
    for (const build::Collective& c : session_.lab().collectives()) {
      all.push_back(report::collective_report(session_.lab(), c));
      json as_json = report::collective_json(all.back());
      as_json["slowest"] = slowest_rank(c);
      as_json["stopped"] = stopped_collectives_.contains(all.back().name);
      as_json["computed_ns"] = mean_computed_ns(c);
      (*out)["collectives"].push_back(std::move(as_json));
    }
    (*out)["at_seconds"] = seconds(now - Instant{});
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
  json out{{"flows", json::array()}, {"uet_nics", json::array()}, {"traffic", traffic()}};
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

std::shared_ptr<const report::Report> LiveLab::counted_so_far() {
  const auto all = std::make_shared<report::Report>();
  wait(ask("", [all, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    *all = session_.so_far();
    if (live_.stats != nullptr) lab::add_stats(all->engine, *live_.stats);  // of the wall clock
    if (agents_ == nullptr) return;
    std::ranges::move(agents_->flows(), std::back_inserter(all->flows));
    std::ranges::move(agents_->collectives(), std::back_inserter(all->collectives));
  }));
  return all;
}

json LiveLab::diagnosis() {
  const doctor::Case c(counted_so_far()->value(), name_);
  return doctor::json(c, name_, doctor::diagnose(c));
}

json LiveLab::report() {
  const auto all = counted_so_far();
  nlohmann::ordered_json rest = all->value_without_ports();
  std::string text_of_value = report::json_with_ports(rest, all->ports);
  const std::vector<doctor::Found> causes = report::findings(*all, std::move(rest));
  json files{{"report.json", std::move(text_of_value) + "\n"},
             {"report.txt", report::text_of(*all, causes)},
             {"report.html", report::html(*all, {.lab = &session_.lab().spec(), .causes = &causes})},
             {"lab.yaml", spec::to_yaml(session_.lab().spec())}};
  // Programs have reported these themselves: they are no part of the lab's own accounting.
  if (applications_ != nullptr) files["applications.json"] = applications_->status().dump(2) + "\n";
  return files;
}

}  // namespace railyard::daemon
