#include "control/compare/clash.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "control/spec/override_paths.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"

namespace railyard::compare {
namespace {

std::string value_of(const std::string& set) { return set.substr(set.find('=') + 1); }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// "a.b" is above "a.b.c".
bool is_above(const std::string& path, const std::string& other) {
  return other.size() > path.size() && other.starts_with(path) && other[path.size()] == '.';
}

// What the YAML `value` says at "x.y" below it, in one line; nothing: it does not say it.
std::optional<std::string> said_below(const std::string& value, std::string_view path) {
  const spec::Tree tree = spec::parse_yaml(value, "");
  const spec::Tree* at = &tree;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, dot));
    if (at == nullptr) return std::nullopt;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at->kind == spec::Tree::Kind::kScalar ? at->text : std::string();
}

// Whether `override_value` at `column_path` leaves nothing of `value` at `path`, or not all of it.
bool undoes(const std::string& path, const std::string& value, const std::string& column_path,
            const std::string& override_value) {
  if (path == column_path) return trimmed(value) != trimmed(override_value);
  if (is_above(column_path, path)) return true;
  if (!is_above(path, column_path)) return false;
  const auto said = said_below(value, std::string_view(column_path).substr(path.size() + 1));
  return said && *said != trimmed(override_value);
}

}  // namespace

std::vector<Clash> clashes(const std::filesystem::path& file, const std::vector<std::string>& settings,
                           const std::vector<Override>& overrides) {
  std::vector<Clash> found;
  try {
    std::vector<std::string> all = settings;
    for (const Override& o : overrides) all.push_back(o.set);
    const std::vector<std::string> paths = spec::override_paths(file, all);
    for (std::size_t s = 0; s < settings.size(); ++s)
      for (std::size_t o = 0; o < overrides.size(); ++o)
        if (undoes(paths[s], value_of(settings[s]), paths[settings.size() + o], value_of(overrides[o].set)))
          found.push_back({settings[s], overrides[o]});
  } catch (const spec::SpecError&) {  // said by whoever loads it
    found.clear();
  }
  return found;
}

}  // namespace railyard::compare
