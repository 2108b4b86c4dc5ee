// The ranks of a collective come to know each other without a word between them: addresses and keys.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "transports/collectives/rank_host.h"
#include "transports/uet/collectives/uet_rank.h"

namespace railyard::uet {

// Where a rank is.
struct CollectiveEnd {
  UetRank* rank = nullptr;
  const RankHost* nic = nullptr;
  std::uint32_t gpu = 0;  // of the host, from 1; 0: the NIC itself is the rank
};

// From one rank to another.
using Way = std::function<AddressVector(std::uint32_t from, std::uint32_t to, std::uint32_t channel)>;

// `ends`: by rank.
void connect_ranks(const std::vector<CollectiveEnd>& ends, const Way& way);

}  // namespace railyard::uet
