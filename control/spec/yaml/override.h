// "--set path=value": a change to the file before it is read.
#pragma once

#include <string>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// Puts the value at the path, e.g. "run.duration=1ms", "traffic.0.rate=50Gbps" or "traffic.incast.rate=50Gbps": a list
// is stepped into by index from 0 or by its element's `name`, and a link by either of its ends:
// "links.h1:1.rate=10Gbps". Maps on the way are made if they are missing; whether a key may be there is for its reader
// to say. The value is YAML: "traffic.0.from=[h1, h2]". Without a value
// ("topology.spines=") the key or element is taken away. What is wrong with it later is reported as of
// "--set run.duration=1ms". Throws SpecError.
// Returns the path of what it changed as the document has it: "traffic.0.rate", whichever way the list was stepped
// into.
std::string apply_override(Tree& document, const std::string& assignment);

}  // namespace railyard::spec
