// How a picture says things: short, in the units of the field.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::picture {

// "400 Gb/s"; at most four digits.
std::string rate_text(BitRate rate);

// The cable if one is said, otherwise the delay: "3 m", "500 ns".
std::string cable_text(const spec::LinkSpec& link);

// What stands behind a NIC: "built-in", "namespace", "VM", "TAP tap0", ...
std::string attachment_text(const spec::Attachment& attachment);

// Names in a few words: "h1", "h1..h32", "h1, h3..h9", and at last "h1 … h97".
std::string names_text(const std::vector<std::string>& names);

// "1 host", "32 hosts".
std::string counted(std::size_t n, const char* one, const char* many);

// At most `most` characters of UTF-8, the last of them '…' if something had to go.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace railyard::picture
