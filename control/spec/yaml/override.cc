#include "control/spec/yaml/override.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    keys.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

void set_place(Tree& tree, const Place& place) {
  tree.place = place;
  for (Tree& item : tree.items) set_place(item, place);
  for (Tree::Entry& entry : tree.entries) {
    entry.place = place;
    set_place(entry.value, place);
  }
}

Tree parse_value(const std::string& text, const Place& place) {
  try {
    Tree value = parse_yaml(text, place.file);
    set_place(value, place);
    return value;
  } catch (const SpecError& e) {
    fail_at(place, "", e.message());
  }
}

// [h1:1, leaf1:1, { ... }]
bool is_link(const Tree& tree) {
  const auto is_end = [](const Tree& t) {
    return t.kind == Tree::Kind::kScalar && t.text.find(':') != std::string::npos;
  };
  return tree.kind == Tree::Kind::kList && tree.items.size() >= 2 && is_end(tree.items[0]) && is_end(tree.items[1]);
}

// What a link says behind its ends.
Tree& rest_of(Tree& link, const Place& place) {
  if (link.items.size() == 2) {
    Tree rest = Tree::map();
    rest.place = place;
    rest.path = join_path(link.path, "2");
    link.items.push_back(std::move(rest));
  }
  return link.items[2];
}

bool is_number(const std::string& key) {
  return std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
}

Tree& step_into_list(Tree& list, const std::string& key, const Place& place) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error == std::errc{} && end == key.data() + key.size()) {
    if (index < list.items.size()) return list.items[index];
    fail_at(place, list.path, fmt::format("no element {}; there are {}, counted from 0", key, list.items.size()));
  }
  std::vector<std::string> names;
  for (Tree& item : list.items) {
    if (is_link(item)) {
      for (const std::size_t i : {0u, 1u}) {
        if (item.items[i].text == key) return item;
        names.push_back(item.items[i].text);
      }
    }
    const Tree* name = item.find("name");
    if (name == nullptr) continue;
    if (name->text == key) return item;
    names.push_back(name->text);
  }
  fail_at(
      place, list.path,
      fmt::format("there is no element '{}'{} {}", key, names.empty() ? ";" : did_you_mean(key, names) + " Known here:",
                  names.empty() ? "expected an index from 0" : fmt::format("{}", fmt::join(names, ", "))));
}

Tree& step(Tree& at, const std::string& key, const Place& place) {
  if (is_link(at) && !is_number(key)) return step(rest_of(at, place), key, place);
  if (at.kind == Tree::Kind::kList) return step_into_list(at, key, place);
  // "ecn: auto" and "llr: on" stand for a map that says nothing.
  if (at.kind == Tree::Kind::kScalar && (at.text == "auto" || at.text == "on")) {
    at.kind = Tree::Kind::kNothing;
    at.text.clear();
  }
  if (at.kind == Tree::Kind::kScalar)
    fail_at(place, at.path, fmt::format("is {}; expected a map or list that can contain '{}'", at.described(), key));
  if (at.kind == Tree::Kind::kNothing) {
    at.kind = Tree::Kind::kMap;
    at.place = place;
  }
  if (Tree* value = at.find(key)) return *value;
  Tree missing;
  missing.place = place;
  missing.path = join_path(at.path, key);
  at.entries.push_back({key, std::move(missing), place});
  return at.entries.back().value;
}

// Returns the path of what is gone.
std::string take_away(Tree& parent, const std::string& key, const Place& place) {
  if (is_link(parent) && !is_number(key)) return take_away(rest_of(parent, place), key, place);
  if (parent.kind == Tree::Kind::kList) {
    const Tree* gone = &step_into_list(parent, key, place);
    std::string path = gone->path;
    parent.items.erase(parent.items.begin() + (gone - parent.items.data()));
    return path;
  } else if (std::erase_if(parent.entries, [&](const Tree::Entry& e) { return e.key == key; }) == 0) {
    fail_at(place, parent.path, fmt::format("there is no key '{}' to remove", key));
  }
  return join_path(parent.path, key);
}

}  // namespace

std::string apply_override(Tree& document, const std::string& assignment) {
  const Place place{"--set " + assignment, 0, 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) fail_at(place, "", "expected path=value, e.g. run.duration=1ms");
  const std::vector<std::string> keys = split(std::string_view(assignment).substr(0, equals));
  if (std::ranges::any_of(keys, [](const std::string& key) { return key.empty(); }))
    fail_at(place, "", "the path has an empty key; expected keys with single dots between them, e.g. run.duration=1ms");

  Tree value = parse_value(assignment.substr(equals + 1), place);
  Tree* parent = &document;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) parent = &step(*parent, keys[i], place);
  if (value.kind == Tree::Kind::kNothing) {
    return take_away(*parent, keys.back(), place);
  }
  Tree& at = step(*parent, keys.back(), place);
  std::string path = at.path;
  at = std::move(value);
  finish(at, path);
  return path;
}

}  // namespace railyard::spec
