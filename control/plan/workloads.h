// Kinds of workload and what they need of a fabric: the table that recommendations come from.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dataplane/base/ratio.h"

namespace railyard::plan {

enum class Workload { kPretraining, kFineTuning, kInferenceRag, kMixed };

// How traffic of several kinds is kept apart.
enum class Isolation { kSharedQos, kVrf, kSeparate };

struct WorkloadNeeds {
  Workload workload;
  std::string_view name;   // as a key's value
  Ratio oversubscription;  // of leaves
  std::string_view oversubscription_source;
  Isolation isolation;
  std::string_view isolation_reason;
};

// docs/plan.md has the table with its sources; a test compares.
std::span<const WorkloadNeeds> workloads() noexcept;
const WorkloadNeeds& needs(Workload workload) noexcept;

std::string_view name(Isolation isolation) noexcept;  // "shared fabric, QoS classes"

}  // namespace railyard::plan
