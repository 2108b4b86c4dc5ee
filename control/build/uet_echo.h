// What answers programs over libfabric at the built-in NICs of a lab: they return messages (transports/uet/services/).
#pragma once

#include <memory>

#include "control/spec/spec.h"
#include "dataplane/base/endpoint.h"

namespace railyard::build {

// Whether the lab has hosts with `attach: application`.
bool has_applications(const spec::Lab& lab);

// What drives a built-in NIC of such a lab: an echo server and `rest`, which has no UET traffic. `link`: of the NIC.
std::unique_ptr<Endpoint> with_uet_echo(const spec::Lab& lab, const spec::PortName& nic, const spec::LinkSpec& link,
                                        std::unique_ptr<Endpoint> rest);

}  // namespace railyard::build
