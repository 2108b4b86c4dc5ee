// The configuration of a SONiC switch that the project ships, to be changed and imported.
#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "control/import/from_sonic.h"
#include "tests/control/import/imported_lab.h"

namespace railyard::importing {

using SampleJson = nlohmann::ordered_json;

inline SampleJson sample() {
  return SampleJson::parse(std::ifstream(RAILYARD_SOURCE_DIR "/topologies/imports/sonic-t0.json"));
}

inline std::string imported(const SampleJson& config, const PgProfileLookup& lookup = {}) {
  return from_sonic(config.dump(), "config_db.json", lookup, false);
}

inline spec::Lab lab_of(const SampleJson& config, const PgProfileLookup& lookup = {}) {
  return parsed(imported(config, lookup));
}

}  // namespace railyard::importing
