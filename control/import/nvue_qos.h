// The QoS profiles of Cumulus Linux: qos.roce, mapping, egress-queue-mapping, egress-scheduler, congestion-control, pfc.
//
// Source: Cumulus Linux user guide, "Quality of Service" and "RDMA over Converged Ethernet", for defaults and for what
// `roce` sets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/import/nvue_tree.h"
#include "control/import/switch_config.h"

namespace railyard::importing {

inline constexpr std::string_view kGlobalProfile = "default-global";  // of ports that name none

enum class NvueRoce { kOff, kLossy, kLossless };

struct NvueRoceMode {
  NvueRoce mode = NvueRoce::kOff;
  std::optional<long long> cable;  // metres
  std::string source;              // to show
};
// `qos.roce`. A mode that is not built in is left with a reason. Throws SpecError for a word that is no mode.
NvueRoceMode read_nvue_roce(const NvueTree& tree);

// A profile `qos.FEATURE.NAME`; nullptr if there is none and the name is that of the global one. Throws SpecError,
// which points at `by`, for another name that does not exist.
const spec::Tree* nvue_profile(const NvueTree& tree, std::string_view feature, const std::string& name,
                               const spec::Tree* by);

// Traffic classes by code point: mapping, then egress-queue-mapping.
struct NvueMaps {
  ClassMaps maps;
  std::array<int, 8> class_of_priority{};
  std::vector<std::string> sources;
};
NvueMaps read_nvue_maps(const NvueTree& tree, const spec::Tree* mapping, const NvueRoceMode& roce);

// egress-scheduler and congestion-control, by traffic class. `is_global`: of the profile for all ports, which has
// values for classes that it does not name.
struct NvueQueues {
  std::array<QueueSettings, kClasses> queues;
  std::array<std::vector<std::string>, kClasses> sources;
};
NvueQueues read_nvue_queues(const NvueTree& tree, const spec::Tree* scheduler, const spec::Tree* congestion,
                            bool global_scheduler, bool global_congestion, const NvueRoceMode& roce);

// pfc: which switch priorities pause, and the thresholds of their groups.
struct NvuePfc {
  std::set<int> priorities;
  GroupBuffer group;
  bool says_group = false;
  std::string cable;  // "50m"; empty: nobody says
  std::vector<std::string> sources;
  const spec::Tree* tree = nullptr;
};
NvuePfc read_nvue_pfc(const NvueTree& tree, const spec::Tree* profile, const NvueRoceMode& roce);

}  // namespace railyard::importing
