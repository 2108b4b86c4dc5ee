#include "transports/roce/collectives/collective_ranks.h"

#include <algorithm>

namespace railyard::roce {

Instant CollectiveRanks::next_due() const noexcept {
  Instant next = Instant::never();
  for (const CollectiveRank& r : ranks_) next = std::min(next, r.next_due());
  return next;
}

void CollectiveRanks::run_due() { std::ranges::min_element(ranks_, {}, &CollectiveRank::next_due)->run_due(); }

bool CollectiveRanks::take_completions(Instant now) {
  bool any = false;
  for (CollectiveRank& r : ranks_) any = r.take_completions(now) || any;
  return any;
}

void CollectiveRanks::stop_at(Instant at) noexcept {
  for (CollectiveRank& r : ranks_) r.stop_at(at);
}

}  // namespace railyard::roce
