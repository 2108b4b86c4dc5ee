// What switches see of their neighbours (LLDP) as a fabric file: nodes and links.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace railyard::importing {

// Whether `text` is the output of `lldpcli show neighbors -f json`.
bool is_lldp(const std::string& text);

// `outputs`: by the name of the node that printed it, the file (for messages) and its text. These nodes are switches,
// and so are neighbours that say they bridge or route; all others are hosts. A link that both ends see is one link. A
// node's interfaces are numbered from 1 in the order of the numbers in their names. Neighbours at ports that say
// nothing are left out, with a comment at the end. Throws SpecError for what is no such output, and if two ends
// contradict each other.
struct LldpOutput {
  std::string node;
  std::string file;
  std::string text;
};
std::string from_lldp(const std::vector<LldpOutput>& outputs);

// "leaf1" of "dir/leaf1.json": lldpcli does not print whose neighbours they are.
std::string node_of_file(const std::string& file);

}  // namespace railyard::importing
