// How fast a port reacts to a pause frame.
#pragma once

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// The longest time that the standard allows between the last octet of a pause frame and no new frame started: IEEE
// 802.3 annex 31B.3.7, by link rate (> 0); rates in between take the next higher one's quanta.
Duration standard_pause_response(BitRate rate) noexcept;

}  // namespace railyard
