// The tables of units behind value.h: what reads them and what writes them agree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace railyard::spec {

struct Unit {
  std::string_view name;
  std::int64_t amount;  // in the smallest unit
  bool written = true;  // used when values are written, not only understood
};

struct Quantity {
  std::string_view noun;      // "a duration"
  std::string_view examples;  // "500ns, 1.5us or 10ms"
  std::string_view smallest;  // "picoseconds"
  std::span<const Unit> units;
};

inline constexpr Unit kTimeUnits[] = {{"ps", 1},
                                      {"ns", 1'000},
                                      {"us", 1'000'000},
                                      {"\u00b5s", 1'000'000, false},  // micro sign
                                      {"\u03bcs", 1'000'000, false},  // Greek mu
                                      {"ms", 1'000'000'000},
                                      {"s", 1'000'000'000'000}};
inline constexpr Unit kSizeUnits[] = {{"B", 1},
                                      {"KB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000},
                                      {"KiB", std::int64_t{1} << 10},
                                      {"MiB", std::int64_t{1} << 20},
                                      {"GiB", std::int64_t{1} << 30},
                                      {"TiB", std::int64_t{1} << 40}};
inline constexpr Unit kRateUnits[] = {
    {"bps", 1}, {"Kbps", 1'000}, {"Mbps", 1'000'000}, {"Gbps", 1'000'000'000}, {"Tbps", 1'000'000'000'000}};
inline constexpr Unit kLengthUnits[] = {{"mm", 1}, {"cm", 10, false}, {"m", 1'000}, {"km", 1'000'000}};

inline constexpr Quantity kTime{"a duration", "500ns, 1.5us or 10ms", "picoseconds", kTimeUnits};
inline constexpr Quantity kSize{"a size", "1500B, 64KiB or 1MB", "octets", kSizeUnits};
inline constexpr Quantity kRate{"a rate", "2.5Gbps, 100Gbps or 1Tbps", "bit/s", kRateUnits};
inline constexpr Quantity kLength{"a length", "3m or 1.5km", "millimetres", kLengthUnits};

}  // namespace railyard::spec
