#include "control/spec/collective_spec.h"

#include <algorithm>
#include <filesystem>

#include "control/collectives/registry.h"

namespace railyard::spec {

CollectiveAlgorithm CollectiveSpec::used_algorithm() const {
  if (is_graph()) return &collectives::kOfTrace;
  if (algorithm) return *algorithm;
  return chosen.algorithm != nullptr ? chosen.algorithm : collectives::algorithms(collective).front();
}

std::string CollectiveSpec::operation_name() const {
  if (is_job()) return "job";
  return std::string(is_graph() ? "trace" : collectives::name(collective));
}

std::string CollectiveSpec::algorithm_name() const {
  if (is_job()) return job->model_name();
  return is_graph() ? std::filesystem::path(trace).filename().string() : std::string(used_algorithm()->name);
}

std::string CollectiveSpec::path() const { return (is_job() ? "jobs." : "collectives.") + name; }

bool CollectiveSpec::computes() const noexcept { return computing() > Duration{}; }

Duration CollectiveSpec::computing() const noexcept {
  if (traced.graph == nullptr) return forward + backward;
  Duration most{};
  for (const std::vector<jobs::Operation>& own : traced.graph->ranks) {
    Duration all{};
    for (const jobs::Operation& o : own) all += o.computes() ? o.time : Duration{};
    most = std::max(most, all);
  }
  return most;
}

}  // namespace railyard::spec
