// The network namespace in which a speaker stands for a switch.
#pragma once

#include <string>

#include "control/hosts/journal.h"
#include "control/speakers/speaker.h"

namespace railyard::speakers {

// Makes a router of the namespace `netns`, which is new and has no interface yet but lo: settings of the kernel, and
// the loopback addresses of the switch. Throws hosts::HostsError.
void set_up_switch_namespace(const Speaker& speaker, const std::string& netns, const hosts::Journal& journal);

// What is at the other end of each port, as `ip link` shows it. The interfaces are there. Throws hosts::HostsError.
void name_peers(const Speaker& speaker, const std::string& netns, const hosts::Journal& journal);

}  // namespace railyard::speakers
