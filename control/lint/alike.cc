#include "control/lint/alike.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace railyard::lint {
namespace {

std::string said_of(const routing::Graph& graph, std::size_t n) {
  const spec::NodeSpec& node = graph.lab().nodes[n];
  const bool is_its_own = !node.ports.empty() || !node.vlans.empty() || node.agent || node.control || !node.at.empty() ||
                          node.kind == spec::NodeSpec::Kind::kTrunk;
  std::string said = fmt::format("{} {} {} {}", static_cast<int>(node.kind), node.profile, node.reduces ? 1 : 0, node.nics.size());
  for (const spec::NicSpec& nic : node.nics) said += fmt::format(" {}", nic.attach.index());
  return is_its_own ? said + " " + node.name : said;
}

}  // namespace

std::vector<std::size_t> kinds_of_nodes(const routing::Graph& graph) {
  const spec::Lab& lab = graph.lab();
  std::map<std::tuple<std::int64_t, int, int, bool, std::int64_t>, std::size_t> link_kinds;
  std::vector<std::size_t> kind_of_link;
  for (const spec::LinkSpec& l : lab.links)
    kind_of_link.push_back(
        link_kinds.try_emplace({l.rate.bps, l.mtu, l.weight.value_or(0), l.llr.has_value(), l.framing.preamble}, link_kinds.size())
            .first->second);
  std::map<std::string, std::size_t> first;
  std::vector<std::size_t> kind(graph.size());
  for (std::size_t n = 0; n < kind.size(); ++n) kind[n] = first.try_emplace(said_of(graph, n), first.size()).first->second;
  for (std::size_t known = 0, kinds = first.size(); kinds != known;) {
    known = kinds;
    using Seen = std::vector<std::pair<std::size_t, std::size_t>>;  // by link: its kind, and that of the node beyond
    std::map<std::pair<std::size_t, Seen>, std::size_t> finer;
    std::vector<std::size_t> next(kind.size());
    Seen seen;
    for (std::size_t n = 0; n < kind.size(); ++n) {
      seen.clear();
      for (const routing::Graph::Edge& e : graph.edges(n)) seen.emplace_back(kind_of_link[e.link], kind[e.neighbour]);
      std::ranges::sort(seen);
      next[n] = finer.try_emplace({kind[n], seen}, finer.size()).first->second;
    }
    kind = std::move(next);
    kinds = finer.size();
  }
  return kind;
}

}  // namespace railyard::lint
