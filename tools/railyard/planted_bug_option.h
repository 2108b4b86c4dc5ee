// --planted-bug: a bug on purpose, in a build that has them (dataplane/base/planted_bug.h).
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace railyard::tools {

// Plants the bug when the command line is read; `name` keeps which. A name that is none, or a build without bugs, is an
// error of usage.
void add_planted_bug_option(CLI::App& command, std::string& name);

}  // namespace railyard::tools
