// Which runs a sweep is made of: all combinations of some values of some keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace railyard::sweep {

// A key of the fabric file with the values that it takes, or several that take the same.
struct Dimension {
  std::string path;                 // "qos.default.classes.3.path", "traffic.a.message+traffic.a.bytes"
  std::vector<std::string> values;  // "ecmp", "spray", "{ policy: adaptive, per: flowlet }"

  std::vector<std::string> paths() const;
  // With one of its values, as settings: "traffic.a.message=4KB", "traffic.a.bytes=4KB".
  std::vector<std::string> sets(std::size_t value) const;
};

// "path=v1,v2", or with '+' between several paths: values are separated by commas outside of brackets, braces and
// quotes. Throws std::invalid_argument: no '=', a path that is empty, no value, or one twice.
Dimension parse_dimension(const std::string& text);

// "7", "1-5". Throws std::invalid_argument. At most 10,000.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

// One combination: for each dimension the index of its value.
using Point = std::vector<std::size_t>;
// The last dimension varies fastest. Without any, one point of nothing. Throws std::invalid_argument: a path twice, or
// more than kMostRuns with `seeds` for each.
std::vector<Point> points(const std::vector<Dimension>& dimensions, std::size_t seeds);

inline constexpr std::size_t kMostRuns = 100'000;

}  // namespace railyard::sweep
