// Runs a program: no shell, no terminal, what it prints is collected.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace railyard::hosts {

struct CommandOptions {
  std::string input{};                  // its standard input
  std::size_t most_output = 64 * 1024;  // octets of output that are kept; what is printed beyond is read and dropped
  int keep_open = -1;                   // a descriptor of ours that it holds open until it ends; -1: none
};

struct CommandResult {
  int status = 0;      // as in a shell: 0 is success; 128 + n if signal n ended it
  std::string output;  // standard output and standard error as they came, at most `most_output` octets
};

// Where `program` is: in PATH, or in the folders of the system's programs, which an ordinary user's PATH may lack.
// Throws HostsError that says what to install if it is nowhere.
std::string find_program(const std::string& program);

// Runs `arguments`, the first of which names the program, and waits for its end, whatever its status. It runs in a
// process group of its own, so that a Ctrl-C at the terminal is for us alone, and in the C locale. Throws HostsError if
// it cannot be started. Whoever else waits for children must not take ours: no waitpid(-1), no ignored SIGCHLD.
CommandResult run_command(const std::vector<std::string>& arguments, const CommandOptions& options = {});

}  // namespace railyard::hosts
