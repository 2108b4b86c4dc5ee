// Equal paths that carry unequal load.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

// QPs and flows of the hosts at a switch; of all hosts, if it has none.
std::size_t connections_of(const Case& c, const std::string& node) {
  std::set<std::string> hosts;
  for (const PortCase& p : c.ports())
    if (p.node == node && p.other != nullptr && !p.other->is_switch) hosts.insert(p.other->node);
  std::size_t n = 0;
  for (const auto& f : c.flows()) {
    const auto source = f["src"].get<std::string>();
    if (hosts.empty() || hosts.contains(source.substr(0, source.find(':'))))
      n += f.contains("roce") ? f["roce"]["qps"].get<std::size_t>() : 1;
  }
  return n;
}

std::vector<Diagnosis> find_uneven_paths(const Case& c) {
  constexpr double kUneven = 1.5;
  constexpr double kBusy = 0.8;
  // With fewer connections than this for each path, chance alone leaves paths empty now and then.
  constexpr std::size_t kEnough = 8;
  std::vector<Diagnosis> out;
  for (const auto& g : c.path_groups()) {
    if (!g["max_over_mean"].is_number() || g["max_over_mean"].get<double>() < kUneven) continue;
    const auto& members = g["members"];
    const auto most =
        std::ranges::max_element(members, {}, [](const auto& m) { return m["bytes"].template get<std::uint64_t>(); });
    const auto name = (*most)["port"].get<std::string>();
    const auto node = g["node"].get<std::string>();
    const auto port = std::ranges::find_if(c.ports(), [&](const PortCase& p) { return p.name() == name; });
    // Uneven and idle hurts nobody.
    if (port == c.ports().end() || port->utilisation < kBusy) continue;
    const auto idle =
        std::ranges::count_if(members, [](const auto& m) { return m["bytes"].template get<std::uint64_t>() == 0; });
    const std::size_t connections = connections_of(c, node);
    if (static_cast<std::size_t>(idle) * 2 < members.size() || connections < kEnough * members.size()) continue;
    out.push_back(
        {node,
         0.75,
         {fmt::format("of {} equal paths {} carries {:.2f} times the mean and is busy for {:.0f} % of the time",
                      members.size(), port->name(), g["max_over_mean"].get<double>(), port->utilisation * 100),
          fmt::format("{} of them carried nothing, with {} connections from this switch's hosts, or from all hosts if "
                      "it has none",
                      idle, connections)}});
  }
  return out;
}

}  // namespace

const Rule rules::kUnevenPaths{"uneven-paths",
                               "The hash puts flows on few of the equal paths: polarisation, or too few flows.",
                               "More QPs per flow, another hash seed per tier, the QP in the hash "
                               "(`ecmp.destination-qp`), adaptive routing or spraying.",
                               "The paths are not equal: a link has failed or is slower.", find_uneven_paths};

}  // namespace railyard::doctor
