// Equal paths that carry unequal load.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

// Switches without hosts that have chosen among paths: they share the flows of all hosts.
std::size_t upper_switches(const Case& c) {
  std::set<std::string> choosing, with_hosts;
  for (const auto& g : c.path_groups())
    if (number(g, "max_over_mean") > 0) choosing.insert(text(g, "node"));
  for (const PortCase& p : c.ports())
    if (p.is_of_host()) with_hosts.insert(p.node);
  std::erase_if(choosing, [&](const std::string& node) { return with_hosts.contains(node); });
  return std::max<std::size_t>(1, choosing.size());
}

// QPs and flows of the hosts at a switch; of a switch without hosts its share of all.
std::size_t connections_of(const Case& c, const std::string& node) {
  std::set<std::string> hosts;
  for (const PortCase& p : c.ports())
    if (p.node == node && p.other != nullptr && !p.other->is_switch) hosts.insert(p.other->node);
  std::size_t n = 0;
  for (const auto& f : c.flows()) {
    const std::string source = text(f, "src");
    if (hosts.empty() || hosts.contains(source.substr(0, source.find(':'))))
      n += std::max<std::size_t>(1, count(below(f, "roce"), "qps"));
  }
  return hosts.empty() ? n / upper_switches(c) : n;
}

// With fewer connections than this for each path, chance alone leaves paths empty now and then.
constexpr std::size_t kEnough = 8;

// `few`: connections are too few for a hash to be even. Else the hash is to blame.
std::vector<Diagnosis> find_paths(const Case& c, bool few, double busy) {
  constexpr double kUneven = 1.5;
  std::vector<Diagnosis> out;
  for (const auto& g : c.path_groups()) {
    const auto& members = items(g, "members");
    if (number(g, "max_over_mean") < kUneven || members.empty()) continue;
    const auto bytes = [](const auto& m) { return count(m, "bytes"); };
    const std::string name = text(*std::ranges::max_element(members, {}, bytes), "port");
    const std::string node = text(g, "node");
    const auto port = std::ranges::find_if(c.ports(), [&](const PortCase& p) { return p.name() == name; });
    // Uneven and idle hurts nobody.
    if (port == c.ports().end() || port->utilisation < busy) continue;
    const auto idle =
        std::ranges::count_if(members, [&](const auto& m) { return bytes(m) == 0; });
    const std::size_t connections = connections_of(c, node);
    if (static_cast<std::size_t>(idle) * 2 < members.size() || (connections < kEnough * members.size()) != few) continue;
    out.push_back(
        {node,
         0.75,
         {fmt::format("of {} equal paths {} carries {:.2f} times the mean and is busy for {:.0f} % of the time",
                      members.size(), port->name(), number(g, "max_over_mean"), port->utilisation * 100),
          fmt::format("{} of them carried nothing, with {} connections from this switch's hosts, or its share of "
                      "those of all hosts",
                      idle, connections)}});
  }
  return out;
}

std::vector<Diagnosis> find_uneven_paths(const Case& c) {
  constexpr double kBusy = 0.6, kSomewhat = 0.35;
  constexpr std::size_t kSeveral = 3;  // switches: no chance
  std::vector<Diagnosis> out = find_paths(c, false, kBusy);
  if (!out.empty()) return out;
  out = find_paths(c, false, kSomewhat);
  return out.size() >= kSeveral ? out : std::vector<Diagnosis>{};
}

// How likely it is that chance alone leaves half of the paths or more empty: connections choose paths one by one.
double chance_of_idle(std::size_t connections, std::size_t paths) {
  std::vector<double> taken(paths + 1, 0);  // the probability that so many are
  taken[0] = 1;
  const auto all = static_cast<double>(paths);
  for (std::size_t n = 0; n < connections; ++n) {
    for (std::size_t k = paths; k > 0; --k)
      taken[k] = (taken[k] * static_cast<double>(k) + taken[k - 1] * static_cast<double>(paths - k + 1)) / all;
    taken[0] = 0;
  }
  double p = 0;
  for (std::size_t k = 0; 2 * k <= paths; ++k) p += taken[k];
  return p;
}

// Where few connections meet by chance, so do some of any fabric: more groups than that are found.
bool is_more_than_chance(const Case& c, std::size_t found, std::size_t most_each) {
  constexpr double kDeviations = 2.5;
  double expected = 0, variance = 0;
  std::map<std::string, std::size_t> connections;
  for (const auto& g : c.path_groups()) {
    const std::string node = text(g, "node");
    const std::size_t paths = items(g, "members").size();
    if (number(g, "max_over_mean") <= 0 || paths < 2) continue;
    const auto [at, is_new] = connections.try_emplace(node, 0);
    if (is_new) at->second = connections_of(c, node);
    if (at->second > most_each * paths) continue;
    const double p = chance_of_idle(at->second, paths);
    expected += p;
    variance += p * (1 - p);
  }
  return static_cast<double>(found) > expected + kDeviations * std::sqrt(variance);
}

// Flows that share a path while another is empty, and get far less than they would.
std::vector<Diagnosis> find_few_flows(const Case& c) {
  constexpr double kHeldBack = 0.6;
  constexpr std::size_t kMostEach = 2;  // connections for each path
  constexpr double kBusy = 0.8;
  std::vector<Diagnosis> out = find_paths(c, true, kBusy);
  std::erase_if(out, [&](const Diagnosis& d) {
    std::size_t members = 0;
    for (const auto& g : c.path_groups())
      if (text(g, "node") == d.element) members = std::max(members, items(g, "members").size());
    return connections_of(c, d.element) > kMostEach * members;
  });
  const auto is_held = [](const auto& f) { return number(f, "goodput_bps") > 0 && number(f, "share") < kHeldBack; };
  const auto held = std::ranges::count_if(c.flows(), is_held);
  if (out.empty() || held < 2 || static_cast<std::size_t>(held) * 2 < c.flows().size() || !is_more_than_chance(c, out.size(), kMostEach)) return {};
  for (Diagnosis& d : out) d.confidence = 0.55;
  for (Diagnosis& d : out)
    d.evidence.push_back(fmt::format("{} flows get less than {:.0f} % of their limit", held, kHeldBack * 100));
  return out;
}

}  // namespace

const Rule rules::kUnevenPaths{"uneven-paths",
                               "The hash puts flows on few of the equal paths: polarisation, or too few flows.",
                               "More QPs per flow, another hash seed per tier, the QP in the hash "
                               "(`ecmp.destination-qp`), adaptive routing or spraying.",
                               "The paths are not equal: a link has failed or is slower.", find_uneven_paths, {Input::kRouting}};
const Rule rules::kFewFlows{"few-flows",
                            "Too few connections for a hash: they share paths while others are empty.",
                            "More QPs for each flow (`qps`), or spraying and adaptive routing.",
                            "There are eight connections or more for each path.", find_few_flows,
                            {Input::kRouting, Input::kFlows}};

}  // namespace railyard::doctor
