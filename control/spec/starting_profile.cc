#include "control/spec/starting_profile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "control/spec/shipped.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

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

struct ProfileKind {
  std::string_view key;       // "asic"
  std::string_view profiles;  // where it may stand: "switches"
  std::string_view what;      // "ASIC"
  std::string_view of;        // "switch"
  std::string_view folder;    // of topologies/
  const std::vector<ShippedFile>& (*ours)();
};
constexpr std::array<ProfileKind, 2> kProfileKinds{{{"asic", "switches", "ASIC", "switch", "profiles", asic_profiles},
                                                    {"server", "hosts", "server", "host", "servers", server_profiles}}};

Tree named(const ProfileKind& kind, const Tree& said, std::vector<ShippedStart>& ours) {
  const ShippedFile& file = shipped_file(said, kind.ours(), kind.what);
  std::string path = fmt::format("{}/{}.yaml", kind.folder, file.name);
  ours.push_back({said.place, said.path, std::string(file.name), path});
  return parse_yaml(std::string(file.text), path);
}

// What is there stays.
void add_what_is_missing(Tree& profile, Tree starting) {
  for (Tree::Entry& e : starting.entries) {
    Tree* const there = profile.find(e.key);
    if (there == nullptr)
      profile.entries.push_back(std::move(e));
    else if (there->kind == Tree::Kind::kMap && e.value.kind == Tree::Kind::kMap)
      add_what_is_missing(*there, std::move(e.value));
  }
}

void expand(const ProfileKind& kind, Tree& profile, std::vector<ShippedStart>& ours) {
  const auto entry = std::ranges::find(profile.entries, kind.key, &Tree::Entry::key);
  if (entry == profile.entries.end()) return;
  const Tree said = std::move(entry->value);
  profile.entries.erase(entry);
  const std::string& text = said.as_text(fmt::format("the name of a{} {} or the path of a file", kind.key == "asic" ? "n" : "", kind.what));
  Tree starting = names_own_file(text) ? from_file(said) : named(kind, said, ours);
  starting.as_map(fmt::format("the keys of a {} profile", kind.of));
  if (const Tree* again = starting.find(kind.key))
    again->fail(fmt::format("found in a profile to start from; expected the other keys of a {} profile", kind.of));
  add_what_is_missing(profile, std::move(starting));
}

}  // namespace

std::vector<ShippedStart> expand_starting_profiles(Tree& document) {
  std::vector<ShippedStart> ours;
  for (const ProfileKind& kind : kProfileKinds) {
    Tree* const profiles = document.find(kind.profiles);
    if (profiles == nullptr || profiles->kind != Tree::Kind::kMap) continue;
    for (Tree::Entry& e : profiles->entries)
      if (e.value.kind == Tree::Kind::kMap) expand(kind, e.value, ours);
  }
  return ours;
}

SpecError as_said_in_lab(const SpecError& error, const std::vector<ShippedStart>& ours) {
  for (const ShippedStart& start : ours) {
    // Several profiles may begin as one file: the message begins with the path of what is wrong, "hosts.default.gpu-nics.4: ...".
    const std::string_view profile = std::string_view(start.key).substr(0, start.key.rfind('.') + 1);
    const std::string_view path = std::string_view(error.message()).substr(0, error.message().find(": "));
    if (error.place().file == start.file && (path.starts_with(profile) || path == profile.substr(0, profile.size() - 1)))
      return {start.said, fmt::format("{}: {}: {}: {}", start.key, start.name, to_string(error.place()), error.message())};
  }
  return error;
}

bool names_starting_profile(std::string_view assignment) noexcept {
  const std::string_view path = assignment.substr(0, assignment.find('='));
  return std::ranges::any_of(kProfileKinds, [&](const ProfileKind& kind) {
    return path.starts_with(kind.profiles) && path.ends_with(kind.key) && path.size() > kind.key.size() &&
           path[path.size() - kind.key.size() - 1] == '.';
  });
}

}  // namespace railyard::spec
