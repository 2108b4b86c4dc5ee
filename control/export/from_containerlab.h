// A topology file of containerlab as a fabric file: its nodes and links.
#pragma once

#include <string>
#include <vector>

namespace railyard::exporting {

// `text` of `file` (for messages). A node is a host if its kind is `linux` (said by itself, its group, `kinds` or
// `defaults`), its links lead to at most 16 NICs, and its name matches none of `switches`; all others are switches. A node's
// interfaces are numbered from 1 in the order of the numbers in their names. Links without two ends in the lab (`host:`,
// `mgmt-net:`, `macvlan:`) are left out, with a comment. Throws SpecError with the place for what is no such file.
std::string from_containerlab(const std::string& text, const std::string& file, const std::vector<std::string>& switches);

}  // namespace railyard::exporting
