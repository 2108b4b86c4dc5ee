#include "control/swarm/buffer_cycles.h"

#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace railyard::swarm {
namespace {

using Hop = std::pair<std::size_t, std::size_t>;  // from switch to switch
using Neighbours = std::vector<std::set<std::size_t>>;

std::vector<std::size_t> distances_to(const Neighbours& neighbours, std::size_t target) {
  std::vector<std::size_t> distance(neighbours.size(), std::numeric_limits<std::size_t>::max());
  distance[target] = 0;
  for (std::deque<std::size_t> next{target}; !next.empty(); next.pop_front())
    for (const std::size_t n : neighbours[next.front()])
      if (distance[n] > distance[next.front()] + 1) {
        distance[n] = distance[next.front()] + 1;
        next.push_back(n);
      }
  return distance;
}

bool has_cycle(const std::map<Hop, std::set<Hop>>& after) {
  enum class Seen { kNo, kOnTheWay, kDone };
  std::map<Hop, Seen> seen;
  const auto visit = [&](const auto& self, const Hop& hop) -> bool {
    Seen& s = seen[hop];
    if (s != Seen::kNo) return s == Seen::kOnTheWay;
    s = Seen::kOnTheWay;
    if (const auto next = after.find(hop); next != after.end())
      for (const Hop& n : next->second)
        if (self(self, n)) return true;
    seen[hop] = Seen::kDone;
    return false;
  };
  for (const auto& [hop, next] : after)
    if (visit(visit, hop)) return true;
  return false;
}

}  // namespace

bool has_buffer_cycle(const spec::Lab& lab) {
  std::map<std::string, std::size_t> switches;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch) switches.emplace(n.name, switches.size());
  Neighbours neighbours(switches.size());
  std::set<std::size_t> targets;  // switches with hosts
  for (const spec::LinkSpec& l : lab.links) {
    const auto a = switches.find(l.a.node);
    const auto b = switches.find(l.b.node);
    if (a != switches.end() && b != switches.end()) {
      neighbours[a->second].insert(b->second);
      neighbours[b->second].insert(a->second);
    } else if (a != switches.end() || b != switches.end()) {
      targets.insert((a != switches.end() ? a : b)->second);
    }
  }
  std::map<Hop, std::set<Hop>> after;
  for (const std::size_t target : targets) {
    const std::vector<std::size_t> distance = distances_to(neighbours, target);
    for (std::size_t from = 0; from < neighbours.size(); ++from)
      for (const std::size_t over : neighbours[from])
        for (const std::size_t to : neighbours[over])
          if (distance[over] + 1 == distance[from] && distance[to] + 1 == distance[over])
            after[{from, over}].insert({over, to});
  }
  return has_cycle(after);
}

}  // namespace railyard::swarm
