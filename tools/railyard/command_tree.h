// The command line as data: what completion and man pages are made from.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace railyard::tools {

// What a value can be completed with.
enum class ValueKind { kNone, kFile, kDirectory, kLab, kHost, kWord, kCommand };

struct OptionNode {
  std::vector<std::string> names;  // "-l", "--lab"; of a positional one: "HOST"
  std::string value;               // "NAME", "wall|virtual"; empty: a flag
  std::string description;
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;  // kWord: "wall", "virtual"
  bool required = false;
  bool repeats = false;
};

struct CommandNode {
  std::vector<std::string> path;  // "railyard", "fault", "add"
  std::string summary;
  std::string footer;
  std::vector<OptionNode> options;
  std::vector<OptionNode> positionals;
  std::vector<CommandNode> commands;
  // Of positionals of its own in front of another program's arguments (Command::own_arguments); 0: none.
  int own_arguments = 0;

  std::string name() const { return path.back(); }
  std::string full_name(const char* separator = " ") const;
};

// Hidden commands (without a group) are left out.
CommandNode command_tree(const CLI::App& app);

}  // namespace railyard::tools
