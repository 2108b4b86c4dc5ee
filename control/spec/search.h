// What is searched for: the value of a key, between two ends, that is nearest to the second with which a condition
// (condition.h) still holds.
//
//   traffic.pairs.rate=1Gbps..100Gbps        the highest rate
//   switches.default.buffer=32MiB..1MiB      the smallest buffer
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/spec/value.h"

namespace railyard::spec {

struct Search {
  enum class Kind { kInteger, kPercent, kDuration, kSize, kRate };
  std::string path;  // "traffic.pairs.rate"
  Kind kind = Kind::kInteger;
  // Of each kind in its smallest unit: 1, parts per million, picoseconds, octets, bit/s. The condition is expected to
  // hold at `from`; they differ.
  std::int64_t from = 0;
  std::int64_t to = 0;

  // A value as a fabric file has it: "37.5Gbps".
  std::string text(std::int64_t value) const;

  bool operator==(const Search&) const = default;
};

// What is wrong: no PATH=FROM..TO, ends without a meaning, of different kinds, or equal.
Parsed<Search> parse_search(std::string_view text);

}  // namespace railyard::spec
