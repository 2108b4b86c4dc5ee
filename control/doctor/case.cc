#include "control/doctor/case.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "control/doctor/values.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

Drops drops_of(const Json& j) {
  Drops out;
  if (const auto found = j.find("drops"); found != j.end())
    for (const auto& [reason, n] : found->items()) out[reason] = n.get<std::uint64_t>();
  return out;
}

std::optional<std::int64_t> instant(const Json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

ClassCase class_of(const Json& c) {
  return {.rx = count(below(c, "rx"), "packets"),
          .tx = count(below(c, "tx"), "packets"),
          .marked = count(c, "ecn_marked"),
          .trimmed = count(c, "trimmed"),
          .xoff_sent = count(c, "xoff_sent"),
          .xoff_received = count(c, "xoff_received"),
          .pfc_received = count(c, "pfc_received"),
          .pfc_not_enabled = count(c, "pfc_not_enabled"),
          .pause_share = number(c, "pause_share"),
          .paused_ns = count(c, "paused_ns"),
          .deepest = count(c, "max_depth_bytes"),
          .headroom_cells = count(c, "max_headroom_cells"),
          .first_ce = instant(c, "first_ce_ns"),
          .first_xoff = instant(c, "first_xoff_ns"),
          .storms = count(c, "storms_detected"),
          .drops = drops_of(c)};
}

PortCase port_of(const Json& j) {
  PortCase p{.node = j.at("node"),
             .number = j.at("port"),
             .label = text(j, "label"),
             .peer = text(j, "peer"),
             .is_switch = j.value("is_switch", false),
             .rate_bps = number(j, "rate_bps"),
             .slot_bps = number(j, "slot_bps"),
             .propagation_ns = number(j, "propagation_ns"),
             .utilisation = number(j, "utilisation"),
             .link_downs = count(j, "link_downs"),
             .received = count(j, "received"),
             .busy = count(j, "busy_intervals"),
             .slow = count(j, "slow_intervals"),
             .slow_bps = number(j, "slow_bps"),
             .drops = drops_of(j)};
  for (const Json& c : j.at("classes")) {
    const auto k = c.at("class").get<std::size_t>();
    if (k >= p.classes.size()) continue;
    p.classes[k] = class_of(c);
    p.is_switch |= c.contains("max_ingress_cells");  // hosts have no such counter
  }
  return p;
}

std::uint64_t of(const Drops& drops, const std::string& reason) {
  const auto found = drops.find(reason);
  return found == drops.end() ? 0 : found->second;
}

// What NICs count of the flows that begin and end at them.
std::vector<NicCase> nics_of(const Json& flows) {
  constexpr std::pair<const char*, const char*> kAtSource[] = {{"cnp_handled", "rp_cnp_handled"},
                                                               {"cnp_ignored", "rp_cnp_ignored"},
                                                               {"packet_seq_err", "packet_seq_err"},
                                                               {"local_ack_timeout_err", "local_ack_timeout_err"},
                                                               {"rnr_nak_received", "rnr_nak_retry_err"}};
  constexpr std::pair<const char*, const char*> kAtSink[] = {{"ecn_marked", "np_ecn_marked_roce_packets"},
                                                             {"cnp_sent", "np_cnp_sent"},
                                                             {"out_of_sequence", "out_of_sequence"},
                                                             {"out_of_buffer", "out_of_buffer"},
                                                             {"duplicate_request", "duplicate_request"}};
  std::map<std::string, NicCase> all;
  for (const Json& f : flows) {
    const Json& roce = below(f, "roce");
    if (roce.empty()) continue;
    for (const auto& [from, to] : kAtSource) all[source_of(f)].counters[to] += count(roce, from);
    for (const auto& [from, to] : kAtSink) all[sink_of(f)].counters[to] += count(roce, from);
  }
  std::vector<NicCase> out;
  for (auto& [node, nic] : all) {
    nic.node = node;
    out.push_back(std::move(nic));
  }
  return out;
}

}  // namespace

const char* words(Input input) {
  switch (input) {
    case Input::kLinks:
      return "both ends of links";
    case Input::kPorts:
      return "PFC, marks and drops of ports";
    case Input::kPolls:
      return "link failures and ports polled";
    case Input::kDepths:
      return "depths of queues";
    case Input::kFlows:
      return "flows";
    case Input::kNics:
      return "RDMA counters of hosts";
    case Input::kJobs:
      return "collectives and jobs";
    case Input::kRouting:
      return "equal paths and routing";
    case Input::kDeadlocks:
      return "queues that wait for each other";
    case Input::kEngine:
      return "the emulator's own figures";
    case Input::kInt:
      return "in-band telemetry";
    case Input::kProbes:
      return "probes";
    case Input::kPlan:
      return "a plan";
    case Input::kPackets:
      return "packets of a capture";
  }
  return "";
}

