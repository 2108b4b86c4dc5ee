// Configurations of SONiC switches that the project ships, to be changed and imported.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "control/import/from_sonic.h"
#include "tests/control/import/imported_lab.h"

namespace railyard::importing {

using SampleJson = nlohmann::ordered_json;

// In topologies/imports/.
inline std::string file_text(const std::string& name) {
  std::ifstream file(std::string(RAILYARD_SOURCE_DIR "/topologies/imports/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline SampleJson sample() { return SampleJson::parse(file_text("sonic-t0.json")); }

inline PgProfileLookup sample_lookup() { return {file_text("pg_profile_lookup.ini"), "pg_profile_lookup.ini"}; }

inline std::string imported(const SampleJson& config, const PgProfileLookup& lookup = {}) {
  return from_sonic(config.dump(), "config_db.json", lookup, false);
}

inline spec::Lab lab_of(const SampleJson& config, const PgProfileLookup& lookup = {}) {
  return parsed(imported(config, lookup));
}

}  // namespace railyard::importing
