#include "transports/collectives/rank_host.h"

namespace railyard {

void RankHost::join(std::shared_ptr<ScaleUp> scale_up) {
  scale_up_ = std::move(scale_up);
  place_in_host_ = scale_up_->join(*this);
}

void RankHost::run_next() {
  if (other_due_ <= ranks_due()) return run_other();
  CollectiveRank& first = **std::ranges::min_element(ranks_, {}, &CollectiveRank::next_due);
  first.run_due(first.next_due());
}

}  // namespace railyard
