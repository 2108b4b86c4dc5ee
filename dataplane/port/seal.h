// A packet made ready to leave for the outside: every octet real, and for a DPDK port a plain mbuf.
#pragma once

#include "dataplane/packet/pool.h"

struct rte_mbuf;

namespace railyard {

// Takes over `packet` and returns it, or another in its place, with all octets real and contiguous: synthetic payload
// is written, a pending ICRC is computed and belongs to the payload then. nullptr, and the packet is untouched, if
// there is no memory for its payload.
Packet* make_whole(Packet* packet, PacketPool& pool);

// The same as an mbuf for a DPDK port.
rte_mbuf* seal(Packet* packet, PacketPool& pool);

}  // namespace railyard
