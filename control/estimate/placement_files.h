// A placement for those who start the job: which rank is where, and in which order they need the hosts.
#pragma once

#include <string>
#include <string_view>

#include "control/estimate/placement.h"

namespace railyard::estimate {

// As `placement:` of a job reads it (CSV): rank, host, GPU or rail. `note`: comments at the top; "" for none.
std::string rank_file(const Placement& placement, const std::string& note);

// Who starts the ranks.
//  - kMpirun: each host once with its ranks ("h1 slots=4"), as mpirun --hostfile reads it.
//  - kSlurm: a line per rank with its host, as srun --distribution=arbitrary reads it from SLURM_HOSTFILE.
//  - kTorchrun: which has no host file: per host, the options that give it its node rank.
enum class Starter { kMpirun, kSlurm, kTorchrun };

// Hosts in the order of their first ranks. A comment says it if ranks of a host do not follow each other, which only the file
// of Slurm can express.
std::string host_file(const Placement& placement, Starter starter, const std::string& note);

}  // namespace railyard::estimate
