// Whether a switch ever has room for a frame: with thresholds that are a small part of a small shared memory it may
// refuse, or trim, each full frame of a class even when it is empty. No transport gets through there.
#pragma once

#include <cstdint>

#include "control/build/built_lab.h"
#include "dataplane/base/ids.h"
#include "dataplane/switch/switch.h"

namespace railyard::swarm {

// Whether an empty switch admits a frame of `octets` of class `priority`, whatever port it comes in by and leaves by.
bool has_room(const Switch& device, Priority priority, std::uint32_t octets);

// The same for packets of a flow or collective with this DSCP at every switch of the lab.
bool has_room(build::BuiltLab& lab, int dscp, std::uint32_t octets);

}  // namespace railyard::swarm
