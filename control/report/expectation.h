// A condition (spec/condition.h) held against a run: what was found, and where.
#pragma once

#include <optional>
#include <string>

#include "control/spec/place.h"

namespace railyard::report {

struct Expectation {
  std::string text;  // as it was written: "busbw >= 380Gbps"
  bool met = false;  // a figure that was not measured misses
  std::optional<double>
      found;  // in the unit of its figure; of several terms, of the first that misses, or else the first
  // "97.9 Gb/s", "not measured"; of several terms, of all that miss: "busbw 97.9 Gb/s (flat) and drops 3 (leaf1:1)"
  std::string found_text;
  std::string where;  // where the figure has its worst or its largest part: "leaf1:3 class 3"; may be empty
  spec::Place place;  // where it was written
};

}  // namespace railyard::report
