// Chance for what is generated: a stream per concern, so that one more thing to draw leaves all others as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dataplane/base/rng.h"

namespace railyard::spec {

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

// What fmt::format makes of it, where more than one thing is drawn among the arguments: those in braces are evaluated
// from left to right (ISO C++ [dcl.init.list]/4), those of a call as the compiler likes, and so would be a lab.
struct Text : std::string {
  template <class... Args>
  Text(fmt::format_string<Args...> format, Args&&... args)  // NOLINT: in braces only
      : std::string(fmt::format(format, std::forward<Args>(args)...)) {}
};

}  // namespace railyard::spec
