// Many lines of ip(8) or tc(8) in one run of the program.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/hosts/journal.h"

namespace railyard::hosts {

class Batch {
 public:
  // Lines for `program` in the namespace `netns`; empty: in ours. `family`, e.g. "-6", if they do not show it.
  Batch(std::string program, std::string netns, std::string family = {})
      : program_(std::move(program)), netns_(std::move(netns)), family_(std::move(family)) {}

  template <class... A>
  void add(fmt::format_string<A...> format, A&&... arguments) {
    lines_.push_back(fmt::format(format, std::forward<A>(arguments)...));
  }

  struct Outcome {
    std::size_t failed;  // that line, from 0; as many as there are lines: none
    std::string output;
  };
  // Runs them up to the first that fails. Throws HostsError if the program cannot be run.
  Outcome run(const Journal& journal) const;
  // The same; throws HostsError that says which line failed, why, and what would help.
  void run_or_throw(const Journal& journal) const;
  [[noreturn]] void fail(const Outcome& outcome) const;

 private:
  std::string program_;
  std::string netns_;
  std::string family_;
  std::vector<std::string> lines_;
};

}  // namespace railyard::hosts
