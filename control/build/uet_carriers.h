// What carries UET in a lab where the standard's UDP port, IP protocol, CRC or dialect does not.
#pragma once

#include <vector>

#include "control/spec/spec.h"
#include "transports/uet/wire/carrier.h"

namespace railyard::build {

// Of the hosts of a lab that has traffic or collectives over UET, each way once, in the order of their profiles' names.
std::vector<uet::Carrier> uet_carriers(const spec::Lab& lab);

}  // namespace railyard::build
