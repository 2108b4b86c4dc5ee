// The commands of the command line. commands.cc has the one table of them.
#pragma once

#include <memory>
#include <span>

#include <CLI/CLI.hpp>

#include "control/base/exit_code.h"

namespace railyard::tools {

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
