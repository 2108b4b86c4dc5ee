// What the operating system of a host calls its NICs.
#pragma once

#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

// Of NIC `port`, from 1, of a host: by its profile, else "eth<port>". Ports of switches are "eth<port>" as well.
std::string interface_name(const Lab& lab, const NodeSpec& node, int port);

}  // namespace railyard::spec
