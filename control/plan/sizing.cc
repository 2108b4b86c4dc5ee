#include "control/plan/sizing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "control/plan/arithmetic.h"
#include "control/report/units.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

int ceil_of(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

// Fewest ports of the rate of `port` that carry down / ratio.
int ports_for(Int128 down_bps, BitRate port, Ratio ratio) {
  const Int128 part = Int128{port.bps} * ratio.numerator;
  return static_cast<int>((down_bps * ratio.denominator + part - 1) / part);
}

// Spines of one pod or of all: as few as carry the uplinks, each linked to each leaf equally often.
bool choose_spines(Shape& s, int leaves, int most_up, int most_spine_down, int at_least) {
  for (int up = s.up; up <= most_up; ++up) {
    const int least = std::max(ceil_of(std::int64_t{leaves} * up, most_spine_down), std::min(at_least, leaves));
    const int most = s.spines > 0 ? std::min(up, s.spines - 1) : up;  // more are no better
    if (s.spines > 0 && least > most) break;
    for (int spines = least; spines <= most; ++spines) {
      if (up % spines != 0 || std::int64_t{leaves} * (up / spines) > most_spine_down) continue;
      s.spines = spines;
      s.uplinks_per_spine = up / spines;
      break;
    }
  }
  if (s.spines == 0) return false;
  s.up = s.spines * s.uplinks_per_spine;
  return true;
}

// Pods of leaves and spines below cores.
bool choose_pods(Shape& s, const Request& r, int groups) {
  const Ratio ratio = r.core_oversubscription;
  // Ports of a spine to leaves; the others carry as much upwards.
  int down = s.radix - 1;
  while (down > 0 && down + ports_for(Int128{s.port_rate.bps} * down, s.port_rate, ratio) > s.radix) --down;
  s.groups_per_pod = down / s.leaves_per_group;
  if (s.groups_per_pod == 0) return false;
  const int pods = ceil_of(groups, s.groups_per_pod);
  if (pods > s.radix) return false;
  s.groups_per_pod = ceil_of(groups, pods);
  s.spines = s.up;
  s.uplinks_per_spine = 1;
  s.spine_up = ports_for(Int128{s.port_rate.bps} * s.leaves_per_pod(), s.port_rate, ratio);
  // As many parallel links to as few cores as their ports allow.
  for (int links = std::min(s.spine_up, s.radix / pods); links >= 1; --links)
    if (s.spine_up % links == 0) {
      s.links_per_core = links;
      s.cores_per_plane = s.spine_up / links;
      return true;
    }
  return false;
}

std::optional<Shape> shape_of(const Request& r, const SwitchChoice& chosen, int tiers, int rails, int nodes) {
  Shape s{.design = r.design,
          .tiers = tiers,
          .radix = chosen.radix,
          .nics_per_node = r.nics(),
          .split = std::max(1, static_cast<int>(chosen.port_rate.bps / r.nic_rate().bps)),
          .nic_rate = r.nic_rate(),
          .port_rate = chosen.port_rate,
          .rails_per_leaf = rails,
          .leaves_per_group = ceil_of(r.nics(), rails),
          .nodes_per_group = nodes};
  s.down = ceil_of(std::int64_t{nodes} * rails, s.split);
  if (s.down > s.radix) return std::nullopt;
  const int groups = ceil_of(r.nodes_later(), nodes);
  const int leaves = groups * s.leaves_per_group;
  if (tiers == 1) {
    if (leaves > 1) return std::nullopt;
  } else {
    s.up = ports_for(Int128{r.nic_rate().bps} * nodes * rails, s.port_rate, r.used_oversubscription());
    if (s.down + s.up > s.radix) return std::nullopt;
    if (tiers == 2 && !choose_spines(s, leaves, s.radix - s.down, s.radix, r.spines_at_least)) return std::nullopt;
    if (tiers == 3 && !choose_pods(s, r, groups)) return std::nullopt;
  }
  s.now = level_of(s, r.nodes());
  s.later = level_of(s, r.nodes_later());
  return s;
}

// How many rails may share a leaf.
std::vector<int> choices_of_rails(const Request& r, int tiers) {
  if (r.design == Design::kFatTree || tiers == 1) return {r.nics()};
  if (r.rails_per_leaf) return {*r.rails_per_leaf};
  if (tiers == 3) return {1};
  std::vector<int> all;
  for (int rails = 1; rails <= r.nics(); ++rails)
    if (ceil_of(r.nics(), ceil_of(r.nics(), rails)) == rails) all.push_back(rails);
  return all;
}

std::optional<Shape> best_shape(const Request& r, const SwitchChoice& chosen, int tiers) {
  const int split = std::max(1, static_cast<int>(chosen.port_rate.bps / r.nic_rate().bps));
  std::optional<Shape> best;
  const auto cost = [](const Shape& s) {
    return std::tuple(s.later.switches(), s.now.leaves, s.leaf_links(s.later), -s.nodes_per_group, s.rails_per_leaf);
  };
  for (const int rails : choices_of_rails(r, tiers)) {
    const int most = std::min(chosen.radix * split / rails, r.nodes_later());
    for (int nodes = 1; nodes <= most; ++nodes)
      if (const auto s = shape_of(r, chosen, tiers, rails, nodes); s && (!best || cost(*s) < cost(*best))) best = s;
  }
  return best;
}

}  // namespace

