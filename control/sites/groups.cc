#include "control/sites/groups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "control/spec/scale_up_networks.h"

namespace railyard::sites {
namespace {

class Union {
 public:
  explicit Union(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  // The lower of the two roots stays.
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<std::size_t> groups_of(const spec::Lab& lab) {
  using Kind = spec::NodeSpec::Kind;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) index[lab.nodes[n].name] = n;
  Union all(lab.nodes.size());
  for (const spec::LinkSpec& link : lab.links) {
    const std::size_t a = index.at(link.a.node);
    const std::size_t b = index.at(link.b.node);
    if (lab.nodes[a].kind != Kind::kSwitch || lab.nodes[b].kind != Kind::kSwitch) all.join(a, b);
  }
  std::map<std::string, std::size_t> by_rack;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n)
    if (!lab.nodes[n].rack.empty()) all.join(by_rack.try_emplace(lab.nodes[n].rack, n).first->second, n);
  std::map<std::uint32_t, std::size_t> by_network;
  for (const auto& [host, place] : spec::scale_up_places(lab)) {
    const std::size_t n = index.at(host);
    all.join(by_network.try_emplace(place.network, n).first->second, n);
  }
  std::vector<std::size_t> groups(lab.nodes.size());
  std::map<std::size_t, std::size_t> number;  // by root
  for (std::size_t n = 0; n < groups.size(); ++n)
    groups[n] = number.try_emplace(all.root(n), number.size()).first->second;
  return groups;
}

}  // namespace railyard::sites
