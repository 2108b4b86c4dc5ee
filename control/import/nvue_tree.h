// What `nv config show` prints, as a tree that remembers what of it was understood.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/yaml/tree.h"

namespace railyard::importing {

// Whether `text` is meant to be that output: a list of `- header:` and `- set:`, as YAML or JSON.
bool is_nvue(const std::string& text);

class NvueTree {
 public:
  // Throws SpecError for what is no YAML, no such list, or has no `set`.
  NvueTree(const std::string& text, const std::string& file);
  NvueTree(const NvueTree&) = delete;  // parts of the tree are remembered by their address
  NvueTree& operator=(const NvueTree&) = delete;

  const spec::Tree& set() const noexcept { return *set_; }
  std::string header(std::string_view key) const;  // empty without it

  // The part below `from` that these keys lead to, understood as a map; nullptr if it is not there.
  const spec::Tree* find(const spec::Tree& from, std::initializer_list<std::string_view> keys) const;
  // Its text, understood; nothing if it is not there. Throws SpecError if it is no text.
  std::optional<std::string> text(const spec::Tree& from, std::initializer_list<std::string_view> keys) const;
  // The same as a whole number.
  std::optional<long long> number(const spec::Tree& from, std::initializer_list<std::string_view> keys, long long least,
                                  long long most) const;
  // The entries of a map whose keys are numbers or lists of them ("3", "0-2,5").
  std::vector<std::pair<std::vector<int>, const spec::Tree*>> numbered(const spec::Tree& map, int most) const;

  void take(const spec::Tree& tree) const { read_.insert(&tree); }
  void leave(const spec::Tree& tree, std::string why) const { why_left_[&tree] = std::move(why); }

  // Settings that were not read or are left for a reason: "FILE:12: qos.remark (3 settings)".
  std::vector<std::string> left_out() const;
  // "line 12: qos.pfc.roce.cable-length: 5", to show where a value comes from.
  std::string source(const spec::Tree& tree) const;

  // Throws SpecError: "FILE:LINE: PATH: found ..., expected ...".
  [[noreturn]] void fail(const spec::Tree& tree, const std::string& found, const std::string& expected) const;

 private:
  void collect(const spec::Tree& tree, std::vector<std::string>& into) const;
  bool has_understood(const spec::Tree& tree) const;
  std::string path(const spec::Tree& tree) const;

  std::string file_;
  spec::Tree document_;
  const spec::Tree* header_ = nullptr;
  const spec::Tree* set_ = nullptr;
  mutable std::set<const spec::Tree*> read_;
  mutable std::map<const spec::Tree*, std::string> why_left_;
};

}  // namespace railyard::importing
