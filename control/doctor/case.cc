#include "control/doctor/case.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t count(const Json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? found->get<std::uint64_t>() : 0;
}

double number(const Json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? found->get<double>() : 0;
}

Drops drops_of(const Json& j) {
  Drops out;
  if (const auto found = j.find("drops"); found != j.end())
    for (const auto& [reason, n] : found->items()) out[reason] = n.get<std::uint64_t>();
  return out;
}

PortCase port_of(const Json& j) {
  PortCase p{.node = j["node"],
             .number = j["port"],
             .peer = j["peer"],
             .utilisation = number(j, "utilisation"),
             .drops = drops_of(j)};
  for (const Json& c : j["classes"]) {
    const auto k = c["class"].get<std::size_t>();
    if (k >= p.classes.size()) continue;
    ClassCase& to = p.classes[k];
    to.rx = count(c["rx"], "packets");
    to.tx = count(c["tx"], "packets");
    to.marked = count(c, "ecn_marked");
    to.xoff_sent = count(c, "xoff_sent");
    to.xoff_received = count(c, "xoff_received");
    to.pfc_received = count(c, "pfc_received");
    to.pfc_not_enabled = count(c, "pfc_not_enabled");
    to.pause_share = number(c, "pause_share");
    to.paused_ns = count(c, "paused_ns");
    to.deepest = count(c, "max_depth_bytes");
    to.drops = drops_of(c);
    p.is_switch |= c.contains("max_ingress_cells");  // hosts have no such counter
  }
  return p;
}

std::uint64_t of(const Drops& drops, const std::string& reason) {
  const auto found = drops.find(reason);
  return found == drops.end() ? 0 : found->second;
}

}  // namespace

std::uint64_t ClassCase::dropped(const std::string& reason) const { return of(drops, reason); }

std::string PortCase::name() const { return fmt::format("{}:{}", node, number); }

std::string PortCase::link() const {
  const bool here = is_switch && (other == nullptr || !other->is_switch || name() < peer);
  return here ? fmt::format("{}-{}", name(), peer) : fmt::format("{}-{}", peer, name());
}

std::string PortCase::direction() const { return fmt::format("{} -> {}", name(), peer); }

std::uint64_t PortCase::rx() const {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const ClassCase& c) { return n + c.rx; });
}

std::uint64_t PortCase::tx() const {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const ClassCase& c) { return n + c.tx; });
}

std::uint64_t PortCase::dropped(const std::string& reason) const {
  return std::accumulate(classes.begin(), classes.end(), of(drops, reason),
                         [&](std::uint64_t n, const ClassCase& c) { return n + c.dropped(reason); });
}

Case::Case(nlohmann::ordered_json report, const std::string& file) : report_(std::move(report)) {
  for (const char* key : {"run", "ports", "flows", "collectives", "path_groups", "deadlocks", "engine"})
    if (!report_.is_object() || !report_.contains(key))
      throw InputError(fmt::format(
          "{}: is no report of this version: it has no '{}'; expected what `railyard run LAB.yaml --json` prints", file,
          key));
  try {
    if (report_["run"].contains("name")) name_ = report_["run"]["name"].get<std::string>();
    for (const Json& p : report_["ports"]) ports_.push_back(port_of(p));
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is no report of this version: {}", file, error.what()));
  }
  std::map<std::string, PortCase*> by_name;
  for (PortCase& p : ports_) by_name[p.name()] = &p;
  for (PortCase& p : ports_)
    if (const auto found = by_name.find(p.peer); found != by_name.end()) p.other = found->second;
}

std::uint64_t Case::missing(const PortCase& sender) {
  if (sender.other == nullptr) return 0;
  const std::uint64_t sent = sender.tx(), received = sender.other->rx();
  return sent > received ? sent - received : 0;
}

}  // namespace railyard::doctor
