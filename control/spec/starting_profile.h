// `asic: tomahawk5-64x800` and `server: hgx-h100`: profiles of switches and hosts that begin as one of those we ship
// (topologies/profiles/, topologies/servers/), or as one in a file of the user's own.
#pragma once

#include <string_view>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// Replaces `asic` in each switch profile of the document, and `server` in each host profile, by the keys that it stands for.
// Keys that are said beside it win, also those within a map. A file of the user's own is meant from the folder of the file
// that says it, or, in a --set, from where the command runs. What is wrong in such a file is reported as of there. Throws
// SpecError.
void expand_starting_profiles(Tree& document);
// Whether --set ASSIGNMENT says such a key: then it is put in the place of the one that the file names, not on top of it.
bool names_starting_profile(std::string_view assignment) noexcept;

}  // namespace railyard::spec
