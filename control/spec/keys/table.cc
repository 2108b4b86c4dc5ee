#include "control/spec/keys/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/spec/keys/unique.h"
#include "control/spec/suggest.h"
#include "control/spec/warning.h"

namespace railyard::spec {

void refuse_unknown_keys(const Tree& map, const std::vector<std::string>& known,
                         const std::vector<std::string>& also) {
  for (const Tree::Entry& entry : map.entries)
    if (std::ranges::count(known, entry.key) == 0 && std::ranges::count(also, entry.key) == 0)
      fail_at(entry.place, map.path,
              fmt::format("unknown key '{}'{} Known here: {}", entry.key,
                          nearest(entry.key, known) ? did_you_mean(entry.key, known) : ".", fmt::join(known, ", ")));
}

const Tree* find_key(const Tree& map, const std::string& name, const std::vector<std::string>& old_names) {
  const Tree* value = map.find(name);
  for (const std::string& old : old_names) {
    const Tree* under_old = map.find(old);
    if (under_old == nullptr) continue;
    if (value != nullptr) under_old->fail(fmt::format("found with {}, its new name; expected one of the two", name));
    warn(under_old->place, fmt::format("{}: renamed to '{}'; the old name will be removed", under_old->path, name));
    value = under_old;
  }
  return value;
}

void require_unique_keys(const std::string& table, std::vector<std::string> known, const std::vector<std::string>& old) {
  known.insert(known.end(), old.begin(), old.end());
  require_unique(fmt::format("keys of '{}'", table), known);
}

Tree table_schema(const std::string& description, std::vector<Tree::Entry> properties,
                  std::vector<std::string> required) {
  Tree schema = Tree::map();
  schema.add("description", Tree::string(description));
  schema.add("type", Tree::list({Tree::string("object"), Tree::string("null")}));
  schema.add("properties", Tree::map(std::move(properties))).spread = true;
  if (!required.empty()) {
    Tree& names = schema.add("required", Tree::list({}));
    for (std::string& name : required) names.items.push_back(Tree::string(std::move(name)));
  }
  schema.add("additionalProperties", Tree::plain("false"));
  return schema;
}

}  // namespace railyard::spec
