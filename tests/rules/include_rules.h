// Who may include whom. A room is a folder with a library: "dataplane/wire", "control/spec", "tools/railyard".
#pragma once

#include <string>
#include <vector>

#include "tests/rules/source_tree.h"

namespace railyard::rules {

// What breaks the rules, one line each: "dataplane/base/x.h:3: dataplane/base must not include control/spec/load.h
// ...".
std::vector<std::string> include_violations(const std::vector<SourceFile>& sources);

}  // namespace railyard::rules
