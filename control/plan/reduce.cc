#include "control/plan/reduce.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/spec/spec_error.h"

namespace railyard::plan {
namespace {

int ceil_part(int whole, int part, int of) { return static_cast<int>((std::int64_t{whole} * part + of - 1) / of); }

// The largest divisor of `n` that is no more than `most`.
int divisor_up_to(int n, int most) {
  for (int d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

}  // namespace

Shape reduced(const Shape& full, int factor) {
  if (factor == 1) return full;
  const int nodes = full.now.nodes / factor;
  if (nodes < 2)
    throw spec::SpecError(spec::Place{.file = "--reduce"},
                          fmt::format("{} nodes reduced {} times leave fewer than two; expected {} or less",
                                      full.now.nodes, factor, std::max(full.now.nodes / 2, 1)));
  Shape s = full;
  s.nodes_per_group = std::clamp(full.nodes_per_group / factor, 1, nodes);
  s.down = ceil_part(full.down, s.nodes_per_group, full.nodes_per_group);
  if (s.tiers > 1) {
    s.up = ceil_part(full.up, s.nodes_per_group, full.nodes_per_group);
    s.spines = divisor_up_to(s.up, full.spines);
    s.uplinks_per_spine = s.up / s.spines;
  }
  if (s.tiers == 3) {
    const int groups = (nodes + s.nodes_per_group - 1) / s.nodes_per_group;
    const int pods = std::min(full.now.pods, groups);
    s.groups_per_pod = (groups + pods - 1) / pods;
    s.spine_up = ceil_part(full.spine_up, s.leaves_per_pod() * s.uplinks_per_spine,
                           full.leaves_per_pod() * full.uplinks_per_spine);
    s.links_per_core = divisor_up_to(s.spine_up, full.links_per_core);
    s.cores_per_plane = s.spine_up / s.links_per_core;
  }
  s.now = s.later = level_of(s, nodes);
  return s;
}

}  // namespace railyard::plan
