// Commands run beside each other, each in a process of its own: what crashes takes nobody along.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace railyard::sweep {

struct Ended {
  std::size_t index = 0;  // of the command
  int exit_code = 0;      // -1: ended by a signal, or never begun
  std::string output;     // standard output
  std::string error;      // the last line of standard error, or what ended it
};

// Runs `commands` (program and arguments), at most `parallel` at a time, fewer where the machine's memory has no room for as
// many (machine_memory.h), and in order, and hands over what came of each as it ends. Processes die with the caller. Throws std::system_error if the machine has none left.
void run_all(const std::vector<std::vector<std::string>>& commands, std::size_t parallel,
             const std::function<void(Ended)>& done);

}  // namespace railyard::sweep
