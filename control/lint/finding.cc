#include "control/lint/finding.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "control/spec/load.h"

namespace railyard::lint {
namespace {

// The child of a map or list that a part of a path names.
const spec::Tree* child(const spec::Tree& tree, std::string_view part) {
  if (const spec::Tree* value = tree.find(part)) return value;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc{} || end != part.data() + part.size() || index >= tree.items.size()) return nullptr;
  return &tree.items[index];
}

// The value of a key, or of the nearest map that would hold it; and what is left of the path then.
std::pair<const spec::Tree*, std::string_view> nearest(const spec::Tree& document, std::string_view path) {
  const spec::Tree* at = &document;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const spec::Tree* next = child(*at, path.substr(0, dot));
    if (next == nullptr) break;
    at = next;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return {at, path};
}

}  // namespace

std::string_view word(Severity severity) noexcept { return severity == Severity::kError ? "error" : "warning"; }

std::string to_string(const Finding& f) {
  const std::string more =
      f.cases == 1 ? "" : fmt::format(" ({} more case{})", f.cases - 1, f.cases == 2 ? "" : "s");
  return fmt::format("{}: {}: {}: {}{} Fix: {} [{}]", spec::to_string(f.place), word(f.severity), f.path, f.text, more,
                     f.fix, f.rule);
}

void Findings::add(const std::string& path, std::string text, std::string fix) {
  const auto known =
      std::ranges::find_if(all_, [&](const Finding& f) { return f.rule == rule_ && f.path == path; });
  if (known != all_.end()) {
    ++known->cases;
    return;
  }
  spec::Place place = nearest(document_, path).first->place;
  if (place.file == spec::kBuiltInQosName) place = document_.place;  // the file is where it can be changed
  all_.push_back({.rule = std::string(rule_),
                  .severity = severity_,
                  .place = std::move(place),
                  .path = path,
                  .text = std::move(text),
                  .fix = std::move(fix)});
}

bool Findings::says(std::string_view path) const { return nearest(document_, path).second.empty(); }

}  // namespace railyard::lint
