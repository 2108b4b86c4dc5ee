#include "control/spec/shipped.h"

#include <string>

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::spec {

bool names_own_file(std::string_view said) noexcept {
  return said.find('/') != std::string_view::npos || said.ends_with(".yaml");
}

const ShippedFile& shipped_file(const Tree& said, std::span<const ShippedFile> ours, std::string_view what) {
  std::vector<std::string> names;
  for (const ShippedFile& f : ours) {
    if (f.name == said.text) return f;
    names.emplace_back(f.name);
  }
  const std::string guess = did_you_mean(said.text, names);
  said.fail(fmt::format("there is no {} '{}'{} Known here: {}; or the path of a file", what, said.text,
                        guess.empty() ? "." : guess, fmt::join(names, ", ")));
}

}  // namespace railyard::spec
