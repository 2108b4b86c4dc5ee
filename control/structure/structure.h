// The shape of a fabric in figures: what a designer compares before buying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/routing/graph.h"
#include "dataplane/base/units.h"

namespace railyard::structure {

// Definitions: docs/topologies.md.
struct Tier {
  int number = 0;                // 1: the switches next to hosts
  std::size_t switches = 0;
  std::size_t ports_used = 0;    // of the switch that uses most
  std::size_t ports_offered = 0; // of its profile, with breakout; 0: as many as there are links
  std::int64_t down_bps = 0;     // all links to the tier below or to hosts
  std::int64_t up_bps = 0;       // all links to the tier above

  // down : up; nothing: there is no tier above.
  std::optional<double> oversubscription() const noexcept {
    return up_bps > 0 ? std::optional(static_cast<double>(down_bps) / static_cast<double>(up_bps)) : std::nullopt;
  }
};

struct Structure {
  std::vector<Tier> tiers;        // from the hosts upwards
  std::size_t lateral_links = 0;  // between switches of one tier
  // Switches that a packet passes between two NICs, over all ordered pairs of NICs of different hosts that can reach
  // each other.
  int least_switches = 0;
  int most_switches = 0;
  double mean_switches = 0;
  std::uint64_t unreachable_pairs = 0;  // of NICs of different hosts
  // Between the first half of the hosts and the second, in the order of the file, one direction, bit/s: by maximum
  // flow. Nothing: fewer than two hosts.
  std::optional<std::int64_t> bisection_bps;
  std::int64_t half_bps = 0;  // of the NICs of the smaller half: what it could use at most
};

// `graph` has all its links up.
Structure structure(const routing::Graph& graph);

// For people: "2 tiers, 3 stages ...", a line each.
std::vector<std::string> lines(const Structure& structure);

}  // namespace railyard::structure
