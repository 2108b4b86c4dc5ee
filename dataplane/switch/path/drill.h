// DRILL (Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian: "DRILL: Micro Load Balancing for Low-latency Data Center
// Networks", SIGCOMM 2017, §3.2): each packet takes the least loaded of `d` ports drawn at random and of the `m` that
// were the least loaded ones when last looked at. DRILL(2,1) is what the paper proposes: more choices make the engines
// of a switch rush to the same port.
//
// A switch here has one engine, and its queues are known as they are. DEVIATION: load is the time that a port's queues
// take to drain, not their octets, so that links of unlike rates can be compared; §3.4's division of an asymmetric
// fabric into symmetric parts is not done: use weights or `adaptive` there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/base/rng.h"
#include "dataplane/switch/path/policy.h"

namespace railyard {

class Drill {
 public:
  Drill() = default;
  explicit Drill(RngStream draws) noexcept : draws_(draws) {}

  // Groups are others from now on.
  void clear() noexcept { remembered_.clear(); }

  // One of `n` (> 0) members of a group, whose number in this switch is `group`. `load(member)` says how long its
  // queues take to drain, kDown that its link is down; if all that are looked at are down, `n`: nobody was found.
  static constexpr std::uint64_t kDown = ~std::uint64_t{0};
  template <class Load>
  std::uint32_t choose(std::uint32_t group, std::uint32_t n, std::uint32_t choices, std::uint32_t memory,
                       Load&& load) {
    std::array<std::uint32_t, 2 * PathConfig::kMostDrill> member;
    std::array<std::uint64_t, 2 * PathConfig::kMostDrill> drain;
    std::uint32_t looked_at = 0;
    // Best first; of equals who was looked at first.
    const auto look_at = [&](std::uint32_t m) {
      const std::uint64_t d = load(m);
      std::uint32_t i = looked_at++;
      for (; i > 0 && drain[i - 1] > d; --i) {
        member[i] = member[i - 1];
        drain[i] = drain[i - 1];
      }
      member[i] = m;
      drain[i] = d;
    };
    // Unlike ones: the r-th of those that have not been drawn.
    std::array<std::uint32_t, PathConfig::kMostDrill> drawn;  // ascending
    const std::uint32_t draws = std::min(choices, n);
    for (std::uint32_t i = 0; i < draws; ++i) {
      auto m = static_cast<std::uint32_t>(draws_.below(n - i));
      std::uint32_t at = 0;
      for (; at < i && drawn[at] <= m; ++at) ++m;
      for (std::uint32_t j = i; j > at; --j) drawn[j] = drawn[j - 1];
      drawn[at] = m;
      look_at(m);
    }
    const std::size_t place = std::size_t{group} * PathConfig::kMostDrill;
    if (memory > 0 && remembered_.size() < place + PathConfig::kMostDrill) [[unlikely]]
      remembered_.resize(place + PathConfig::kMostDrill, kNobody);
    for (std::uint32_t i = 0; i < memory; ++i) {
      const std::uint32_t m = remembered_[place + i];
      if (m < n && std::find(drawn.begin(), drawn.begin() + draws, m) == drawn.begin() + draws) look_at(m);
    }
    for (std::uint32_t i = 0; i < memory; ++i)
      remembered_[place + i] = i < looked_at ? static_cast<std::uint16_t>(member[i]) : kNobody;
    return drain[0] == kDown ? n : member[0];
  }

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;

  RngStream draws_;
  std::vector<std::uint16_t> remembered_;  // by group
};

namespace drill_policy {
using namespace path_parameter;

inline constexpr PathParameter kParameters[] = {
    number<&PathConfig::choices>("choices", {1, PathConfig::kMostDrill}, {1, 4},
                                 "ports drawn at random for each packet (DRILL's d)"),
    number<&PathConfig::memory>("memory", {0, PathConfig::kMostDrill}, {0, 3},
                                "least loaded ports remembered from the previous samples (DRILL's m)"),
};
inline constexpr PathPolicyInfo kInfo{
    PathPolicy::kDrill,
    "drill",
    "per packet, the least loaded of random and remembered ports (DRILL, SIGCOMM 2017)",
    kParameters,
    always<PathBasis::kLoads>,
    always<PathUnit::kPacket>};
}  // namespace drill_policy

}  // namespace railyard
