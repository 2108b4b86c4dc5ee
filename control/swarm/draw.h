// Chance for what is generated: a stream per concern, so that one more thing to draw leaves all others as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "dataplane/base/rng.h"

namespace railyard::swarm {

class Draw {
 public:
  Draw(Seed seed, std::string_view concern) : rng_(seed, concern) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  // Of a hundred times, so many.
  bool percent(unsigned p) { return rng_.below(100) < p; }
  // Both ends included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  RngStream rng_;
};

}  // namespace railyard::swarm
