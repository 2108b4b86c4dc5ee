// A YAML or JSON document as a tree in which every part knows where it was said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// Scalars are text: what a number or a word means is for the key to say.
struct Tree {
  enum class Kind { kNothing, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNothing;
  std::string text;            // scalar
  bool is_string = false;      // scalar: a string even if it looks like a number (to print; readers do not mind)
  bool spread = false;         // to print: each item or entry on lines of its own
  std::vector<Tree> items;     // list
  std::vector<Entry> entries;  // map, in the order of the file
  Place place;
  std::string path;  // "qos.default.classes.3"; empty for the whole document

  static Tree plain(std::string text);
  static Tree string(std::string text);
  static Tree list(std::vector<Tree> items);
  static Tree map(std::vector<Entry> entries);
  static Tree map();

  // Adds to a map, for trees that are built to be printed. The reference holds until the next add().
  Tree& add(std::string key, Tree value);

  // The value of `key`, if this is a map that has it.
  const Tree* find(std::string_view key) const noexcept;
  Tree* find(std::string_view key) noexcept;
  // The same, or else this: where to point when a default is to blame.
  const Tree& at_or_self(std::string_view key) const noexcept;

  // What it is, to put behind "found": "a map", "'10 ms'".
  std::string described() const;
  // Throws SpecError: "<place>: <path>: <what>".
  [[noreturn]] void fail(const std::string& what) const;

  // Each throws SpecError unless it is one: "found a list; expected <expected>". Nothing counts as an empty list and as
  // an empty map, so that all below a key can be commented out.
  const std::vector<Entry>& as_map(std::string_view expected = "a map") const;
  const std::vector<Tree>& as_list(std::string_view expected = "a list") const;
  const std::string& as_text(std::string_view expected) const;
};

struct Tree::Entry {
  std::string key;
  Tree value;
  Place place = {};  // of the key
};

// Throws SpecError: "<place>: <path>: <what>", or without the path if there is none.
[[noreturn]] void fail_at(const Place& place, const std::string& path, const std::string& what);

// "a.b"; "b" if `path` is empty.
std::string join_path(const std::string& path, std::string_view key);

// Writes everybody's path, beginning with `path` for `tree` itself, and refuses keys that a map has twice.
void finish(Tree& tree, const std::string& path);

}  // namespace railyard::spec
