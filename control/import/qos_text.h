// The QoS profile of a switch as YAML.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/import/switch_config.h"

namespace railyard::importing {

struct QosText {
  std::string profile;                            // "qos:\n  default: ..."
  std::map<int, std::vector<std::string>> ports;  // by port: "3: { pfc: off }", where it differs from the profile
  std::vector<std::string> notes;                 // what the profile cannot say
};

QosText qos_text(const SwitchConfig& from);

// `items` joined by commas, broken where a line would have more than 120 columns; `indent` of the lines after the
// first.
std::string wrapped(const std::vector<std::string>& items, std::size_t used, std::size_t indent);
std::string rate_text(std::int64_t mbps);

}  // namespace railyard::importing
