// A decoded frame as one line for people.
#pragma once

#include <string>

#include "control/decode/decode_frame.h"

namespace railyard::decode {

// Of an object as decode_file() hands it out: number, milliseconds since the first frame, proto, who to whom, and what
// matters of the innermost header; no line end.
std::string line(const Json& frame);

}  // namespace railyard::decode
