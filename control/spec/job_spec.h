// What a fabric file says of a job: jobs.<n>. Where its ranks are and what carries its messages is said as of a collective
// (collective_spec.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/jobs/inference.h"
#include "control/jobs/training.h"
#include "dataplane/base/ratio.h"
#include "dataplane/base/units.h"

namespace railyard::spec {

// One of those that we ship (topologies/models/), a file, or what the fabric file says itself (`said` is empty).
struct ModelSpec {
  std::string said;
  jobs::Model model;

  bool operator==(const ModelSpec&) const = default;
};

struct JobSpec {
  ModelSpec model;
  // Its model is `model`, and its data-parallel degree follows from the ranks if `data` is not said, once the lab is read.
  jobs::Training training;
  std::optional<int> data;
  // Requests are served instead, and `training` means nothing. Its model is `model`, and its rates follow from the GPU.
  std::optional<jobs::Inference> inference;
  std::string gpu = "h100";
  Ratio mfu{2, 5};  // what of the GPU's peak computing alone reaches
  std::vector<std::string> storage{};  // selectors of ranks that store; `training.storage` says how many that are
  std::optional<int> storage_dscp{};  // of messages to and from these; nothing: as all others
  Ratio mbu{3, 5};  // what of the rate of the GPU's memory reading alone reaches; of inference

  const std::string& model_name() const noexcept { return inference ? inference->model.name : training.model.name; }
  bool operator==(const JobSpec&) const = default;
};

}  // namespace railyard::spec
