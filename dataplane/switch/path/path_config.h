// How one of several equal next hops is chosen, by traffic class: plain data, for those who know no switch, too.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/time.h"

namespace railyard {

// Each has a file in this folder with its descriptor (policy.h), and its line in policies.h.
enum class PathPolicy : std::uint8_t { kEcmp, kWcmp, kFlowlet, kSpray, kAdaptive, kDrill, kValiant, kUgal };

// In the order of spray_policy::kOrders.
enum class SprayOrder : std::uint8_t { kShuffled, kRandom, kRoundRobin, kLeastLoaded };

// How a port's load is averaged (sampled_load.h).
struct LoadSampling {
  Duration every{};        // 0: not at all, but as it is at the instant
  std::uint8_t shift = 3;  // a sample's weight is 1/2^shift

  static constexpr std::uint8_t kMostShift = 8;

  bool on() const noexcept { return every > Duration{}; }
  bool operator==(const LoadSampling&) const = default;
};

// Settings of all policies; what each means, and its range, is in the descriptor of the policy that has it.
struct PathConfig {
  PathPolicy policy = PathPolicy::kEcmp;
  SprayOrder order = SprayOrder::kShuffled;
  bool per_flowlet = false;
  Duration gap{100'000'000};
  std::uint8_t bands = 8;
  Duration band{4'000'000};
  bool global = false;
  Duration report_every{10'000'000};
  LoadSampling sampling = {};
  std::uint8_t choices = 2;
  std::uint8_t memory = 1;
  Duration threshold{1'000'000};

  static constexpr std::uint8_t kMostBands = 32;
  static constexpr std::uint8_t kMostDrill = 8;  // choices, and memory

  bool operator==(const PathConfig&) const = default;
};

// What can be wrong with the numbers by themselves. `where` names the class in the message.
std::expected<void, std::string> validate(const PathConfig& config, const std::string& where);

}  // namespace railyard
