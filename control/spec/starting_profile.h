// `asic: tomahawk5-64x800` and `server: hgx-h100`: profiles of switches and hosts that begin as one of those we ship
// (topologies/profiles/, topologies/servers/), or as one in a file of the user's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

class SpecError;

// A profile that begins as one of ours.
struct ShippedStart {
  Place said;        // of the key: "x.yaml:3:20"
  std::string key;   // "hosts.default.server"
  std::string name;  // "shared-2"
  std::string file;  // "servers/shared-2.yaml"
};

// Replaces `asic` in each switch profile of the document, and `server` in each host profile, by the keys that it stands for.
// Keys that are said beside it win, also those within a map. A file of the user's own is meant from the folder of the file
// that says it, or, in a --set, from where the command runs. What is wrong in such a file is reported as of there. Returns those
// that are ours. Throws SpecError.
std::vector<ShippedStart> expand_starting_profiles(Tree& document);
// What is wrong in one of `ours` fits badly to the rest of the lab, and nobody can open our file: the error at the place where the
// lab names it, "x.yaml:3:20: hosts.default.server: shared-2: servers/shared-2.yaml:4:18: ...". Other errors as they are.
SpecError as_said_in_lab(const SpecError& error, const std::vector<ShippedStart>& ours);
// Whether --set ASSIGNMENT says such a key: then it is put in the place of the one that the file names, not on top of it.
bool names_starting_profile(std::string_view assignment) noexcept;

}  // namespace railyard::spec
