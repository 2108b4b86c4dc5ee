// What the objects of a UET engine are called.
#pragma once

#include <cstdint>

#include "dataplane/base/ids.h"

namespace railyard::uet {

using PeerId = Id<struct PeerTag, std::uint32_t>;        // a fabric endpoint (FEP) that is spoken with, by its address
using ContextId = Id<struct ContextTag, std::uint32_t>;  // what a JobID, PIDonFEP and resource index name at this end
using CqId = Id<struct CqTag, std::uint32_t>;            // a completion queue of one engine
using PdcId = Id<struct PdcTag, std::uint16_t>;          // PDCID, of this end; 0: none

}  // namespace railyard::uet
