#include "control/spec/key_reference.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/json_schema.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Keys of a fabric file

This page lists every key, map by map. The target `fabric-schema` writes it from the same tables that read the files.
[explicit.yaml](../topologies/explicit.yaml) shows the keys by example; `railyard show LAB.yaml` prints the values of a
lab with all defaults.

A path such as `qos.NAME.classes.N.ecn` says where a map stands. `--set` takes the same paths: NAME is a name from the
file, N a number, and the entry of a list goes by its `name` (`--set traffic.incast.rate=10Gbps`).
)";

std::string_view text_of(const Tree& schema, std::string_view key) {
  const Tree* found = schema.find(key);
  return found == nullptr ? std::string_view{} : std::string_view(found->text);
}

bool is_of_type(const Tree& schema, std::string_view name) {
  const Tree* type = schema.find("type");
  if (type == nullptr) return false;
  if (type->text == name) return true;
  return std::ranges::any_of(type->items, [&](const Tree& t) { return t.text == name; });
}

// What Markdown would take for markup in a cell of a table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  std::string out = "`";
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out + "`";
}

std::string upper_first(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

class Page {
 public:
  Page() : schema_(parse_yaml(json_schema(), "schema")), definitions_(*schema_.find("$defs")) {
    find_places(schema_, "");
  }

  std::string text() const {
    std::string out(kIntroduction);
    out += "\n## The file\n\n" + table(schema_);
    for (const Tree::Entry& d : definitions_.entries) {
      if (d.value.find("properties") == nullptr) continue;
      out += fmt::format("\n## {}\n\n{}.\n\n", d.key, upper_first(escaped(text_of(d.value, "description"))));
      out += places(d.key) + "\n" + table(d.value);
    }
    out += "\n## Values\n\n| value | meaning |\n|---|---|\n";
    for (const Tree::Entry& d : definitions_.entries)
      if (d.value.find("properties") == nullptr)
        out += fmt::format("| {} | {} |\n", d.key, escaped(text_of(d.value, "description")));
    return out;
  }

 private:
  // The definition that `schema` refers to; null if it refers to none.
  const Tree::Entry* definition(const Tree& schema) const {
    constexpr std::string_view kPrefix = "#/$defs/";
    const std::string_view ref = text_of(schema, "$ref");
    if (!ref.starts_with(kPrefix)) return nullptr;
    const auto found = std::ranges::find(definitions_.entries, ref.substr(kPrefix.size()), &Tree::Entry::key);
    return found == definitions_.entries.end() ? nullptr : &*found;
  }

  // Where maps stand: notes the paths of all definitions below `schema`, which stands at `path`.
  void find_places(const Tree& schema, const std::string& path) {
    if (const Tree::Entry* d = definition(schema)) {
      if (d->value.find("properties") == nullptr) return;
      std::vector<std::string>& seen = places_[d->key];
      if (std::ranges::find(seen, path) != seen.end()) return;
      seen.push_back(path);
      return find_places(d->value, path);
    }
    const auto below = [&](std::string_view key) { return join_path(path, key); };
    if (const Tree* properties = schema.find("properties"))
      for (const Tree::Entry& p : properties->entries) find_places(p.value, below(p.key));
    if (const Tree* any = schema.find("anyOf"))
      for (const Tree& one : any->items) find_places(one, path);
    if (const Tree* more = schema.find("additionalProperties")) find_places(*more, below("NAME"));
    if (const Tree* patterns = schema.find("patternProperties"))
      for (const Tree::Entry& p : patterns->entries) find_places(p.value, below("N"));
    // Links are named by either end.
    if (const Tree* positions = schema.find("prefixItems"))
      for (const Tree& item : positions->items) find_places(item, below("PORT"));
    if (const Tree* items = schema.find("items")) {
      const Tree::Entry* d = definition(*items);
      const Tree* keys = d == nullptr ? nullptr : d->value.find("properties");
      find_places(*items, keys != nullptr && keys->find("name") != nullptr ? below("NAME") : path + "[]");
    }
  }

  std::string places(const std::string& name) const {
    const auto found = places_.find(name);
    if (found == places_.end()) return {};
    constexpr std::size_t kMost = 6;
    std::vector<std::string> shown;
    for (const std::string& p : found->second) {
      if (shown.size() == kMost) {
        shown.push_back(fmt::format("and {} more", found->second.size() - kMost));
        break;
      }
      shown.push_back(code(p));
    }
    return fmt::format("At: {}\n", fmt::join(shown, ", "));
  }

  // What may be said there, in a few words.
  std::string value(const Tree& schema) const {
    if (const Tree::Entry* d = definition(schema))
      return fmt::format("[{}](#{})", d->key, d->value.find("properties") == nullptr ? "values" : d->key);
    if (const Tree* any = schema.find("anyOf")) {
      std::vector<std::string> all;
      for (const Tree& one : any->items) all.push_back(value(one));
      return fmt::format("{}", fmt::join(all, " or "));
    }
    if (const Tree* words = schema.find("enum")) {
      std::vector<std::string> all;
      for (const Tree& word : words->items) all.push_back(code(word.text));
      return fmt::format("{}", fmt::join(all, ", "));
    }
    if (const Tree* constant = schema.find("const")) return code(constant->text);
    if (is_of_type(schema, "array")) return list(schema);
    if (is_of_type(schema, "object")) return map(schema);
    if (is_of_type(schema, "boolean")) return "`true`, `false`";
    if (is_of_type(schema, "integer") || is_of_type(schema, "number")) {
      const std::string_view least = text_of(schema, "minimum");
      const std::string_view most = text_of(schema, "maximum");
      if (is_of_type(schema, "string")) return "text or number";
      if (!most.empty()) return fmt::format("{}..{}", least, most);
      return least.empty() ? "number" : fmt::format("number from {}", least);
    }
    return "text";
  }
  std::string list(const Tree& schema) const {
    if (const Tree* positions = schema.find("prefixItems")) {
      std::vector<std::string> all;
      for (const Tree& item : positions->items) all.push_back(value(item));
      return fmt::format("list of \\[{}\\]", fmt::join(all, ", "));
    }
    const Tree* items = schema.find("items");
    if (items == nullptr) return "list";
    // A list of lists: links.
    return is_of_type(*items, "array") ? value(*items) : fmt::format("list of {}", value(*items));
  }
  std::string map(const Tree& schema) const {
    if (const Tree* more = schema.find("additionalProperties"); more != nullptr && more->kind == Tree::Kind::kMap)
      return fmt::format("map of names to {}", value(*more));
    if (const Tree* patterns = schema.find("patternProperties"); patterns != nullptr && !patterns->entries.empty())
      return fmt::format("map of numbers to {}", value(patterns->entries[0].value));
    std::vector<std::string> keys;
    if (const Tree* properties = schema.find("properties"))
      for (const Tree::Entry& p : properties->entries)
        if (!has_own_row(p.value)) keys.push_back(code(p.key));
    return keys.empty() ? "map" : fmt::format("map of {}", fmt::join(keys, ", "));
  }

  bool has_own_row(const Tree& schema) const {
    return schema.find("description") != nullptr || definition(schema) != nullptr;
  }

  std::string table(const Tree& schema) const {
    return "| key | value | default | meaning |\n|---|---|---|---|\n" + rows(schema, "");
  }
  std::string rows(const Tree& schema, const std::string& prefix) const {
    const Tree* required = schema.find("required");
    std::string out;
    for (const Tree::Entry& p : schema.find("properties")->entries) {
      if (!has_own_row(p.value)) continue;
      const bool must =
          required != nullptr && std::ranges::any_of(required->items, [&](const Tree& r) { return r.text == p.key; });
      const Tree* standard = p.value.find("default");
      std::string_view meaning = text_of(p.value, "description");
      if (meaning.empty())
        if (const Tree::Entry* d = definition(p.value)) meaning = text_of(d->value, "description");
      out += fmt::format("| {} | {} | {} | {} |\n", code(prefix + p.key), value(p.value),
                         must                  ? "required"
                         : standard != nullptr ? code(standard->text)
                                               : "",
                         escaped(meaning));
      for (const Tree* inner : maps_within(p.value)) out += rows(*inner, prefix + p.key + ".");
    }
    return out;
  }
  // Maps that are described where they stand, and have no heading of their own.
  static std::vector<const Tree*> maps_within(const Tree& schema) {
    if (schema.find("properties") != nullptr) return {&schema};
    std::vector<const Tree*> all;
    if (const Tree* any = schema.find("anyOf"))
      for (const Tree& one : any->items)
        if (one.find("properties") != nullptr) all.push_back(&one);
    return all;
  }

  Tree schema_;
  const Tree& definitions_;
  std::map<std::string, std::vector<std::string>> places_;
};

}  // namespace

std::string key_reference() { return Page().text(); }

}  // namespace railyard::spec
