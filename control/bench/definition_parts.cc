#include "control/bench/definition_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/suggest.h"
#include "control/spec/yaml/print.h"

namespace railyard::bench {

using spec::Tree;

void refuse_others(const Tree& map, const std::vector<std::string>& known) {
  for (const Tree::Entry& e : map.as_map())
    if (std::ranges::find(known, e.key) == known.end())
      spec::fail_at(
          e.place, spec::join_path(map.path, e.key),
          fmt::format("unknown key{}; expected one of {}", spec::did_you_mean(e.key, known), fmt::join(known, ", ")));
}

const Tree& required(const Tree& map, const char* key) {
  const Tree* value = map.find(key);
  if (value == nullptr) map.fail(fmt::format("'{}' is missing; every definition of this kind has it", key));
  return *value;
}

std::string text_of(const Tree& map, const char* key) { return required(map, key).as_text("a text"); }

std::string text_or(const Tree& map, const char* key, std::string otherwise) {
  const Tree* value = map.find(key);
  return value == nullptr ? otherwise : value->as_text("a text");
}

std::vector<std::string> texts(const Tree* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const Tree& item : list->as_list("a list"))
    out.push_back(item.kind == Tree::Kind::kScalar ? item.text : spec::print_yaml_line(item));
  for (std::string& s : out)
    while (s.ends_with('\n')) s.pop_back();
  return out;
}

}  // namespace railyard::bench
