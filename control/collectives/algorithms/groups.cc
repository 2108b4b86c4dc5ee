#include "control/collectives/algorithms/groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {

Groups::Groups(const CollectiveShape& shape, std::uint32_t ranks, const std::vector<std::uint32_t>& group) {
  std::map<std::uint32_t, std::size_t> index;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const auto [found, is_new] = index.try_emplace(group.empty() ? r : group[r], members.size());
    if (is_new) members.emplace_back();
    members[found->second].push_back(r);
  }
  if (!shape.rail.empty()) set_heads_by_nic(shape);
  if (!heads.empty()) return;
  std::size_t parts = members.front().size();
  for (const Ranks& m : members) parts = std::min(parts, m.size());
  for (std::size_t j = 0; j < parts; ++j) {
    Ranks& h = heads.emplace_back();
    for (const Ranks& m : members) h.push_back(m[j]);
  }
}

void Groups::set_heads_by_nic(const CollectiveShape& shape) {
  const auto nic = [&](std::uint32_t r) { return shape.nic_in_network(r); };
  std::set<std::uint64_t> nics;
  for (const std::uint32_t r : members.front()) nics.insert(nic(r));
  for (const std::uint64_t wanted : nics) {
    Ranks h;
    for (const Ranks& m : members)
      if (const auto found = std::ranges::find(m, wanted, nic); found != m.end()) h.push_back(*found);
    if (h.size() == members.size()) heads.push_back(std::move(h));
  }
}

Ranks Groups::chain(std::size_t g, std::size_t j) const {
  Ranks out = members[g];
  std::ranges::rotate(out, std::ranges::find(out, heads[j][g]));
  return out;
}

std::uint32_t Groups::group_of(std::uint32_t rank) const {
  std::uint32_t g = 0;
  while (std::ranges::find(members[g], rank) == members[g].end()) ++g;
  return g;
}

Ranks Groups::chain_of_root(std::size_t g, std::size_t j, std::uint32_t root) const {
  Ranks own = chain(g, j);
  std::erase(own, root);
  own.insert(own.begin(), root);
  return own;
}

std::vector<std::size_t> parts_of_channel(const Plan& plan, std::size_t parts) {
  const std::size_t channels = plan.shape().channels;
  std::vector<std::size_t> own;
  for (std::size_t j = 0; j < parts; ++j) {
    const bool one_each = channels % parts == 0;
    const bool some_each = parts % channels == 0;
    if (one_each ? j == plan.channel() % parts : !some_each || j % channels == plan.channel()) own.push_back(j);
  }
  return own;
}

void chain_down(Plan& plan, const Ranks& chain, Range range) {
  for (std::size_t i = 1; i < chain.size(); ++i) plan.copy(chain[i - 1], chain[i], range);
}

void chain_up(Plan& plan, const Ranks& chain, Range range) {
  for (std::size_t i = chain.size() - 1; i >= 1; --i) plan.reduce(chain[i], chain[i - 1], range);
}

void in_pieces(Plan& plan, Range range) {
  plan.limit_messages(std::clamp(range.octets / kPieces, kLeastPiece, std::max(kMostPiece, range.octets / kMostPieces)));
}

}  // namespace railyard::collectives
