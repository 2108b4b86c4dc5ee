#include "control/picture/tiers.h"

#include <cctype>

#include <fmt/format.h>

#include "control/routing/up_down.h"

namespace railyard::picture {

std::optional<int> tier_of_role(std::string_view role) {
  std::string word;
  for (const char c : role)
    if (c != '-' && c != '_' && c != ' ') word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* leaf : {"leaf", "tor", "edge", "access"})
    if (word == leaf) return kLeafTier;
  for (const char* spine : {"spine", "agg", "aggregation"})
    if (word == spine) return kSpineTier;
  for (const char* super_spine : {"superspine", "core"})
    if (word == super_spine) return kSuperSpineTier;
  return std::nullopt;
}

std::vector<int> tiers(const routing::Graph& graph) {
  std::vector<int> tier = routing::hops_to_edge(graph);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    if (tier[n] < 0) tier[n] = kLeafTier;
    if (const auto said = tier_of_role(graph.lab().nodes[n].role)) tier[n] = *said;
  }
  return tier;
}

std::string tier_text(int tier, std::size_t n, bool named, bool only_tier_of_switches) {
  const auto counted = [n](const char* one, const char* many) { return fmt::format("{} {}", n, n == 1 ? one : many); };
  if (tier == kHostTier) return counted("host", "hosts");
  if (only_tier_of_switches && !named) return counted("switch", "switches");
  switch (tier) {
    case kLeafTier:
      return counted("leaf", "leaves");
    case kSpineTier:
      return counted("spine", "spines");
    case kSuperSpineTier:
      return counted("super-spine", "super-spines");
    default:
      return fmt::format("{} of tier {}", counted("switch", "switches"), tier);
  }
}

}  // namespace railyard::picture
