#include "control/spec/keys/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::spec {

void refuse_unknown_keys(const Tree& map, const std::vector<std::string>& known) {
  for (const Tree::Entry& entry : map.entries)
    if (std::ranges::find(known, entry.key) == known.end())
      fail_at(entry.place, map.path,
              fmt::format("unknown key '{}'{} Known here: {}", entry.key,
                          nearest(entry.key, known) ? did_you_mean(entry.key, known) : ".", fmt::join(known, ", ")));
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
