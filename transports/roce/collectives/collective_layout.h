// What both ends of a collective's QPs know without a word: addresses, and how much of what there is room for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/base/rank_program.h"
#include "transports/base/memory_regions.h"

namespace railyard::roce {

inline constexpr ProtectionDomain kCollectiveDomain{2};
// Address of a rank's memory: data, and what comes to be added, of one repeat; behind it those of the next.
inline constexpr std::uint64_t kCollectiveMemory = std::uint64_t{1} << 32;

// Credits that may be posted and not acknowledged; and those that may be on their way from a peer.
inline constexpr std::size_t kCreditsOut = 16;
inline constexpr std::size_t kCreditsIn = 4;

constexpr std::size_t send_requests(const RankConnection& c) noexcept { return c.sends + kCreditsOut; }
// Two repeats at a time.
constexpr std::size_t receive_requests(const RankConnection& c) noexcept {
  return 2 * std::size_t{c.receives} + kCreditsIn;
}
// That can wait at once.
constexpr std::size_t completions_of(const RankProgram& program) noexcept {
  std::size_t all = 0;
  for (const RankConnection& c : program.connections) all += send_requests(c) + receive_requests(c);
  return all;
}

}  // namespace railyard::roce
