// A rank's data when payload is elided: of each run of octets, whose input is in it and how often.
//
// Every rank's input has a weight, adding messages adds weights, and a promise of octets (PayloadRef) is named by its
// weight. With up to 62 ranks the weight of rank r is 2^r, so that a sum in which each rank is at most once is the set
// of its ranks; with more it is a hash, and sums differ if sets do (but for one chance in 2^62).
#pragma once

#include <cstdint>
#include <vector>

#include "transports/base/rank_program.h"
#include "transports/collectives/collective_config.h"

namespace railyard {

class Contributors {
 public:
  static constexpr std::uint32_t kMostInASet = 62;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kMostInASet) - 1;

  // Of a collective that only moves data all inputs weigh 1: which one it is, is said by the name of its octets.
  static std::uint64_t weight(const RankProgram& program, std::uint32_t rank) noexcept;
  static std::uint64_t weight_of_all(const RankProgram& program) noexcept;
  // Of what an extent is to hold.
  static std::uint64_t expected(const RankProgram& program, const CollectiveExtent& extent) noexcept;

  // What the rank has at first.
  void begin(const RankProgram& program);

  // Of the octets of a send. If they are not all the same, of none that there is.
  std::uint64_t of(const CollectiveStep& send) const noexcept;
  void add(const CollectiveStep& receive, std::uint64_t sum) noexcept;
  void set(const CollectiveStep& receive, std::uint64_t sum) noexcept;

  // Compares the results; what is wrong is added.
  void verify(const RankProgram& program, std::uint32_t repeat, WrongData& wrong) const;

 private:
  std::vector<std::uint64_t> sums_;  // of each run between two cuts
};

}  // namespace railyard
