// The worked examples of the UET page as octets.
#pragma once

#include <string_view>

#include "tests/dataplane/wire/octets.h"
#include "transports/uet/wire/packet.h"

namespace railyard::uet {

// The octets of the example called `name`, as it stands on the page; throws if there is none.
wire::Octets vector_octets(std::string_view name);

// The packet of the example called `name`, from the PDS header to the payload.
wire::Octets vector_packet(std::string_view name);

// The same decoded.
Packet decoded_vector(std::string_view name, const Dialect& dialect = kStandard);

}  // namespace railyard::uet
