// A switch as a fabric file: one switch with its QoS profile, a host at each link, an incast; what is left out.
#pragma once

#include <string>
#include <vector>

#include "control/import/switch_config.h"

namespace railyard::importing {

struct FabricWords {
  const char* what = "";                  // "SONiC switch"
  std::string file;                       // that was read
  const char* form_of_list = "";          // of the lines of what is left out: "TABLE|key: fields"
  std::vector<std::string> more_left_out = {};  // after what the QoS profile cannot say
};

// With `qos_only`, of the fabric file only `qos`, to paste. `left_out`: lines of comments at the end.
std::string fabric_text(const SwitchConfig& from, const FabricWords& words, std::vector<std::string> left_out,
                        bool qos_only);

}  // namespace railyard::importing
