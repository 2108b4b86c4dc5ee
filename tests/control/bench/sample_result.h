// A result as a benchmark has it, small enough to be read.
#pragma once

#include "control/bench/result.h"

namespace railyard::bench {

// Two trials of one case of T9.3 that ran, one that did not, and T10.2, which does not run.
Result sample_result();

}  // namespace railyard::bench
