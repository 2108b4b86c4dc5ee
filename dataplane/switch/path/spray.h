// Per-packet load balancing: the packets of a group take all of its paths, in one of several orders.
//
// Shuffled: every path once per round, in an order drawn anew for each round. Round robin shares as evenly, but always
// in the same order. Where n senders that are alike share n paths, each sender's packets then always take the same
// path: the paths of all flows are fixed, and collide as those of a hash do. NDP permutes its list of paths anew after
// each round for the same reason (Handley et al., SIGCOMM 2017, §3).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/rng.h"
#include "dataplane/switch/path/policy.h"

namespace railyard {

// The turns of all groups, from a random start each, so that switches do not march in step.
class Spray {
 public:
  Spray() = default;
  explicit Spray(RngStream rng) noexcept : rng_(rng) {}

  // Whose turn it is among `n` (> 0) equal paths; `group` names the group in this switch. Then it is the next one's.
  std::uint32_t choose(std::uint32_t group, std::uint32_t n) {
    std::uint32_t& next = turn(group, n);
    return next++;
  }
  // The same without taking it, and taking that of another member, after which it is its neighbour's.
  std::uint32_t whose_turn(std::uint32_t group, std::uint32_t n) { return turn(group, n); }
  void took(std::uint32_t group, std::uint32_t member) noexcept { next_[group] = member + 1; }

 private:
  static constexpr std::uint32_t kUnused = ~std::uint32_t{0};

  std::uint32_t& turn(std::uint32_t group, std::uint32_t n) {
    if (group >= next_.size()) [[unlikely]]
      next_.resize(group + 1, kUnused);
    std::uint32_t& next = next_[group];
    if (next >= n) next = next == kUnused ? static_cast<std::uint32_t>(rng_.below(n)) : 0;
    return next;
  }

  RngStream rng_;
  std::vector<std::uint32_t> next_;
};

// Rounds of all groups.
class ShuffledSpray {
 public:
  ShuffledSpray() = default;
  explicit ShuffledSpray(RngStream rng) noexcept : rng_(rng) {}

  // One of those among `n` (> 0) equal paths that have not been taken in this round of the group.
  std::uint32_t choose(std::uint32_t group, std::uint32_t n) {
    if (group >= rounds_.size()) [[unlikely]]
      rounds_.resize(group + 1);
    Round& round = rounds_[group];
    if (round.members.size() != n) [[unlikely]]
      begin(round, n);
    if (round.left == 0) round.left = n;
    const auto drawn = static_cast<std::uint32_t>(rng_.below(round.left));
    std::swap(round.members[drawn], round.members[--round.left]);
    return round.members[round.left];
  }

 private:
  struct Round {
    std::uint32_t left = 0;  // the first so many of
    std::vector<std::uint32_t> members;
  };
  static void begin(Round& round, std::uint32_t n) {
    round.left = n;
    round.members.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) round.members[i] = i;
  }

  RngStream rng_;
  std::vector<Round> rounds_;
};

namespace spray_policy {
using namespace path_parameter;

inline constexpr std::string_view kOrders[] = {"shuffled", "random", "round-robin", "least-loaded"};

constexpr PathBasis basis(const PathConfig& c) {
  return c.order == SprayOrder::kLeastLoaded ? PathBasis::kLoads : PathBasis::kPackets;
}
constexpr bool locks(const PathConfig& c) {
  return c.order == SprayOrder::kRoundRobin || c.order == SprayOrder::kLeastLoaded;
}

inline constexpr PathParameter kParameters[] = {
    word<&PathConfig::order>(
        "order", kOrders,
        "path of the next packet. shuffled: each path once per round, in random order; random; round-robin, "
        "least-loaded (equal ports in turn): a fixed order, in which equal senders may synchronise"),
};
inline constexpr PathPolicyInfo kInfo{.policy = PathPolicy::kSpray,
                                      .name = "spray",
                                      .help = "per packet, over all paths",
                                      .parameters = kParameters,
                                      .basis = basis,
                                      .unit = always<PathUnit::kPacket>,
                                      .locks = locks};
}  // namespace spray_policy

}  // namespace railyard
