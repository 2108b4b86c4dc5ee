// Chance for labs of tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::spec {

class Chance {
 public:
  explicit Chance(std::mt19937_64& random) : random_(random) {}

  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  int integer(int least, int most) { return static_cast<int>(number(least, most)); }
  Bytes bytes(std::int64_t least, std::int64_t most) { return {one_in(2) ? number(least, most) : round(least, most)}; }
  Duration time(std::int64_t least, std::int64_t most) {
    return {one_in(2) ? number(least, most) : round(least, most)};
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + number(0, static_cast<std::int64_t>(choices.size()) - 1));
  }
  template <class List>
  auto of(const List& choices) {
    return *(std::begin(choices) + number(0, std::ssize(choices) - 1));
  }

 private:
  // Few digits, as people write them.
  std::int64_t round(std::int64_t least, std::int64_t most) {
    std::int64_t unit = 1;
    for (int i = integer(0, 9); i > 0 && unit * 10 < most; --i) unit *= 10;
    return std::clamp(number(least, most) / unit * unit, least, most);
  }

  std::mt19937_64& random_;
};

inline constexpr std::int64_t kMiB = 1 << 20;
inline constexpr std::int64_t kMillisecond = 1'000'000'000;

}  // namespace railyard::spec
