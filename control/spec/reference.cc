#include "control/spec/reference.h"

#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/collectives/registry.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/keys/keys.h"
#include "control/spec/keys/parameter_keys.h"
#include "control/spec/presets/preset.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {
namespace {

// Which algorithms each operation has, the default first; and what they are.
std::string algorithm_reference() {
  std::string text;
  for (const collectives::Operation o : collectives::kOperations) {
    std::vector<std::string_view> names;
    for (const collectives::Algorithm* a : collectives::algorithms(o)) names.push_back(a->name);
    text += fmt::format("  #   {}: {}\n", name(o), fmt::join(names, ", "));
  }
  for (const collectives::Algorithm* a : collectives::kAlgorithms)
    text += reference_line(fmt::format("algorithm: {}", a->name), std::string(a->help));
  return text;
}

// The settings of a congestion control, with the defaults and, of sets of settings, what the others have. What the
// defaults give no meaning is a comment.
template <class K>
std::string congestion_settings() {
  using S = typename K::Settings;
  constexpr std::size_t kIndent = 6;
  const std::vector<Parameter<S>> parameters = K::parameters();
  const auto preset = preset_of(parameters);
  const std::vector<Key<S>>& keys = parameter_table<K>().keys();
  std::string text = setting_line(fmt::format("{}:", K::kName), std::string(K::kHelp), kIndent);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string usual = keys[i].write(S{}).text;
    std::string help(parameters[i].help);
    const bool is_preset = std::holds_alternative<parameter::Preset<S>>(parameters[i].form);
    for (std::size_t w = 0; preset && !is_preset && w < preset->words.size(); ++w)
      if (const std::string other = keys[i].write(preset->of(w)).text; other != usual)
        help += fmt::format(" ({}: {})", preset->words[w], other);
    const bool has_meaning = !K::conflict(S{}, [&](std::string_view said) { return said == keys[i].name; });
    text += setting_line(fmt::format("{}{}: {}", has_meaning ? "" : "# ", keys[i].name, usual), help, kIndent + 2);
  }
  return text;
}

std::string congestion_reference() {
  std::string text;
  roce::for_each_congestion_kind(
      [&]<class K>(std::type_identity<K>, std::size_t) { text += congestion_settings<K>(); });
  return text;
}

constexpr std::array<std::pair<std::string_view, std::string (*)()>, 5> kParts{{{"faults", fault_reference},
                                                                                {"algorithms", algorithm_reference},
                                                                                {"paths", path_reference},
                                                                                {"congestion", congestion_reference},
                                                                                {"presets", preset_reference}}};

std::string part(const std::string& name) {
  for (const auto& [known, text] : kParts)
    if (known == name) return text();
  throw std::runtime_error(fmt::format("there is no reference '{}'", name));
}

}  // namespace

std::string with_references(const std::string& text) {
  static const std::string kBegin = "# [reference: ";
  static const std::string kEnd = "# [end of reference]";
  std::istringstream lines(text);
  std::string out;
  std::string open;  // the part that is being replaced
  for (std::string line; std::getline(lines, line);) {
    if (line.find(kEnd) != line.npos) open.clear();
    if (!open.empty()) continue;
    out += line + "\n";
    if (const std::size_t at = line.find(kBegin); at != line.npos) {
      const std::size_t name = at + kBegin.size();
      open = line.substr(name, line.find(']', name) - name);
      out += part(open);
    }
  }
  if (!open.empty()) throw std::runtime_error(fmt::format("reference '{}' has no end", open));
  return out;
}

namespace {

// `what` behind `line`, from `column` on, each further line behind `again`.
std::string wrapped(std::string line, const std::string& what, std::size_t column, const std::string& again) {
  constexpr std::size_t kWidth = 120;
  std::string text;
  line.resize(column, ' ');
  std::istringstream words(what);
  for (std::string word; words >> word;) {
    if (line.size() > column && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = again;
      line.resize(column, ' ');
    }
    if (line.size() > column) line += ' ';
    line += word;
  }
  return text + line + "\n";
}

}  // namespace

std::string reference_line(const std::string& example, const std::string& what, std::size_t indent) {
  const std::size_t column = indent + 42;
  const std::string again = std::string(indent, ' ') + "#";
  const std::string line = again + "   " + example;
  // A long example has its text in the next line.
  return line.size() + 2 > column ? line + "\n" + wrapped(again, what, column, again) : wrapped(line, what, column, again);
}

std::string setting_line(const std::string& setting, const std::string& what, std::size_t indent) {
  constexpr std::size_t kColumn = 36;
  std::string line = std::string(indent, ' ') + setting;
  std::string begin;
  if (line.size() + 2 > kColumn) begin = std::exchange(line, "") + "\n";
  line.resize(kColumn, ' ');
  return begin + wrapped(line + "#", what, kColumn + 2, std::string(kColumn, ' ') + "#");
}

}  // namespace railyard::spec