Level level_of(const Shape& s, int nodes) {
  Level l{.nodes = nodes, .groups = ceil_of(nodes, s.nodes_per_group)};
  if (s.tiers == 3) {
    l.pods = ceil_of(l.groups, s.groups_per_pod);
    l.spines = l.pods * s.spines;
  } else {
    l.pods = 1;
    l.spines = s.spines;
  }
  l.leaves = l.groups * s.leaves_per_group;
  l.cores = s.tiers == 3 ? s.spines * s.cores_per_plane : 0;
  return l;
}

std::string counted_switches(const Level& l, const char* separator) {
  std::string out = counted(l.leaves, "leaf", "leaves");
  if (l.spines > 0) out += separator + counted(l.spines, "spine", "spines");
  if (l.cores > 0) out += separator + counted(l.cores, "core", "cores");
  return out;
}

std::int64_t most_nics(const Request& r, const SwitchChoice& chosen) {
  const Ratio o = r.used_oversubscription(), c = r.core_oversubscription;
  const auto part = [&](Ratio ratio) {
    return static_cast<std::int64_t>(chosen.radix * ratio.value() / (1 + ratio.value()));
  };
  const std::int64_t split = std::max<std::int64_t>(1, chosen.port_rate.bps / r.nic_rate().bps);
  return part(o) * split * part(c) * chosen.radix;
}

Shape size(const Request& r, const SwitchChoice& chosen) {
  for (int tiers = 1; tiers <= 3; ++tiers)
    if (const auto s = best_shape(r, chosen, tiers)) return *s;
  const int per_leaf = chosen.radix / 2;
  if (r.design == Design::kFatTree &&
      r.nics() > per_leaf * std::max<std::int64_t>(1, chosen.port_rate.bps / r.nic_rate().bps))
    throw spec::SpecError(
        spec::Place{.file = "--design"},
        fmt::format("the {} NICs of a node do not fit at one leaf of {} ports; expected design: rail-optimized, "
                    "or a larger radix",
                    r.nics(), chosen.radix));
  const std::int64_t most = most_nics(r, chosen) / r.nics() * r.gpus_per_node;
  throw spec::SpecError(spec::Place{.file = r.gpus_later ? "--gpus-later" : "--gpus"},
                        fmt::format("{} GPUs with {} NICs need more than three tiers of switches with {} ports; "
                                    "expected some {} GPUs or fewer, or a "
                                    "larger radix",
                                    report::count_text(static_cast<std::uint64_t>(r.later())),
                                    report::count_text(static_cast<std::uint64_t>(r.nodes_later()) *
                                                       static_cast<std::uint64_t>(r.nics())),
                                    chosen.radix, report::count_text(static_cast<std::uint64_t>(most))));
}

}  // namespace railyard::plan
