#include "control/routing/path_order.h"

namespace railyard::routing {

PathOrder::PathOrder(const spec::Lab& lab) : order_(lab.routing.order.value_or(spec::PathOrder::kAny)) {
  if (!any()) return;
  for (const spec::NodeSpec& node : lab.nodes) at_.push_back(node.at);
}

std::optional<PathOrder::Suffix> PathOrder::before(Suffix rest, std::size_t from, std::size_t to) const noexcept {
  switch (order_) {
    case spec::PathOrder::kAny:
      return kEnd;
    case spec::PathOrder::kDimensions: {
      // Switches that are linked differ in one dimension (spec/check/check_routing.cc).
      Suffix along = 0;
      while (at_[from][along] == at_[to][along]) ++along;
      return along <= rest ? std::optional(along) : std::nullopt;
    }
    case spec::PathOrder::kGroups:
      if (group(from) == group(to)) return rest;
      return rest == kEnd ? std::optional(Suffix{1}) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace railyard::routing
