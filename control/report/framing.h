// What headers leave of a link: the most goodput that frames of a size can have.
#pragma once

#include "control/spec/spec.h"
#include "dataplane/base/framing.h"

namespace railyard::report {

// Octets of payload per octet of wire time, preamble and gap included, of a flow of `total` octets (0: without an end).
// At 4 KiB over IPv4 0.980. `selective`: its NICs repeat selectively, which takes headers of its own. `uet`: how they
// put UET into packets; `framing`: of their links.
double framing_efficiency(const spec::TrafficSpec& traffic, Bytes total, bool selective,
                          const spec::UetNicSpec& uet = {}, Framing framing = {});

// Octets of UET around PDS header and data, between IP and the FCS: UDP or entropy header; CRC, or TSS header and ICV.
int uet_outer_octets(const spec::UetNicSpec& uet, int ip_version);

// Octets of the frame that a message of the connection manager (IBTA Vol 1 §12) is in, with FCS.
int cm_frame_octets(const spec::TrafficSpec& traffic);

// Octets of the longest data frame of such traffic, with FCS.
int data_frame_octets(const spec::TrafficSpec& traffic, const spec::UetNicSpec& uet = {});

// Octets of the last frame of such a flow, with FCS.
int last_frame_octets(const spec::TrafficSpec& traffic, Bytes total, bool selective, const spec::UetNicSpec& uet = {});

}  // namespace railyard::report
