// All path policies, in the order of PathPolicy.
#pragma once

#include <cstddef>
#include <iterator>

#include "dataplane/switch/path/adaptive.h"
#include "dataplane/switch/path/drill.h"
#include "dataplane/switch/path/ecmp.h"
#include "dataplane/switch/path/flowlet.h"
#include "dataplane/switch/path/policy.h"
#include "dataplane/switch/path/spray.h"
#include "dataplane/switch/path/ugal.h"
#include "dataplane/switch/path/valiant.h"
#include "dataplane/switch/path/wcmp.h"

namespace railyard {

inline constexpr PathPolicyInfo kPathPolicies[] = {
    ecmp_policy::kInfo,  wcmp_policy::kInfo,     flowlet_policy::kInfo,
    spray_policy::kInfo, adaptive_policy::kInfo, drill_policy::kInfo,
    valiant_policy::kInfo, ugal_policy::kInfo,
};

constexpr const PathPolicyInfo& info(PathPolicy policy) noexcept {
  return kPathPolicies[static_cast<std::size_t>(policy)];
}

constexpr PathUnit unit_of(const PathConfig& config) noexcept { return info(config.policy).unit(config); }

static_assert([] {
  for (std::size_t i = 0; i < std::size(kPathPolicies); ++i)
    if (kPathPolicies[i].policy != static_cast<PathPolicy>(i)) return false;
  return true;
}());

}  // namespace railyard
