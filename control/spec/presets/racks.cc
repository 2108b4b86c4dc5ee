#include "control/spec/presets/racks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

// Hosts that are linked to the same switches; nodes by their place in Lab::nodes.
struct HostGroup {
  std::vector<std::size_t> leaves;
  std::vector<std::size_t> hosts;
};

std::vector<HostGroup> host_groups(std::size_t first, const Lab& lab) {
  std::unordered_map<std::string, std::size_t> number;
  for (std::size_t n = first; n < lab.nodes.size(); ++n) number.emplace(lab.nodes[n].name, n);
  std::vector<std::vector<std::size_t>> leaves(lab.nodes.size());  // of each host, in the order of its NICs
  for (const LinkSpec& link : lab.links) {
    const auto a = number.find(link.a.node);
    const auto b = number.find(link.b.node);
    if (a == number.end() || b == number.end() || lab.nodes[a->second].kind != NodeSpec::Kind::kHost) continue;
    std::vector<std::size_t>& known = leaves[a->second];
    if (std::ranges::find(known, b->second) == known.end()) known.push_back(b->second);
  }
  std::vector<HostGroup> groups;
  for (std::size_t n = first; n < lab.nodes.size(); ++n) {
    if (lab.nodes[n].kind != NodeSpec::Kind::kHost) continue;
    if (groups.empty() || groups.back().leaves != leaves[n]) groups.push_back({leaves[n], {}});
    groups.back().hosts.push_back(n);
  }
  return groups;
}

}  // namespace

void assign_racks(const Tree& topology, std::size_t first, Lab& lab) {
  const Tree* const said = topology.find(kHostsPerRack);
  const int room = said == nullptr ? std::numeric_limits<int>::max() : integer(1, kMostHosts).read(*said);
  int rack = 0;
  int in_rack = room;  // full: the next host opens one
  for (const HostGroup& group : host_groups(first, lab)) {
    if (said == nullptr) in_rack = room;
    int first_rack = 0;
    for (const std::size_t host : group.hosts) {
      if (in_rack == room) {
        ++rack;
        in_rack = 0;
      }
      ++in_rack;
      if (first_rack == 0) first_rack = rack;
      lab.nodes[host].rack = fmt::format("rack{}", rack);
    }
    int turn = first_rack;
    for (const std::size_t leaf : group.leaves) {
      lab.nodes[leaf].rack = fmt::format("rack{}", turn);
      turn = turn == rack ? first_rack : turn + 1;
    }
  }
}

}  // namespace railyard::spec
