// Which ports of a lab have links with credit-based flow control.
#pragma once

#include "control/build/built_lab.h"
#include "dataplane/device/fabric.h"

namespace railyard::daemon {

// Whether senders have credits (CBFC) for a class of this port or of the one at the other end. False without a link.
bool has_credits(const build::BuiltLab& lab, PortRef port);

}  // namespace railyard::daemon
