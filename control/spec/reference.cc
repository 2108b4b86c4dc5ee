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

constexpr std::array<std::pair<std::string_view, std::string (*)()>, 3> kParts{
    {{"faults", fault_reference}, {"algorithms", algorithm_reference}, {"paths", path_reference}}};

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

std::string reference_line(const std::string& example, const std::string& what) {
  constexpr std::size_t kColumn = 44;
  constexpr std::size_t kWidth = 120;
  std::string text;
  std::string line = fmt::format("  #   {}", example);
  // A long example has its text in the next line.
  if (line.size() + 2 > kColumn) {
    text += line + "\n";
    line = "  #";
  }
  line.resize(kColumn, ' ');
  std::istringstream words(what);
  std::size_t used = kColumn;
  for (std::string word; words >> word;) {
    if (used > kColumn && used + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = "  #";
      line.resize(kColumn, ' ');
      used = kColumn;
    }
    if (used > kColumn) line += ' ';
    line += word;
    used = line.size();
  }
  return text + line + "\n";
}

}  // namespace railyard::spec
