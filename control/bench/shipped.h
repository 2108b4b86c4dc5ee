// Files that are compiled in: the clauses (control/bench/tests), the labs of topologies/comparisons that some of them
// run, and the schema of results.
#pragma once

#include <string_view>
#include <vector>

#include "control/spec/shipped.h"

namespace railyard::bench {

const std::vector<spec::ShippedFile>& definitions();
const std::vector<spec::ShippedFile>& comparison_labs();
std::string_view result_schema();

}  // namespace railyard::bench
