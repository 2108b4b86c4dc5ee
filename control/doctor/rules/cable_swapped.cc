// NICs at another switch than the same NICs of other hosts.
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

using Plugs = std::map<int, std::string>;  // switch by NIC

std::map<std::string, Plugs> hosts_of(const Case& c) {
  std::map<std::string, Plugs> out;
  for (const PortCase& p : c.ports())
    if (!p.is_switch && p.other != nullptr && p.other->is_switch) out[p.node][p.number] = p.other->node;
  return out;
}

std::set<std::string> switches_of(const Plugs& plugs) {
  std::set<std::string> out;
  for (const auto& [nic, at] : plugs) out.insert(at);
  return out;
}

// Hosts at the same switches, whose NICs are plugged in another order than those of most.
std::vector<Diagnosis> find_cable_swapped(const Case& c) {
  constexpr std::size_t kLeast = 3;
  std::map<std::set<std::string>, std::map<Plugs, std::vector<std::string>>> groups;
  for (const auto& [host, plugs] : hosts_of(c))
    if (const auto at = switches_of(plugs); at.size() > 1) groups[at][plugs].push_back(host);
  std::vector<Diagnosis> out;
  for (const auto& [at, orders] : groups) {
    std::size_t all = 0, most = 0;
    const Plugs* usual = nullptr;
    for (const auto& [plugs, hosts] : orders) {
      all += hosts.size();
      if (hosts.size() > most) most = hosts.size(), usual = &plugs;
    }
    if (all < kLeast || most * 3 < all * 2) continue;
    for (const auto& [plugs, hosts] : orders) {
      if (&plugs == usual) continue;
      for (const std::string& host : hosts) {
        Diagnosis d{host, 0.9, {}};
        for (const auto& [nic, leaf] : plugs)
          if (const auto other = usual->find(nic); other == usual->end() || other->second != leaf)
            d.evidence.push_back(fmt::format("{}:{} is at {}; NIC {} of {} other hosts is at {}", host, nic, leaf, nic,
                                             most, other == usual->end() ? "none" : other->second));
        out.push_back(std::move(d));
      }
    }
  }
  return out;
}

}  // namespace

const Rule rules::kCableSwapped{"cable-swapped", "NICs of a host are plugged into each other's switches: a rail is swapped.",
                                "Cables against the plan: LLDP neighbours, `railyard doctor --plan`.",
                                "The other hosts are wrong.", find_cable_swapped, {Input::kLinks}};

}  // namespace railyard::doctor
