// Which paths switches prefer to all others, by the coordinates of switches: RoutingSpec::order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::routing {

// A path is judged from its end: what a hop may be follows from the hops behind it.
//
// kDimensions: dimension-order routing (Dally & Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
// Networks", IEEE Trans. Comput. 1987). No hop is along a later dimension than one behind it.
// kGroups: minimal routing of dragonflies (Kim et al., ISCA 2008, section 4.1). At most one hop leads from a group to
// another.
class PathOrder {
 public:
  // What matters of a path's hops: kDimensions: the dimension of the first; kGroups: 1 if it leads to another group.
  using Suffix = std::uint8_t;
  static constexpr Suffix kEnd = 0xFF;  // of the path without hops

  explicit PathOrder(const spec::Lab& lab);

  // Whether some paths are preferred at all.
  bool any() const noexcept { return order_ != spec::PathOrder::kAny; }
  spec::PathOrder order() const noexcept { return order_; }

  // Of the path that goes from switch `from` to its neighbour `to` and on as `rest`; nothing: it is out of order.
  std::optional<Suffix> before(Suffix rest, std::size_t from, std::size_t to) const noexcept;

  // kGroups: the group of a switch; -1: none.
  int group(std::size_t node) const noexcept { return at_[node].empty() ? -1 : at_[node].front(); }

 private:
  spec::PathOrder order_;
  std::vector<std::vector<int>> at_;  // by node; empty where no paths are preferred
};

}  // namespace railyard::routing
