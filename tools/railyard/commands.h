// The commands of the command line. commands.cc has the one table of them.
#pragma once

#include <memory>
#include <span>

#include <CLI/CLI.hpp>

namespace railyard::tools {

// Exit codes, the same for every command.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,      // the run could not be finished: memory, a port, a file that cannot be written
  kUsage = 2,       // the command line
  kSpec = 3,        // the fabric file, or a --set
  kUnbalanced = 4,  // the packet accounting does not balance: a bug of ours, please report it
  // A collective did not complete, or its data are not what they should be; or a QP or PDC of a flow has failed, in a
  // lab whose file has no diagnosis (one that has is there to show that).
  kUnverified = 5,
};

struct Command {
  const char* name;
  const char* group;    // heading under which --help lists it
  const char* summary;  // one line of --help
  // Adds options, examples (footer) and the callback, which sets `exit_code`.
  void (*add)(CLI::App* command, int& exit_code);
  // Everything behind this many positional arguments belongs to another program: `exec HOST COMMAND...`. 0: nothing.
  int own_arguments = 0;
};

// All of them, in the order of --help. Help, completion and man pages are made from this.
std::span<const Command> commands();

// The command line with all commands. `exit_code` outlives it.
std::unique_ptr<CLI::App> make_app(int& exit_code);

// Named in the help of every live command.
inline constexpr const char* kLabVariable = "RAILYARD_LAB";

}  // namespace railyard::tools
