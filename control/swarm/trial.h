// One lab from beginning to end: faults fire, and what must hold is looked at again and again; then they stop, and
// everything must drain.
#pragma once

#include <string>

#include "control/swarm/generated_lab.h"
#include "control/swarm/outcome.h"
#include "dataplane/run/engine.h"

namespace railyard::swarm {

// Under the virtual clock, on this thread; starts the EAL if nobody has. `yaml`: a fabric file with a duration;
// `variation` must not change the outcome. A lab that cannot be built has broken the rule "spec".
Outcome run_trial(const std::string& yaml, const EngineVariation& variation = {});
// Of a user's fabric file: its outcome also says what it did not carry.
Outcome try_lab(const std::string& yaml);

// The trial of a seed, without some of its traffic and faults. Every eighth is run twice, in other portions of time and
// another order of devices, and must come out the same.
Outcome try_seed(std::uint64_t seed, const std::set<std::string>& without = {});

}  // namespace railyard::swarm
