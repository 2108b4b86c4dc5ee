// What headers leave of a link: the most goodput that frames of a size can have.
#pragma once

#include "control/spec/spec.h"

namespace railyard::report {

// Octets of payload per octet of wire time, preamble and gap included, of a flow of `total` octets (0: without an end).
// At 4 KiB over IPv4 0.980. `selective`: its NICs repeat selectively, which takes headers of its own.
double framing_efficiency(const spec::TrafficSpec& traffic, Bytes total, bool selective);

// Octets of the frame that a message of the connection manager (IBTA Vol 1 §12) is in, with FCS.
int cm_frame_octets(const spec::TrafficSpec& traffic);

// Octets of the last frame of such a flow, with FCS.
int last_frame_octets(const spec::TrafficSpec& traffic, Bytes total, bool selective);

}  // namespace railyard::report
