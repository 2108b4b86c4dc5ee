// A result as a page for people who decide: what was run, the main figure of each clause, then all of them.
#pragma once

#include <string>

#include "control/bench/result.h"

namespace railyard::bench {

// One HTML file without anything from outside.
std::string page(const Result& result);

}  // namespace railyard::bench
