// How long failures and what follows from them take, before anything runs.
#pragma once

#include "control/spec/spec.h"
#include "dataplane/base/time.h"

namespace railyard::blast {

// For how long routing may be at work after a link has failed or come back, roughly: five hops.
Duration convergence(const spec::Lab& lab);

// For how long a flow without an end may be silent after its path is back: two timeouts of its transport.
Duration longest_silence(const spec::Lab& lab);

}  // namespace railyard::blast
