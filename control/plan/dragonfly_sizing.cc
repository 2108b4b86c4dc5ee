#include "control/plan/dragonfly_sizing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "control/plan/cabling.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

CableRow cable(const char* between, Length length, BitRate rate) {
  const auto medium = medium_for(length, rate);
  if (!medium)
    throw spec::SpecError(spec::Place{.file = "--core-cable"}, "no cable reaches so far; expected 10km or less");
  return {between, length, rate, *medium};
}

// In the order: nodes, leaves to spines, groups.
std::array<CableRow, 3> rows_of(const Request& r, const SwitchChoice& chosen) {
  return {cable("node - leaf", r.used_node_cable(), r.nic_rate()),
          cable("leaf - spine", r.fabric_cable, chosen.port_rate),
          cable("spine - spine", r.core_cable, chosen.port_rate)};
}

}  // namespace

std::optional<DragonflyShape> size_dragonfly(const Request& r, const SwitchChoice& chosen,
                                             const std::function<bool(const DragonflyShape&)>& is_affordable,
                                             const std::function<double(const DragonflyShape&)>& cost) {
  const int split = std::max(1, static_cast<int>(chosen.port_rate.bps / r.nic_rate().bps));
  const int radix = chosen.radix;
  const int hosts = r.nodes() * r.nics();
  const double port = static_cast<double>(chosen.port_rate.bps), nic = static_cast<double>(r.nic_rate().bps);
  std::optional<DragonflyShape> best, cheapest;
  double best_cost = 0, cheapest_cost = 0;
  const auto consider = [&](const DragonflyShape& s) {
    if (best && s.capacity() < best->capacity()) return;
    const double price = cost(s);
    if (!cheapest || price < cheapest_cost) cheapest = s, cheapest_cost = price;
    if (!is_affordable(s)) return;
    const bool better =
        !best || s.capacity() > best->capacity() || (s.capacity() == best->capacity() && price < best_cost);
    if (better) best = s, best_cost = price;
  };
  for (int nics = r.nics(); nics <= std::min(radix * split, hosts); nics += r.nics()) {
    const int down = (nics + split - 1) / split;
    for (int leaves = 1; leaves < radix; ++leaves) {
      const int groups = (hosts + leaves * nics - 1) / (leaves * nics);
      if (groups < 2) break;
      const double below = nics * nic;  // of a leaf
      for (int spines = 2; spines <= radix - down; ++spines) {
        // As many parallel uplinks as are of use.
        const int uplinks =
            std::clamp(static_cast<int>(std::ceil(below / (spines * port))), 1, (radix - down) / spines);
        const int left = radix - leaves * uplinks;
        // The same number of links to each other group: at least one, and no more than are of use.
        const int others = groups - 1;
        const int enough = static_cast<int>(std::ceil(leaves * below / (port * others)));
        for (int each = std::min(enough, spines * left / others); each >= 1; each = each * 3 / 4) {
          const int links = (each * others + spines - 1) / spines;
          if (links > left) continue;
          const int there = spines * links / others;
          consider({groups, leaves, spines, uplinks, nics, links, spines * uplinks * port / below,
                    there * others * port / (leaves * below)});
        }
      }
    }
  }
  return best ? best : cheapest;
}

Parts parts_of(const DragonflyShape& s, const Request& r, const SwitchChoice& chosen) {
  const auto rows = rows_of(r, chosen);
  const std::int64_t nics = std::int64_t{r.nodes()} * r.nics();
  return {.nodes = r.nodes(),
          .nics = nics,
          .nic_rate = r.nic_rate(),
          .switches = std::int64_t{s.groups} * (s.leaves + s.spines),
          .switch_capacity = chosen.capacity(),
          .cables = {
              {rows[0], nics},
              {rows[1], std::int64_t{s.groups} * s.leaves * s.spines * s.uplinks_per_spine},
              {rows[2], std::int64_t{s.groups} * (s.spines * s.global_links / (s.groups - 1) * (s.groups - 1)) / 2}}};
}

std::string topology_text(const DragonflyShape& s, const Request& r) {
  SwitchChoice chosen = choose_switch(r);
  const auto rows = rows_of(r, chosen);
  const auto link = [](const char* name, const CableRow& row) {
    return fmt::format("  {}: {{ rate: {}, cable: {}, medium: {} }}\n", name, spec::format(row.rate),
                       spec::format(row.length), spec::name(row.medium));
  };
  return fmt::format(
             "topology:\n  preset: dragonfly-plus\n  groups: {}\n  leaves-per-group: {}\n  spines-per-group: {}\n"
             "  hosts-per-leaf: {}\n  uplinks-per-spine: {}\n  global-links: {}\n",
             s.groups, s.leaves, s.spines, s.nics_per_leaf, s.uplinks_per_spine, s.global_links) +
         link("host-link", rows[0]) + link("fabric-link", rows[1]) + link("global-link", rows[2]);
}

}  // namespace railyard::plan
