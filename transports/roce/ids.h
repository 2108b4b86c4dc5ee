// What the objects of a RoCE engine are called.
#pragma once

#include <cstdint>

#include "dataplane/base/ids.h"

namespace railyard::roce {

using QpNumber = Id<struct QpNumberTag, std::uint32_t>;  // 24 bits
using CqId = Id<struct CqTag, std::uint32_t>;            // a completion queue of one engine
using SrqId = Id<struct SrqTag, std::uint32_t>;          // a shared receive queue
using AhId = Id<struct AhTag, std::uint32_t>;            // an address handle

inline constexpr QpNumber kGsiQp{1};  // the general services interface, where connection management is spoken

}  // namespace railyard::roce
