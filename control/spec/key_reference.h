// The keys of fabric files as a page for readers.
#pragma once

#include <string>

namespace railyard::spec {

// Markdown, made of the JSON schema: a table for each map, with value, default and meaning of its keys. docs/keys.md is a
// copy, which the target fabric-schema writes and a test compares.
std::string key_reference();

}  // namespace railyard::spec
