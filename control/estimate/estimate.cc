#include "control/estimate/estimate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "control/estimate/fluid.h"
#include "control/estimate/storage_estimate.h"

namespace railyard::estimate {

std::expected<Estimate, std::string> estimate(const spec::Lab& lab, const Options& options) {
  spec::Lab coarse = lab;
  for (spec::CollectiveSpec& c : coarse.collectives)
    c.chunk = std::max(c.chunk, options.least_chunk / c.element_octets() * c.element_octets());
  std::vector<std::pair<std::size_t, spec::TraceSpec>> whole;  // of jobs that store or fail
  for (std::size_t i = 0; i < coarse.collectives.size(); ++i) {
    spec::CollectiveSpec& c = coarse.collectives[i];
    if (!c.is_job()) continue;
    if (const jobs::Storage& s = c.job->training.storage; s.ranks == 0 && s.failures.empty()) continue;
    whole.emplace_back(i, c.traced);
    take_step(c, *c.traced.graph, c.traced.graph->ordinary(static_cast<std::uint32_t>(c.repeats)));
  }
  auto out = fluid(coarse);
  for (const auto& [job, traced] : whole) {
    if (!out) break;
    CollectiveEstimate& e = *std::ranges::find(out->collectives, coarse.collectives[job].name, &CollectiveEstimate::name);
    auto storage = storage_of(coarse, job, traced);
    if (!storage) return std::unexpected(storage.error());
    e.storage = *storage;
  }
  return out;
}

}  // namespace railyard::estimate
