// Wireshark's dissectors as a second opinion.
#pragma once

#include <string>
#include <vector>

namespace railyard::tools {

bool has_tshark();

// What `tshark arguments` prints, line by line.
std::vector<std::string> tshark(const std::string& arguments);

}  // namespace railyard::tools
