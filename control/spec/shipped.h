// Files that we ship and compile in (topologies/profiles/, servers/, models/), and how one of them is named: `asic:`,
// `server:` and `model:` are a name of ours or the path of a file of the user's own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

struct ShippedFile {
  std::string_view name;  // "tomahawk5-64x800"
  std::string_view text;  // YAML
};

// Those of topologies/profiles/, topologies/servers/ and topologies/models/, by name.
const std::vector<ShippedFile>& asic_profiles();
const std::vector<ShippedFile>& server_profiles();
const std::vector<ShippedFile>& model_files();

// Whether the value is a file of the user's own: it has a '/' or ends in .yaml.
bool names_own_file(std::string_view said) noexcept;

// The one of `ours` that `said` names. Throws SpecError, which lists them as `what` ("ASIC").
const ShippedFile& shipped_file(const Tree& said, std::span<const ShippedFile> ours, std::string_view what);

}  // namespace railyard::spec
