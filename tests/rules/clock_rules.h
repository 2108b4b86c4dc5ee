// Time, chance and settings come in as parameters: what is under a clock of its own cannot be replayed.
#pragma once

#include <string>
#include <vector>

#include "tests/rules/source_tree.h"

namespace railyard::rules {

// Clocks, sleeps, global random generators and environment variables in transports/ and the dataplane, outside of
// dataplane/run/ and dataplane/port/; one line each: "dataplane/nic/x.cc:12: getenv: ...".
std::vector<std::string> clock_violations(const std::vector<SourceFile>& sources);

}  // namespace railyard::rules
