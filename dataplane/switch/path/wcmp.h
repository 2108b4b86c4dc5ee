// Weighted-cost multipath (Zhou et al., EuroSys 2014): a hash into a table whose entries are dealt out to the members
// in proportion to their weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/switch/path/policy.h"

namespace railyard {

// The table of one group. Weights that do not fit are rounded: no member's share is off by more than 1 / kMostEntries.
class Wcmp {
 public:
  static constexpr std::uint32_t kMostEntries = 1024;

  Wcmp() = default;
  // `weights` of the members, all > 0. Every member has at least one entry; at most kMostEntries members.
  explicit Wcmp(std::span<const std::uint32_t> weights);

  // Which member a packet with that hash (a fraction of 2^32) takes.
  std::uint32_t choose(std::uint32_t hash) const noexcept {
    return entries_[(std::uint64_t{hash} * entries_.size()) >> 32];
  }
  std::size_t entries() const noexcept { return entries_.size(); }

 private:
  std::vector<std::uint16_t> entries_;
};

namespace wcmp_policy {
inline constexpr PathPolicyInfo kInfo{.policy = PathPolicy::kWcmp,
                                      .name = "wcmp",
                                      .help = "by hash of the flow, in proportion to weights",
                                      .parameters = {},
                                      .basis = always<PathBasis::kPackets>,
                                      .unit = always<PathUnit::kFlow>};
}  // namespace wcmp_policy

}  // namespace railyard
