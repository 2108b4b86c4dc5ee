#include "control/spec/fault_spec.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace railyard::spec {

std::string word(const FaultAction& action) {
  static constexpr std::array kWords{"nothing",    "down",       "flap",     "rate",      "delay",     "loss",
                                     "loss",       "bit-errors", "corrupt",  "duplicate", "drop",      "mark",
                                     "lose-pause", "reorder",    "truncate", "trim",      "pfc-storm", "ignore-pause",
                                     "mtu",        "dscp-map",   "ecn",      "buffer",    "crash",     "stop-receiving",
                                     "receive",    "straggle",   "skew"};
  static_assert(kWords.size() == std::variant_size_v<FaultAction>);
  return kWords[action.index()];
}

void name_faults(std::vector<FaultSpec>& faults) {
  std::set<std::string> taken;
  for (const FaultSpec& f : faults) taken.insert(f.name);
  for (FaultSpec& f : faults)
    for (int n = 1; f.name.empty(); ++n)
      if (std::string name = fmt::format("{}-{}", word(f.action), n); taken.insert(name).second) f.name = name;
}

bool acts_on_frames(const FaultAction& action) noexcept {
  return std::visit(
      [](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        return std::is_same_v<A, fault::Delay> || std::is_same_v<A, fault::Loss> ||
               std::is_same_v<A, fault::BurstLoss> || std::is_same_v<A, fault::BitErrorRate> ||
               std::is_same_v<A, fault::Corrupt> || std::is_same_v<A, fault::Duplicate> ||
               std::is_same_v<A, fault::Drop> || std::is_same_v<A, fault::Mark> ||
               std::is_same_v<A, fault::LosePause> || std::is_same_v<A, fault::Reorder> ||
               std::is_same_v<A, fault::Truncate> || std::is_same_v<A, fault::TrimPackets>;
      },
      action);
}

}  // namespace railyard::spec
