// How one of several equal next hops is chosen, by traffic class: plain data.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "dataplane/base/time.h"

namespace railyard {

// A policy is a file in this folder, an enumerator here, and a case in selector.h or selector.cc.
enum class PathPolicy : std::uint8_t {
  kEcmp,      // by hash of the flow
  kWcmp,      // by hash, in proportion to the members' weights
  kFlowlet,   // at random, anew after each gap in a flow
  kSpray,     // per packet, in SprayOrder
  kAdaptive,  // what is least loaded, in bands; per packet or per flowlet
};

enum class SprayOrder : std::uint8_t { kRoundRobin, kRandom, kLeastLoaded };

// How a port's load is averaged (sampled_load.h).
struct LoadSampling {
  Duration every{};        // 0: not at all, but as it is at the instant
  std::uint8_t shift = 3;  // a sample's weight is 1/2^shift

  static constexpr std::uint8_t kMostShift = 8;

  bool on() const noexcept { return every > Duration{}; }
  bool operator==(const LoadSampling&) const = default;
};

struct PathConfig {
  PathPolicy policy = PathPolicy::kEcmp;
  SprayOrder order = SprayOrder::kRoundRobin;  // kSpray
  bool per_flowlet = false;                    // kAdaptive
  // kFlowlet, and kAdaptive per flowlet: a flow that was silent for longer may take another path. Reordering is avoided
  // if it exceeds the largest difference in delay between paths.
  Duration gap{100'000'000};
  // kAdaptive: members are graded by the time their queues take to drain. Band 0 is up to `band`, and each of the
  // others ends at twice where the one before does, but the last, which has no end.
  std::uint8_t bands = 8;
  Duration band{1'000'000};
  // kAdaptive: a member is as bad as the worse of its own queues and what the switch behind it has reported of its
  // ports towards the destination (remote_quality.h): global load balancing. Neighbours that are asked report a change
  // of band at once, but not more often than every `report_every`.
  bool global = false;
  Duration report_every{10'000'000};

  // kAdaptive: whether the queues here are graded as they are, or by an average of what they were and of what has left.
  LoadSampling sampling = {};

  static constexpr std::uint8_t kMostBands = 32;

  bool operator==(const PathConfig&) const = default;
};

// What can be wrong with the numbers by themselves. `where` names the class in the message.
std::expected<void, std::string> validate(const PathConfig& config, const std::string& where);

}  // namespace railyard
