#include "control/spec/yaml/tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "control/spec/spec_error.h"

namespace railyard::spec {

Tree Tree::plain(std::string text) {
  Tree tree;
  tree.kind = Kind::kScalar;
  tree.text = std::move(text);
  return tree;
}

Tree Tree::string(std::string text) {
  Tree tree = plain(std::move(text));
  tree.is_string = true;
  return tree;
}

Tree Tree::list(std::vector<Tree> items) {
  Tree tree;
  tree.kind = Kind::kList;
  tree.items = std::move(items);
  return tree;
}

Tree Tree::map(std::vector<Entry> entries) {
  Tree tree;
  tree.kind = Kind::kMap;
  tree.entries = std::move(entries);
  return tree;
}

Tree Tree::map() { return map({}); }

Tree& Tree::add(std::string key, Tree value) {
  return entries.emplace_back(Entry{std::move(key), std::move(value)}).value;
}

const Tree* Tree::find(std::string_view key) const noexcept {
  const auto entry = std::ranges::find(entries, key, &Entry::key);
  return entry == entries.end() ? nullptr : &entry->value;
}

Tree* Tree::find(std::string_view key) noexcept { return const_cast<Tree*>(std::as_const(*this).find(key)); }

const Tree& Tree::at_or_self(std::string_view key) const noexcept {
  const Tree* value = find(key);
  return value != nullptr ? *value : *this;
}

std::string Tree::described() const {
  constexpr std::size_t kMost = 60;  // of a value in a message
  switch (kind) {
    case Kind::kNothing:
      return "nothing";
    case Kind::kScalar:
      return fmt::format("'{}'", text.size() <= kMost ? text : text.substr(0, kMost) + "...");
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return {};
}

void Tree::fail(const std::string& what) const { fail_at(place, path, what); }

const std::vector<Tree::Entry>& Tree::as_map(std::string_view expected) const {
  if (kind != Kind::kMap && kind != Kind::kNothing) fail(fmt::format("found {}; expected {}", described(), expected));
  return entries;
}

const std::vector<Tree>& Tree::as_list(std::string_view expected) const {
  if (kind != Kind::kList && kind != Kind::kNothing) fail(fmt::format("found {}; expected {}", described(), expected));
  return items;
}

const std::string& Tree::as_text(std::string_view expected) const {
  if (kind != Kind::kScalar) fail(fmt::format("found {}; expected {}", described(), expected));
  return text;
}

void fail_at(const Place& place, const std::string& path, const std::string& what) {
  throw SpecError(place, path.empty() ? what : path + ": " + what);
}

std::string join_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

void finish(Tree& tree, const std::string& path) {
  tree.path = path;
  for (std::size_t i = 0; i < tree.items.size(); ++i) finish(tree.items[i], join_path(path, std::to_string(i)));
  std::unordered_map<std::string_view, const Place*> seen;
  for (Tree::Entry& entry : tree.entries) {
    const auto [first, is_new] = seen.try_emplace(entry.key, &entry.place);
    if (!is_new)
      fail_at(entry.place, path,
              fmt::format("key '{}' is defined twice; the first is at {}", entry.key, to_string(*first->second)));
    finish(entry.value, join_path(path, entry.key));
  }
}

}  // namespace railyard::spec
