// The ranks of collectives at one NIC.
#pragma once

#include <cstddef>
#include <deque>

#include "transports/roce/collectives/collective_rank.h"

namespace railyard::roce {

class CollectiveRanks {
 public:
  CollectiveRank& add(Engine& engine, const CollectiveConfig& config, RankProgram program, bool real_payload) {
    return ranks_.emplace_back(engine, config, std::move(program), real_payload);
  }

  Instant next_due() const noexcept;
  // What is due then, of one rank.
  void run_due();
  // Whether there were any.
  bool take_completions(Instant now);
  void stop_at(Instant at) noexcept;

 private:
  std::deque<CollectiveRank> ranks_;
};

}  // namespace railyard::roce
