// A guest's network out of the lab it is in.
#pragma once

#include <string>

#include "control/guest/guest_network.h"
#include "control/spec/spec.h"

namespace railyard::guest {

// Of the host `host` of `lab`, which is expanded (addresses assigned). NICs have the MAC that the lab says or the
// automatic one, the MTU of their link, the switch at its other end as gateway, and no socket yet: the caller knows it.
//
// Names: every host by its name, the address of its first NIC; NIC k also as NAME.eth<k>; switches' loopbacks. Routes: NIC 1 is the default;
// NIC k is the way to the NICs k of other hosts (NIC k modulo the number of NICs
// here, if they have more): traffic stays in its rail.
//
// Throws GuestError if there is no such host.
GuestNetwork network_of(const spec::Lab& lab, const std::string& host);

}  // namespace railyard::guest
