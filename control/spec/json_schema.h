// The grammar of fabric files for editors.
#pragma once

#include <string>

namespace railyard::spec {

// A JSON Schema (draft 2020-12), made of the tables by which files are read. control/spec/fabric.schema.json is a copy.
std::string json_schema();

}  // namespace railyard::spec
