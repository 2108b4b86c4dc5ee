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
// Connection matrix: "Nodes N", "Connections N", then per line "S->D start PICOSECONDS size OCTETS", with "id N" and
// "prio N" that mean nothing here. Nodes are `nodes`, counted from 0. Triggers and failures are refused: flows do not
// wait for each other here.
//
// In both, empty lines and such that begin with '#' mean nothing. Throws SpecError with the line of that file; also if
// it cannot be read.
std::vector<ListedFlow> read_flow_file(const Lab& lab, const std::string& file, const std::vector<PortName>& nodes);

}  // namespace railyard::spec
