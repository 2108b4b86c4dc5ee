// Packets of random kinds and values, for properties that hold of all of them.
#pragma once

#include <random>

#include "transports/uet/wire/packet.h"

namespace railyard::uet {

using Draw = std::mt19937_64;

// Whose fields have any value that fits them; those that the packet does not have are as constructed, as a decoder
// leaves them.
Pds random_pds(Draw& draw);
Ses random_ses(Draw& draw, NextHdr form);
// With up to 64 octets of payload.
Packet random_packet(Draw& draw);

}  // namespace railyard::uet
