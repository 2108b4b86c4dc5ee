#include "control/spec/presets/three_tiers.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "control/spec/presets/lab_maker.h"

namespace railyard::spec {

void check_sizes(const Tree& topology, const ThreeTiers& f) {
  const std::int64_t pods = f.pods;
  const std::int64_t tops = f.planes ? std::int64_t{f.spines} * f.tops : f.tops;
  check_most(topology, pods * f.leaves, "leaves", kMostSwitches);
  check_most(topology, pods * f.spines, "spines", kMostSwitches);
  check_most(topology, tops, f.top_role + "s", kMostSwitches);
  check_most(topology, pods * f.leaves / f.rails * f.hosts, "hosts", kMostHosts);
  check_most(topology, std::int64_t{f.hosts} + std::int64_t{f.spines} * f.leaf_uplinks, "ports of a leaf", kMostPorts);
  check_most(topology, std::int64_t{f.leaves} * f.leaf_uplinks + std::int64_t{f.tops} * f.spine_uplinks,
             "ports of a spine", kMostPorts);
  check_most(topology, pods * (f.planes ? 1 : f.spines) * f.spine_uplinks, "ports of a " + f.top_role, kMostPorts);
}

void make(const Tree& topology, const ThreeTiers& f, Lab& lab) {
  LabMaker make(topology, lab);
  const int tops = f.planes ? f.spines * f.tops : f.tops;
  const int hosts = f.pods * f.leaves / f.rails * f.hosts;
  for (int i = 1; i <= f.pods * f.leaves; ++i) make.add_switch(fmt::format("leaf{}", i), "leaf", f.leaf_profile);
  for (int i = 1; i <= f.pods * f.spines; ++i) make.add_switch(fmt::format("spine{}", i), "spine", f.spine_profile);
  for (int i = 1; i <= tops; ++i)
    make.add_switch(fmt::format("{}{}", f.top_name, i), f.top_role.c_str(), f.top_profile);
  for (int i = 1; i <= hosts; ++i) make.add_host(fmt::format("h{}", i), f.rails, f.host_profile);

  // All numbers from 0.
  const auto leaf = [&](int pod, int i) { return fmt::format("leaf{}", pod * f.leaves + i + 1); };
  const auto spine = [&](int pod, int i) { return fmt::format("spine{}", pod * f.spines + i + 1); };
  for (int i = 0; i < hosts; ++i)
    for (int rail = 0; rail < f.rails; ++rail)
      make.add_link(f.host_link, {fmt::format("h{}", i + 1), rail + 1},
                    {fmt::format("leaf{}", i / f.hosts * f.rails + rail + 1), i % f.hosts + 1});
  for (int pod = 0; pod < f.pods; ++pod) {
    for (int l = 0; l < f.leaves; ++l)
      for (int s = 0; s < f.spines; ++s)
        for (int k = 1; k <= f.leaf_uplinks; ++k)
          make.add_link(f.fabric_link, {leaf(pod, l), f.hosts + s * f.leaf_uplinks + k},
                        {spine(pod, s), l * f.leaf_uplinks + k});
    for (int s = 0; s < f.spines; ++s)
      for (int t = 0; t < f.tops; ++t)
        for (int k = 1; k <= f.spine_uplinks; ++k)
          make.add_link(f.top_link, {spine(pod, s), f.leaves * f.leaf_uplinks + t * f.spine_uplinks + k},
                        {fmt::format("{}{}", f.top_name, (f.planes ? s * f.tops : 0) + t + 1),
                         (f.planes ? pod : pod * f.spines + s) * f.spine_uplinks + k});
  }
}

// down / (n x up) <= ratio.
int uplinks_for(Int128 down_bps, BitRate up, Ratio ratio) {
  const Int128 need = down_bps * ratio.denominator;
  const Int128 each = static_cast<Int128>(up.bps) * ratio.numerator;
  return static_cast<int>(std::min<Int128>((need + each - 1) / each, std::numeric_limits<int>::max() / 2));
}

}  // namespace railyard::spec
