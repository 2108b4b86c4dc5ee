#include "control/import/nvue_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/base/short_quote.h"
#include "control/import/config_db.h"
#include "control/import/setting_values.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"

namespace railyard::importing {
namespace {

using spec::Tree;

constexpr std::size_t kLongList = 30;
constexpr const char* kExpected = "what `nv config show` prints: a list with `- header:` and `- set:`";

// The first line that is neither blank nor a comment nor "---".
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t from = line.find_first_not_of(" \t\r");
    if (from == std::string_view::npos || line[from] == '#' || line.substr(from).starts_with("---")) continue;
    return line.substr(from);
  }
  return {};
}

std::size_t settings_in(const Tree& tree) {
  std::size_t out = tree.items.empty() && tree.entries.empty() ? 1 : 0;
  for (const Tree& item : tree.items) out += settings_in(item);
  for (const Tree::Entry& entry : tree.entries) out += settings_in(entry.value);
  return out;
}

// A map is where its key stands, not where its first entry does.
void move_to_keys(Tree& tree) {
  for (Tree& item : tree.items) move_to_keys(item);
  for (Tree::Entry& entry : tree.entries) {
    entry.value.place = entry.place;
    move_to_keys(entry.value);
  }
}

}  // namespace

bool is_nvue(const std::string& text) {
  std::string_view line = first_line(text);
  if (line.starts_with('[')) {
    const std::string_view start = std::string_view(text).substr(0, 2000);
    return start.contains("\"set\"") || start.contains("\"nvue-api-version\"");
  }
  if (!line.starts_with("- ")) return false;
  line.remove_prefix(2);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return line.starts_with("header:") || line.starts_with("set:");
}

NvueTree::NvueTree(const std::string& text, const std::string& file)
    : file_(file), document_(spec::parse_yaml(text, file)) {
  spec::finish(document_, "");
  move_to_keys(document_);
  if (document_.kind != Tree::Kind::kList) fail(document_, document_.described(), kExpected);
  for (const Tree& item : document_.items) {
    if (item.kind != Tree::Kind::kMap) fail(item, item.described(), "a map with header or set");
    if (const Tree* header = item.find("header")) header_ = header;
    if (const Tree* set = item.find("set")) set_ = set;
  }
  if (set_ == nullptr) fail(document_, "no `set`", kExpected);
  if (set_->kind != Tree::Kind::kMap) fail(*set_, set_->described(), "a map of settings");
}

std::string NvueTree::header(std::string_view key) const {
  const Tree* const value = header_ == nullptr ? nullptr : header_->find(key);
  return value != nullptr && value->kind == Tree::Kind::kScalar ? value->text : "";
}

const Tree* NvueTree::find(const Tree& from, std::initializer_list<std::string_view> keys) const {
  const Tree* at = &from;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  if (at->kind == Tree::Kind::kScalar || at->kind == Tree::Kind::kList) fail(*at, at->described(), "a map");
  if (at->entries.empty()) take(*at);  // "swp1: {}" says nothing more
  return at;
}

std::optional<std::string> NvueTree::text(const Tree& from, std::initializer_list<std::string_view> keys) const {
  const Tree* at = &from;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (at == nullptr) return std::nullopt;
  }
  if (at->kind != Tree::Kind::kScalar) fail(*at, at->described(), "a value");
  take(*at);
  return at->text;
}

std::optional<long long> NvueTree::number(const Tree& from, std::initializer_list<std::string_view> keys, long long least,
                                          long long most) const {
  const std::optional<std::string> said = text(from, keys);
  if (!said) return std::nullopt;
  const Tree* at = &from;
  for (const std::string_view key : keys) at = at->find(key);
  const std::optional<std::int64_t> value = whole_number(*said);
  if (!value || *value < least || *value > most)
    fail(*at, fmt::format("'{}'", *said), fmt::format("a whole number, {}..{}", least, most));
  return *value;
}

std::vector<std::pair<std::vector<int>, const Tree*>> NvueTree::numbered(const Tree& map, int most) const {
  std::vector<std::pair<std::vector<int>, const Tree*>> out;
  for (const Tree::Entry& entry : map.entries) {
    const auto numbers = number_list(entry.key, 0, most);
    if (!numbers) fail(entry.value, fmt::format("'{}'", entry.key), fmt::format("numbers, 0..{}", most));
    if (entry.value.entries.empty()) take(entry.value);
    out.emplace_back(*numbers, &entry.value);
  }
  return out;
}

bool NvueTree::has_understood(const Tree& tree) const {
  if (read_.contains(&tree) || why_left_.contains(&tree)) return true;
  return std::ranges::any_of(tree.items, [&](const Tree& item) { return has_understood(item); }) ||
         std::ranges::any_of(tree.entries, [&](const Tree::Entry& entry) { return has_understood(entry.value); });
}

std::string NvueTree::path(const Tree& tree) const {
  if (&tree == set_) return "set";
  const std::string prefix = set_ == nullptr ? "" : set_->path + ".";
  std::string out = !prefix.empty() && tree.path.starts_with(prefix) ? tree.path.substr(prefix.size()) : tree.path;
  // Of a long list of interfaces, the first and the last.
  const std::size_t first = out.find(',');
  const std::size_t last = out.rfind(',');
  if (first != last && last - first > kLongList) out = out.substr(0, first) + ",.." + out.substr(last);
  return out;
}

void NvueTree::collect(const Tree& tree, std::vector<std::string>& into) const {
  const auto why = why_left_.find(&tree);
  if (why == why_left_.end() && read_.contains(&tree) && tree.entries.empty()) return;
  if (why != why_left_.end() || !has_understood(tree) || tree.entries.empty()) {
    const std::size_t count = settings_in(tree);
    std::vector<std::string> remarks;
    if (why != why_left_.end()) remarks.push_back(why->second);
    if (tree.kind != Tree::Kind::kScalar && count > 1) remarks.push_back(fmt::format("{} settings", count));
    into.push_back(printable(with_short_quotes(fmt::format(
        "{}:{}: {}{}{}", file_, tree.place.line, path(tree), tree.kind == Tree::Kind::kScalar ? ": " + tree.text : "",
        remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, "; "))))));
    return;
  }
  for (const Tree::Entry& entry : tree.entries) collect(entry.value, into);
}

std::vector<std::string> NvueTree::left_out() const {
  std::vector<std::string> out;
  for (const Tree::Entry& entry : set_->entries) collect(entry.value, out);
  return out;
}

std::string NvueTree::source(const Tree& tree) const {
  return fmt::format("line {}: {}{}", tree.place.line, path(tree),
                     tree.kind == Tree::Kind::kScalar ? ": " + tree.text : "");
}

void NvueTree::fail(const Tree& tree, const std::string& found, const std::string& expected) const {
  const std::string where = path(tree);
  throw spec::SpecError({}, fmt::format("{}:{}: {}{}found {}, expected {}", file_, tree.place.line, where,
                                        where.empty() ? "" : ": ", found, expected));
}

}  // namespace railyard::importing
