#include "control/report/tensor_groups.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "control/spec/collective_ranks.h"

namespace railyard::report {
namespace {

// Where ranks are: `networks` is empty if no two of them share a scale-up network.
struct Places {
  std::vector<spec::PortName> nics;
  std::vector<std::uint32_t> networks;

  bool together(std::uint32_t a, std::uint32_t b) const {
    return nics[a].node == nics[b].node || (!networks.empty() && networks[a] == networks[b]);
  }
};

}  // namespace

void add_tensor_across_hosts(JobFigures& figures, const spec::Lab& lab, const spec::CollectiveSpec& c) {
  if (!figures.training || !c.is_job() || c.traced.graph == nullptr) return;
  const jobs::Parallelism& p = c.job->training.parallelism;
  if (p.degree(jobs::Axis::kTensor) < 2) return;
  Places places{spec::ranks(lab, c), {}};
  places.networks = spec::places(lab, places.nics).host;
  double most = 0;
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(p.ranks()); ++r) {
    const std::vector<std::uint32_t> group = jobs::group(p, jobs::coordinates(p, static_cast<int>(r)), {jobs::Axis::kTensor});
    if (std::ranges::all_of(group, [&](std::uint32_t member) { return places.together(r, member); })) continue;
    most = std::max(most, jobs::volumes(*c.traced.graph, r).tensor);
  }
  if (most == 0) return;
  std::vector<JobFigures::Training::Volume>& volumes = figures.training->volumes;
  const auto tensor = std::ranges::find(volumes, "tp", &JobFigures::Training::Volume::kind);
  volumes.insert(tensor == volumes.end() ? tensor : tensor + 1, {"tp_across_hosts", most});
}

}  // namespace railyard::report
