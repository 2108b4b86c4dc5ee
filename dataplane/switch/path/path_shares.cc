#include "dataplane/switch/path/path_shares.h"

#include <algorithm>

namespace railyard {

void PathShares::set_table(const ForwardingTable& table) {
  for (const NextHops& g : groups_) {
    Past past;
    bool any = false;
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) {
      past.ports.push_back(ports_[i]);
      past.weights.push_back(weights_[i]);
      past.members.push_back(members_[i]);
      any |= members_[i].packets.read() != 0;
    }
    if (any && g.count > 1) past_.push_back(std::move(past));
  }
  groups_.assign(table.groups().begin(), table.groups().end());
  members_.assign(table.members(), {});
  ports_.clear();
  weights_.clear();
  for (const NextHops& g : groups_)
    for (std::uint32_t i = 0; i < std::uint32_t{g.count} + g.detours; ++i) {
      ports_.push_back(table.member(g, i));
      weights_.push_back(table.weight(g, i));
    }
  for (const NextHops& g : groups_) {
    const auto same = [&](const Past& p) {
      return p.ports.size() == g.count && std::equal(p.ports.begin(), p.ports.end(), ports_.begin() + g.first) &&
             std::equal(p.weights.begin(), p.weights.end(), weights_.begin() + g.first);
    };
    const auto known = std::ranges::find_if(past_, same);
    if (known == past_.end()) continue;
    std::ranges::copy(known->members, members_.begin() + g.first);
    past_.erase(known);
  }
  if (past_.size() > kMostPast) past_.erase(past_.begin(), past_.end() - kMostPast);
}

}  // namespace railyard
