// What both ends of a collective's QPs know without a word: what immediate data say, and how much of what there is room
// for. Whoever uses verbs (tools/agent/) has the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/base/rank_program.h"

namespace railyard::roce {

// Immediate data: the receiver's step, and in the top bit whether its repeat is an odd one.
inline constexpr std::uint32_t kOdd = 1u << 31;
inline constexpr std::uint32_t kCredit = kOdd - 1;

// Work requests: the step, or that it is no step's, and the connection.
constexpr std::uint64_t wr_id(std::uint32_t connection, std::uint32_t step) noexcept {
  return std::uint64_t{connection} << 32 | step;
}

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
