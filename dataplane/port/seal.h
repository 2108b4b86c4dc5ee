// A packet made ready to leave for a DPDK port: a plain mbuf with every octet real.
#pragma once

#include "dataplane/packet/pool.h"

struct rte_mbuf;

namespace railyard {

// Takes over `packet`. nullptr, and the packet is untouched, if there is no memory for its payload.
rte_mbuf* seal(Packet* packet, PacketPool& pool);

}  // namespace railyard
