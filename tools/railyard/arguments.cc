#include "tools/railyard/arguments.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/short_quote.h"
#include "control/spec/suggest.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

// The option takes its value from the next argument.
bool takes_next(const std::string& argument) { return argument == "-l" || argument == "--lab"; }

// The command that was being parsed, and what it is called: "railyard link down".
const CLI::App* innermost(const CLI::App& app, std::string& name) {
  const CLI::App* at = &app;
  name = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return at;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> rest = command.remaining(true);
  const std::vector<std::string> subcommands = commands_of(command);
  const bool wants_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !subcommands.empty();
  if (wants_command && rest.empty())
    return fmt::format("no command; expected one of: {}", fmt::join(subcommands, ", "));
  if (wants_command && !rest[0].starts_with('-'))
    return fmt::format("there is no command '{}'{}", rest[0], spec::did_you_mean(rest[0], subcommands));
  const bool has_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || wants_command;
  if (!has_extras || rest.empty()) return error.what();
  const auto unknown = std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with('-'); });
  if (unknown == rest.end()) return fmt::format("unexpected argument '{}'", rest[0]);
  const std::string option = unknown->substr(0, unknown->find('='));
  return fmt::format("unknown option '{}'{}", option, spec::did_you_mean(option, options_of(command)));
}

}  // namespace

void take_one_value_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (!option->get_positional()) option->allow_extra_args(false);
  for (CLI::App* sub : app.get_subcommands({})) take_one_value_each(*sub);
}

namespace {

// The descriptions of an option's checks, which are then silent.
std::vector<std::string> taken_descriptions(CLI::Option& option) {
  std::vector<std::string> all;
  // Each description stands in the type's name behind a colon. Most options have none, and past the last check CLI11
  // throws, which costs more than all else here.
  if (!option.get_type_name().contains(':')) return all;
  try {
    for (int i = 0;; ++i) {
      CLI::Validator* const check = option.get_validator(i);
      if (!check->get_description().empty()) all.push_back(check->get_description());
      check->description("");
    }
  } catch (const CLI::OptionNotFound&) {  // no more
  }
  return all;
}

// "{a,b}" -> "a|b"; "INT in [0 - 255]" -> "0..255"; empty: neither.
std::string values_text(std::string description) {
  if (description.starts_with('{') && description.ends_with('}')) {
    std::ranges::replace(description, ',', '|');
    return description.substr(1, description.size() - 2);
  }
  const std::size_t from = description.find("in [");
  const std::size_t to = description.find(" - ");
  if (from == description.npos || to == description.npos || !description.ends_with(']')) return {};
  return description.substr(from + 4, to - from - 4) + ".." + description.substr(to + 3, description.size() - to - 4);
}

}  // namespace

void name_checked_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (const std::string usual = option->get_default_str(); !usual.empty()) {
      option->description(fmt::format("{} (default: {})", option->get_description(), usual));
      option->default_str("");
    }
    for (const std::string& description : taken_descriptions(*option)) {
      const std::string name = option->get_type_name();
      const bool is_named = name != "TEXT" && name != "INT" && name != "UINT" && name != "FLOAT";
      const std::string values = values_text(description);
      if (!values.empty() && (!is_named || description.starts_with('{'))) option->type_name(values);
    }
  }
  for (CLI::App* sub : app.get_subcommands({})) name_checked_values(*sub);
}

std::vector<std::string> arranged(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments[0] == "help" && (arguments.size() == 1 || !arguments[1].starts_with('-'))) {
    arguments.erase(arguments.begin());
    const CLI::App* at = &app;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::vector<std::string> known = commands_of(*at);
      if (std::ranges::find(known, arguments[i]) == known.end())
        throw std::invalid_argument(
            fmt::format("help: there is no command '{}'{}", fmt::join(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, " "),
                        spec::did_you_mean(arguments[i], known)));
      at = at->get_subcommand(arguments[i]);
    }
    arguments.emplace_back("--help");
    return arguments;
  }
  const auto command = std::ranges::find(commands(), arguments[0], &Command::name);
  if (command == commands().end() || command->own_arguments == 0) return arguments;
  int own = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--") return arguments;
    if (own == command->own_arguments) {
      if (arguments[i] != "--help" && arguments[i] != "-h")
        arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return arguments;
    }
    if (takes_next(arguments[i]))
      ++i;
    else if (!arguments[i].starts_with('-'))
      ++own;
  }
  return arguments;
}

std::string problem_with(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App* const command = innermost(app, name);
  std::string what = what_is_wrong(*command, error);
  while (what.ends_with('\n') || what.ends_with('.')) what.pop_back();
  if (!what.ends_with('?')) what += '.';
  return fmt::format("{}: {} See `{} --help`.", name, printable(with_short_quotes(what)), name);
}

}  // namespace railyard::tools
