// A rank's data when payload is real: inputs drawn from a seed, sums of what came, and results compared octet by octet.
//
// Element i of rank r's input is s(r) x a(i) + b(i), a(i) odd: a sum over ranks follows from the sum of their s, and is
// another one wherever a rank is missing, is there twice, or in another place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/base/rank_program.h"
#include "transports/collectives/collective_config.h"

namespace railyard {

class RealData {
 public:
  // Room for `copies` repeats at a time.
  RealData(const RankProgram& program, const CollectiveConfig& config, std::uint32_t copies);

  std::vector<std::byte>& memory() noexcept { return memory_; }

  // Puts the rank's input into the place of `repeat`.
  void begin(const RankProgram& program, std::uint32_t repeat);
  // Adds what came to be reduced to what is there.
  void add(const CollectiveStep& receive, std::uint32_t repeat) noexcept;
  // Compares the results; what is wrong is added.
  void verify(const RankProgram& program, std::uint32_t repeat, WrongData& wrong) const;

 private:
  std::uint64_t base(std::uint32_t repeat) const noexcept { return repeat % copies_ * stride_; }
  std::uint64_t factor(std::uint32_t rank, std::uint32_t repeat) const noexcept;

  std::uint32_t element_;
  std::uint32_t copies_;
  std::uint64_t stride_;
  std::uint64_t seed_;
  std::vector<std::byte> memory_;
};

}  // namespace railyard
