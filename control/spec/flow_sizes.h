// Distributions of flow sizes: those that papers have published, and what a file says itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/units.h"

namespace railyard::spec {

// A cumulative distribution: `ppm` parts per million of all flows have at most `size`. Between two points sizes are
// uniform; below the first from one octet on.
struct FlowSizes {
  struct Point {
    Bytes size{};
    std::uint32_t ppm = 0;

    bool operator==(const Point&) const = default;
  };
  std::string name;           // of a published one; empty: points of the file's own
  std::vector<Point> points;  // both ascending; the last has 1,000,000 ppm

  bool operator==(const FlowSizes&) const = default;

  double mean() const noexcept;  // octets
  // The size below which the fraction `draw` / 2^64 of flows lie; at least one octet.
  Bytes at(std::uint64_t draw) const noexcept;
};

// web-search, data-mining, storage, mice; flow_sizes.cc names their sources.
const std::vector<FlowSizes>& published_flow_sizes();

}  // namespace railyard::spec
