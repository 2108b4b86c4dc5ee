#include "control/spec/asic.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

bool is_file(std::string_view said) noexcept {
  return said.find('/') != std::string_view::npos || said.ends_with(".yaml");
}

Tree from_file(const Tree& said) {
  std::filesystem::path path = said.text;
  const std::filesystem::path folder = std::filesystem::path(said.place.file).parent_path();
  if (path.is_relative() && said.place.line > 0) path = folder / path;
  try {
    return parse_yaml(read_file(path), path.string());
  } catch (const SpecError& e) {
    if (e.place().line > 0) throw;
    said.fail(fmt::format("{} {}", path.string(), e.message()));
  }
}

Tree named(const Tree& said) {
  std::vector<std::string> names;
  for (const AsicProfile& p : asic_profiles()) {
    if (p.name == said.text) return parse_yaml(std::string(p.text), fmt::format("profiles/{}.yaml", p.name));
    names.emplace_back(p.name);
  }
  const std::string guess = did_you_mean(said.text, names);
  said.fail(fmt::format("there is no ASIC '{}'{} Known here: {}; or the path of a file", said.text,
                        guess.empty() ? "." : guess, fmt::join(names, ", ")));
}

void expand(Tree& profile) {
  const auto entry = std::ranges::find(profile.entries, "asic", &Tree::Entry::key);
  if (entry == profile.entries.end()) return;
  const Tree said = std::move(entry->value);
  profile.entries.erase(entry);
  const std::string& text = said.as_text("the name of an ASIC or the path of a file");
  Tree asic = is_file(text) ? from_file(said) : named(said);
  asic.as_map("the keys of a switch profile");
  for (Tree::Entry& e : asic.entries) {
    if (e.key == "asic") e.value.fail("found in an ASIC profile; expected the keys of a switch profile");
    if (profile.find(e.key) == nullptr) profile.entries.push_back(std::move(e));
  }
}

}  // namespace

void expand_asics(Tree& document) {
  Tree* switches = document.find("switches");
  if (switches == nullptr || switches->kind != Tree::Kind::kMap) return;
  for (Tree::Entry& e : switches->entries)
    if (e.value.kind == Tree::Kind::kMap) expand(e.value);
}

}  // namespace railyard::spec
