// Where in a file something was said, for messages about it later.
#pragma once

#include <string>

namespace railyard::spec {

// Line and column from 1; 0: not from a file, and `file` says what it is from ("--set run.duration=1ms").
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  // Where it was said is no part of what was said.
  constexpr bool operator==(const Place&) const noexcept { return true; }
};

// "x.yaml:12:5", "x.yaml", "--set run.duration=1ms".
std::string to_string(const Place& place);

}  // namespace railyard::spec
