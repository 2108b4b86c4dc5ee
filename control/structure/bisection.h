// Bisection bandwidth: what one half of the hosts can send to the other at once.
#pragma once

#include <cstdint>
#include <optional>

#include "control/routing/graph.h"

namespace railyard::structure {

struct Bisection {
  std::optional<std::int64_t> bps;  // nothing: fewer than two hosts
  std::int64_t half_bps = 0;        // rate of the NICs of the half that has less of it
};

// The maximum flow (Boykov and Kolmogorov, PAMI 2004) from the first half of the hosts, in the order of the file, to the
// rest, over links as they are, each direction for itself. For a Clos whose hosts are numbered leaf by leaf that is the
// bisection of the textbooks; other orders and fabrics may have a narrower cut than this one.
Bisection bisection(const routing::Graph& graph);

}  // namespace railyard::structure
