// What `nv config show` prints on Cumulus Linux as a fabric file: one switch, a host at each link, its QoS profile, an
// incast.
#pragma once

#include <string>

namespace railyard::importing {

// `text` of `file` (for messages) as YAML. With `qos_only`, of the fabric file only `qos`, to paste. Comments at the end
// list each setting that has no counterpart. What each setting becomes: docs/import.md. Throws SpecError for what is no
// such file or contradicts itself: "FILE:LINE: PATH: found ..., expected ...".
std::string from_nvue(const std::string& text, const std::string& file, bool qos_only);

}  // namespace railyard::importing
