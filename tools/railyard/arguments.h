// What the user typed, before and after it is parsed.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace railyard::tools {

// `help CMD` as `CMD --help`; a `--` where another program's arguments begin (Command::own_arguments).
std::vector<std::string> arranged(std::vector<std::string> arguments);

// One line that says what is wrong with a command line, what may have been meant, and where to look:
// "railyard run: unknown option '--sed'; did you mean '--seed'? `railyard run --help` explains it."
std::string problem_with(const CLI::App& app, const CLI::ParseError& error);

}  // namespace railyard::tools
