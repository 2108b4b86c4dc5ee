// What the user typed, before and after it is parsed.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace railyard::tools {

// `help CMD` as `CMD --help`; a `--` where another program's arguments begin (Command::own_arguments). Throws
// std::invalid_argument: `app` has no such command to help with.
std::vector<std::string> arranged(const CLI::App& app, std::vector<std::string> arguments);

// Options that may be repeated take one value each time, and not what follows: `--set a=b LAB.yaml`.
void take_one_value_each(CLI::App& app);

// What help and completion call the values of options with a check: "wall|virtual" and "0..255", not the library's
// "TEXT:{wall,virtual}" and "INT:INT in [0 - 255]". A name that the option has is kept for ranges. Defaults go behind
// the descriptions: "(default: 16)", not "INT=16".
void name_checked_values(CLI::App& app);

// One line that says what is wrong with a command line, what may have been meant, and where to look:
// "railyard run: unknown option '--sed'; did you mean '--seed'? See `railyard run --help`."
std::string problem_with(const CLI::App& app, const CLI::ParseError& error);

}  // namespace railyard::tools
