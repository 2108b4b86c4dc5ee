// A running-config of Cisco NX-OS as a fabric file: one switch, a host at each link, its QoS profile, an incast.
#pragma once

#include <string>

namespace railyard::importing {

// `text` of `file` (for messages) as YAML. With `qos_only`, of the fabric file only `qos`, to paste. Comments at the end
// list each line that has no counterpart. What each command becomes: docs/import.md. Throws SpecError for what is no
// such file or contradicts itself: "FILE:LINE: found ..., expected ...".
std::string from_nxos(const std::string& text, const std::string& file, bool qos_only);

}  // namespace railyard::importing
