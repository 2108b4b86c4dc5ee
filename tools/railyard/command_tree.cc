#include "tools/railyard/command_tree.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

// By what help calls the value.
ValueKind kind_of(const std::string& value, const std::string& name) {
  constexpr std::array<std::pair<std::string_view, ValueKind>, 13> kKinds{{{"FILE", ValueKind::kFile},
                                                                           {"SPEC", ValueKind::kFile},
                                                                           {"LOG", ValueKind::kFile},
                                                                           {"FROM", ValueKind::kFile},
                                                                           {"TO", ValueKind::kFile},
                                                                           {"PORT=FILE", ValueKind::kFile},
                                                                           {"DIR", ValueKind::kDirectory},
                                                                           {"HOST", ValueKind::kHost},
                                                                           {"HOST[:NIC]", ValueKind::kHost},
                                                                           {"LAB", ValueKind::kLab},
                                                                           {"A", ValueKind::kFile},
                                                                           {"B", ValueKind::kFile},
                                                                           {"COMMAND", ValueKind::kCommand}}};
  if (name == "--lab" && value == "NAME") return ValueKind::kLab;
  for (const auto& [word, kind] : kKinds)
    if (value == word) return kind;
  return ValueKind::kNone;
}

std::vector<std::string> words_of(const std::string& value) {
  std::vector<std::string> words;
  if (value.find('|') == value.npos) return words;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find('|', at), value.size());
    words.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

OptionNode option_node(const CLI::Option& option) {
  OptionNode node;
  for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
  node.description = option.get_description();
  node.required = option.get_required();
  node.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  if (node.names.empty()) node.names.push_back(option.get_name(true, false));
  const std::string long_name = option.get_lnames().empty() ? std::string() : "--" + option.get_lnames().front();
  if (option.get_positional())
    node.value = node.names.front();
  else if (option.get_items_expected_max() > 0 && option.get_type_size() > 0)
    node.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  node.words = words_of(option.get_positional() ? option.get_type_name() : node.value);
  node.kind = node.words.empty() ? kind_of(node.value, long_name) : ValueKind::kWord;
  if (!option.get_envname().empty()) node.description += " (environment: " + option.get_envname() + ")";
  return node;
}

CommandNode node_of(const CLI::App& app, std::vector<std::string> path) {
  CommandNode node;
  path.push_back(app.get_name());
  node.path = path;
  node.summary = app.get_description();
  node.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? node.positionals : node.options).push_back(option_node(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) node.commands.push_back(node_of(*sub, path));
  if (const auto found = std::ranges::find(commands(), app.get_name(), &Command::name);
      path.size() == 2 && found != commands().end())
    node.own_arguments = found->own_arguments;
  return node;
}

}  // namespace

std::string CommandNode::full_name(const char* separator) const {
  std::string text;
  for (const std::string& word : path) text += (text.empty() ? "" : separator) + word;
  return text;
}

CommandNode command_tree(const CLI::App& app) { return node_of(app, {}); }

}  // namespace railyard::tools
