// What of a virtual switch can become something else while it runs: plain data, as in switch_config.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/switch/path/selector.h"
#include "dataplane/switch/switch_config.h"

namespace railyard {

struct SwitchSettings {
  struct Port {
    // Whether a class is lossless and what is reserved for it stay as they are.
    std::array<SwitchClassConfig, kPriorities> classes;
    // Headroom that a class has for `transition`, if it is more: while its link gets another rate, what was begun at
    // the old one meets what comes at the new one.
    std::array<Bytes, kPriorities> transition_headroom{};
    NeighbourQuality quality;
    PfcEnable pfc{};
  };
  std::vector<Port> ports;
  Duration transition{};
  PathSelectorConfig paths;
  std::optional<QualityReportConfig> reports;
};

}  // namespace railyard
