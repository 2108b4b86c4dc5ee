// Flowlets (Kandula et al., CCR 2007; LetFlow, NSDI 2017): a flow that has been silent for longer than the gap may take
// another path without being reordered.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/switch/path/policy.h"

namespace railyard {

// Which path each flow is on, in a table of fixed size. A flow whose place is taken by another that is not silent has
// no entry: it is for static hashing, as in switches whose flow table is full.
class FlowletTable {
 public:
  static constexpr std::size_t kEntries = 1 << 14;

  struct Entry {
    Instant last{};          // packet
    std::uint32_t flow = 0;  // hash
    std::uint16_t member = kNone;
  };
  static constexpr std::uint16_t kNone = 0xFFFF;

  // The entry of the flow with that hash for its packet at `now`; nullptr: taken. `member` is kNone at the start of a
  // flowlet, and the caller says it then.
  Entry* at(std::uint32_t flow, Instant now, Duration gap) {
    if (entries_.empty()) [[unlikely]]
      entries_.resize(kEntries);
    Entry& e = entries_[flow & (kEntries - 1)];
    const bool silent = e.member == kNone || now - e.last > gap;
    if (!silent && e.flow != flow) [[unlikely]]
      return nullptr;
    if (silent) e.member = kNone;
    e.flow = flow;
    e.last = now;
    return &e;
  }
  // Members are others from now on.
  void clear() noexcept { entries_.clear(); }

 private:
  std::vector<Entry> entries_;  // none until somebody asks
};

namespace flowlet_policy {
using namespace path_parameter;

inline constexpr Range kGaps{1'000, 1'000'000'000'000};
inline constexpr Range kDrawnGaps{1'000'000, 50'000'000};
inline constexpr std::string_view kGapHelp =
    "idle time after which a flow may change its path; no reordering if above the paths' delay differences";

inline constexpr PathParameter kParameters[] = {duration<&PathConfig::gap>("gap", kGaps, kDrawnGaps, kGapHelp)};
inline constexpr PathPolicyInfo kInfo{.policy = PathPolicy::kFlowlet,
                                      .name = "flowlet",
                                      .help = "random path, redrawn after each gap in a flow",
                                      .parameters = kParameters,
                                      .basis = always<PathBasis::kTime>,
                                      .unit = always<PathUnit::kFlowlet>};
}  // namespace flowlet_policy

}  // namespace railyard
