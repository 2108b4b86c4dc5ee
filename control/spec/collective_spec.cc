#include "control/spec/collective_spec.h"

#include <algorithm>
#include <filesystem>

#include "control/collectives/registry.h"

namespace railyard::spec {

CollectiveAlgorithm CollectiveSpec::used_algorithm() const {
  if (is_trace()) return &collectives::kOfTrace;
  return algorithm.value_or(collectives::algorithms(collective).front());
}

std::string CollectiveSpec::operation_name() const {
  return std::string(is_trace() ? "trace" : collectives::name(collective));
}

std::string CollectiveSpec::algorithm_name() const {
  return is_trace() ? std::filesystem::path(trace).filename().string() : std::string(used_algorithm()->name);
}

bool CollectiveSpec::computes() const noexcept { return computing() > Duration{}; }

Duration CollectiveSpec::computing() const noexcept {
  if (traced.graph == nullptr) return forward + backward;
  Duration most{};
  for (const std::vector<jobs::Operation>& own : traced.graph->ranks) {
    Duration all{};
    for (const jobs::Operation& o : own) all += o.time;
    most = std::max(most, all);
  }
  return most;
}

}  // namespace railyard::spec
