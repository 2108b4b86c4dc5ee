// A lab that a seed has made: a fabric file in parts, so that some of its traffic, collectives and faults can
// be left out.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace railyard::swarm {

struct GeneratedLab {
  // Of a list of the file: "t1", "f3", and the text of its map.
  struct Item {
    std::string name;
    std::string yaml;
  };
  std::uint64_t seed = 0;
  std::string fabric;  // everything but the lists
  std::vector<Item> traffic;
  std::vector<Item> collectives;
  std::vector<Item> faults;

  // The fabric file, without the items that are named.
  std::string text(const std::set<std::string>& without = {}) const;
};

// The lab of a seed: topology, switches, classes, traffic and faults, each drawn by itself. Always one that can be run.
// Faults are over, or are to be taken away, when kFaultsEnd of its duration have passed.
GeneratedLab generate(std::uint64_t seed);

// A share of the run in percent: after it there is traffic and no fault any more.
inline constexpr int kFaultsEnd = 70;

}  // namespace railyard::swarm
