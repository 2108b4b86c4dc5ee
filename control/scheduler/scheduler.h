// Processes beside each other: what crashes takes no other along.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace railyard::scheduler {

// What came of one.
struct Ended {
  std::size_t index = 0;
  int exit_code = 0;   // -1: ended by a signal, or never begun
  std::string output;  // standard output
  std::string error;   // the last line of standard error, or what ended it
  bool late = false;   // ended since it took longer than Limits::seconds
};

struct Limits {
  // At most so many at a time, fewer where the machine's memory has no room for as many (machine_memory.h). 0: one for
  // each processor.
  std::size_t parallel = 0;
  // A process that takes longer is ended; 0: none is.
  unsigned seconds = 0;
};

// Runs `count` processes in order, and hands over what came of each as it ends, until `done` returns false: then no more
// begin, and those that run are ended. `work` is called in the new process with its index; what it returns is the output.
// If it throws, the exit code is 1 and the error is what it says. The caller must have no other threads. Processes die with
// the caller. Throws std::system_error if the machine has none left.
void run_all(std::size_t count, const Limits& limits, const std::function<std::string(std::size_t)>& work,
             const std::function<bool(Ended)>& done);

// The same for programs with their arguments.
void run_all(const std::vector<std::vector<std::string>>& commands, const Limits& limits, const std::function<bool(Ended)>& done);

}  // namespace railyard::scheduler
