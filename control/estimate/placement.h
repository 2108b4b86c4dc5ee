// Where the ranks of a job should be: orders of parallelism and of hosts, tried one after the other.
#pragma once

#include <array>
#include <expected>
#include <string>
#include <vector>

#include "control/estimate/estimate.h"
#include "control/jobs/parallelism.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

// In which order a job takes the GPUs that its `ranks` name. Hosts that share a scale-up network count as one.
enum class HostOrder { kAsSaid, kByLeaf, kAcrossLeaves };
std::string_view name(HostOrder order) noexcept;  // "as said", "leaf by leaf", "across leaves"

struct Placement {
  HostOrder hosts = HostOrder::kAsSaid;
  std::array<jobs::Axis, 4> order{};
  std::vector<spec::RankAt> ranks;  // by rank
  Duration step{};
};

struct Advice {
  Placement now;                  // as the lab says it
  std::vector<Placement> tried;   // the quickest first; those of equal time in the order in which they were tried
};

// Tries all orders of the axes that have a degree above one, with each order of hosts. Error: as estimate(). `job`: its place
// in lab.collectives; a job.
std::expected<Advice, std::string> advise(const spec::Lab& lab, std::size_t job);

}  // namespace railyard::estimate
