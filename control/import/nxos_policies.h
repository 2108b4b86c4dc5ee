// The class maps and policy maps of NX-OS, and where they are applied.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/import/running_config.h"
#include "control/import/switch_config.h"

namespace railyard::importing {

// A policy-map by its name, or nothing for a policy of the system (default-...), whose line is left. Throws SpecError
// if there is none.
const ConfigLine* nxos_policy(const RunningConfig& config, std::string_view type, const ConfigLine& by,
                              const std::string& name);

// `set qos-group` by DSCP and CoS: the first class of the policy that matches. Others are in group 0.
struct NxosGroups {
  bool trust_cos = false;  // classes match CoS, and none matches a DSCP
  std::array<int, 64> of_dscp{};
  std::array<int, 8> of_cos{};
  std::vector<std::string> sources;
};
// `policy`: type qos; nullptr: all packets are in group 0.
NxosGroups read_nxos_groups(const RunningConfig& config, const ConfigLine* policy);

// type network-qos: by qos-group.
struct NxosNetworkClass {
  const ConfigLine* pause = nullptr;  // pause pfc-cos N, or no-drop
  std::optional<std::int64_t> mtu;
};
std::array<NxosNetworkClass, kClasses> read_nxos_network(const RunningConfig& config, const ConfigLine* policy);

// type queuing, output: by qos-group.
struct NxosQueue {
  QueueSettings settings;
  std::optional<QueueBuffer> buffer;
  std::vector<const ConfigLine*> lines;
};
std::array<NxosQueue, kClasses> read_nxos_queues(const RunningConfig& config, const ConfigLine* policy);

// type queuing, input: pause buffer-size, pause-threshold, resume-threshold.
struct NxosPause {
  std::optional<GroupBuffer> group;
  const ConfigLine* line = nullptr;
};
std::array<NxosPause, kClasses> read_nxos_pauses(const RunningConfig& config, const ConfigLine* policy);

}  // namespace railyard::importing
