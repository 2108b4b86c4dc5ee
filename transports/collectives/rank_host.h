// What has ranks of collectives, and perhaps other work, at one NIC: what of it is due, in the order of time. With
// others of its host it may be in a scale-up network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transports/collectives/collective_rank.h"

namespace railyard {

class RankHost {
 public:
  RankHost(const RankHost&) = delete;
  RankHost& operator=(const RankHost&) = delete;

  // Has the NIC in its host's scale-up network, for good.
  void join(std::shared_ptr<ScaleUp> scale_up);
  ScaleUp* scale_up() const noexcept { return scale_up_.get(); }
  std::uint32_t place_in_host() const noexcept { return place_in_host_; }

  // When something is due at this NIC alone; and that, one thing of it.
  Instant next_due() const noexcept { return std::min(other_due_, ranks_due()); }
  void run_next();

 protected:
  RankHost() = default;
  ~RankHost() = default;

  // One more rank; it stays where it is.
  void note(CollectiveRank& rank) { ranks_.push_back(&rank); }
  bool has_ranks() const noexcept { return !ranks_.empty(); }
  // What is due at other_due() and no rank's, one thing; it sets that anew.
  virtual void run_other() = 0;
  void set_other_due(Instant at) noexcept { other_due_ = at; }

  // All that is due up to `now`: with a scale-up network at all of its NICs.
  void run_due(Instant now) {
    if (scale_up_ != nullptr) return scale_up_->run_due(now);
    while (next_due() <= now) run_next();
  }
  // When something is due next, wherever that is.
  Instant due_in_host() const noexcept { return scale_up_ != nullptr ? scale_up_->next_due() : next_due(); }

 private:
  Instant ranks_due() const noexcept {
    Instant next = Instant::never();
    for (const CollectiveRank* r : ranks_) next = std::min(next, r->next_due());
    return next;
  }

  Instant other_due_ = Instant::never();
  std::vector<CollectiveRank*> ranks_;
  std::shared_ptr<ScaleUp> scale_up_;
  std::uint32_t place_in_host_ = 0;
};

}  // namespace railyard
