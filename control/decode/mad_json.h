// A management datagram of QP 1 as JSON.
#pragma once

#include <cstddef>
#include <span>

#include "control/decode/decode_frame.h"

namespace railyard::decode {

// Adds `mad`: message ("REQ"), transaction_id, and of a REJ its reason and reason_name; or error, if it is none of connection
// management. `octets`: the payload of the packet to QP 1, as much as was captured; nothing is added if it was cut.
void add_mad(Json& out, std::span<const std::byte> octets);

}  // namespace railyard::decode