std::uint64_t ClassCase::dropped(const std::string& reason) const { return of(drops, reason); }

std::string PortCase::name() const {
  return label.empty() ? fmt::format("{}:{}", node, number) : fmt::format("{}:{}", node, label);
}

std::string PortCase::peer_node() const { return node_of(peer); }

std::string PortCase::link() const {
  if (peer.empty()) return name();
  const bool here = is_switch && (other == nullptr || !other->is_switch || name() < peer);
  return here ? fmt::format("{}-{}", name(), peer) : fmt::format("{}-{}", peer, name());
}

std::string PortCase::direction() const { return fmt::format("{} -> {}", name(), peer); }

std::uint64_t PortCase::rx() const {
  const auto of_classes = std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                                          [](std::uint64_t n, const ClassCase& c) { return n + c.rx; });
  return std::max(of_classes, received);
}

std::uint64_t PortCase::tx() const {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const ClassCase& c) { return n + c.tx; });
}

std::uint64_t PortCase::marked() const {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const ClassCase& c) { return n + c.marked; });
}

std::uint64_t PortCase::deepest() const { return std::ranges::max(classes, {}, &ClassCase::deepest).deepest; }

std::uint64_t PortCase::dropped(const std::string& reason) const {
  return std::accumulate(classes.begin(), classes.end(), of(drops, reason),
                         [&](std::uint64_t n, const ClassCase& c) { return n + c.dropped(reason); });
}

std::uint64_t NicCase::of(const std::string& counter) const {
  const auto found = counters.find(counter);
  return found == counters.end() ? 0 : found->second;
}

Case::Case(nlohmann::ordered_json report, const std::string& file) : Case(std::move(report), std::vector<PortCase>{}, file) {}

Case::Case(nlohmann::ordered_json report, std::vector<PortCase> ports, const std::string& file)
    : report_(std::move(report)), ports_(std::move(ports)) {
  note_inputs(file);
  read(file);
}

void Case::note_inputs(const std::string& file) {
  for (const char* key : {"run", "ports", "flows", "collectives", "path_groups", "deadlocks", "engine"})
    if (!report_.is_object() || !report_.contains(key))
      throw InputError(fmt::format(
          "{}: is no report of this version: it has no '{}'; expected what `railyard run LAB.yaml --json` prints", file,
          key));
  for (int i = 0; i <= static_cast<int>(Input::kEngine); ++i) inputs_.insert(static_cast<Input>(i));
  if (!below(report_, "int").empty()) inputs_.insert(Input::kInt);
  if (!below(report_, "probes").empty()) inputs_.insert(Input::kProbes);
  if (!items(report_, "plan").empty()) inputs_.insert(Input::kPlan);
}

Case::Case(nlohmann::ordered_json report, std::set<Input> inputs, const std::string& name)
    : report_(std::move(report)), inputs_(std::move(inputs)), name_(name) {
  read(name);
}

void Case::read(const std::string& file) {
  try {
    if (const std::string name = text(below(report_, "run"), "name"); !name.empty()) name_ = name;
    for (const Json& p : section("ports")) ports_.push_back(port_of(p));
    nics_ = nics_of(section("flows"));
    for (const Json& n : section("nics")) nics_.push_back({text(n, "node"), n.at("counters")});
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is no report of this version: {}", file, error.what()));
  }
  // Ports that nothing has crossed have no classes to tell by.
  std::set<std::string> switches;
  for (const PortCase& p : ports_)
    if (p.is_switch) switches.insert(p.node);
  for (const Json& g : path_groups()) switches.insert(text(g, "node"));
  for (PortCase& p : ports_) p.is_switch = switches.contains(p.node);
  for (const PortCase& p : ports_) by_name_[p.name()] = &p;
  for (PortCase& p : ports_) p.other = port(p.peer);
}

const nlohmann::ordered_json& Case::section(const char* key) const {
  static const Json none = Json::array();
  const auto found = report_.find(key);
  return found == report_.end() ? none : *found;
}

std::vector<std::string> Case::since() const {
  std::vector<std::string> out;
  for (const Json& line : section("since")) out.push_back(line.get<std::string>());
  return out;
}

double Case::run_ns() const { return number(engine(), "simulated_seconds") * 1e9; }

double Case::load_ns() const { return number(below(report_, "load_interval"), "to_ns"); }

const PortCase* Case::port(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const PortCase* Case::before(const std::string& host) const {
  const PortCase* nic = port(host.find(':') == std::string::npos ? host + ":1" : host);
  return nic == nullptr ? nullptr : nic->other;
}

std::uint64_t Case::missing(const PortCase& sender) {
  if (sender.other == nullptr) return 0;
  const std::uint64_t sent = sender.tx(), received = sender.other->rx();
  return sent > received ? sent - received : 0;
}

}  // namespace railyard::doctor
