// What a host's profile says of its RoCE NICs, for an engine that runs in an application. It goes from the daemon to
// the application as it lies in memory: both are of one build (application::kVersion).
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "dataplane/base/framing.h"
#include "transports/roce/engine_config.h"
#include "transports/roce/selective_repeat.h"

namespace railyard::verbs {

struct NicSettings {
  std::uint32_t ack_every = 64;  // as roce::EngineConfig has it
  std::uint32_t window_packets = 0;
  roce::CongestionConfig congestion{};
  Framing framing{};
  roce::CnpConfig cnp{};
  std::optional<roce::AckClass> ack{};
  std::optional<roce::SelectiveRepeatConfig> selective_repeat{};  // of RC QPs; else go-back-N
  // Of packets whose application asked for traffic class 0, as most do: DSCP and ECT(0), as a NIC's default traffic
  // class (mlx5: /sys/class/infiniband/DEVICE/tc/1/traffic_class). The same as built-in RoCE traffic has.
  std::uint8_t default_traffic_class = 26 << 2 | 2;
};
static_assert(std::is_trivially_copyable_v<NicSettings>);

}  // namespace railyard::verbs
