// The ready scenarios of faults, topologies/scenarios/<name>.yaml.
#pragma once

#include <string>
#include <vector>

#include "control/spec/load.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {

inline Scenario fault_scenario(const std::string& name, const std::vector<std::string>& overrides = {},
                               const EngineConfig& config = {}) {
  return Scenario(spec::read_file(RAILYARD_SOURCE_DIR "/topologies/scenarios/" + name + ".yaml"), overrides, config);
}

}  // namespace railyard::test
