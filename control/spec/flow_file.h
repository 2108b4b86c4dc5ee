// Flows listed in a file: CSV, or a connection matrix of htsim (.cm).
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// By the file's name: "*.cm", else CSV.
//
// CSV: the first line names the columns, in any order: from, to (hosts: "h3", or NICs: "h3:2"), bytes (a size, "1MB",
// or a number of octets) and, if wanted, start ("10us" after the traffic's own start).
//
// Connection matrix: "Nodes N", "Connections N", "Triggers N", then one line per flow and per trigger, in any order:
//   S->D [id N] start PICOSECONDS|trigger T size OCTETS [send_done_trigger T] [recv_done_trigger T] [msg [N]] [prio N]
//   trigger id T oneshot|multishot|barrier [count N]
// Nodes are `nodes`, counted from 0. A flow with `trigger` starts when that trigger starts it (ListedTrigger). Lines with
// `msg` and the same id are messages of one connection, each with a start or trigger of its own. `prio` means nothing
// here. A oneshot or barrier that is fired again, and a multishot that has started all of its flows, do nothing.
// Failures are refused: they are under `faults`. Refused are also flows that only wait for each other.
//
// In both, empty lines and such that begin with '#' mean nothing. Fills `traffic.listed` and `traffic.triggers`. Throws
// SpecError with the line of that file; also if it cannot be read.
void read_flow_file(const Lab& lab, const std::vector<PortName>& nodes, TrafficSpec& traffic);

}  // namespace railyard::spec
