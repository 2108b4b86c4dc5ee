// Packet sequence numbers of UET, 32 bits (uet §0.2).
#pragma once

#include "transports/base/serial_number.h"

namespace railyard::uet {

using Psn = SerialNumber<struct PsnTag, 32>;

}  // namespace railyard::uet
