// Commands that have to run where a node is: in a lab over several sites, at its site.
#pragma once

#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

// `railyard COMMAND --lab PART MORE...` at the site that has `node`, as the words of a command; empty: the lab runs here.
// `at_terminal`: somebody sits in front of it. Throws std::invalid_argument: there is no such node.
std::vector<std::string> command_at_site(const daemon::LabDir& lab, const std::string& node, const std::string& command,
                                         const std::vector<std::string>& more, bool at_terminal);

// This process becomes that command; returns if the lab runs here.
void go_to_site(const daemon::LabDir& lab, const std::string& node, const std::string& command,
                const std::vector<std::string>& more);

}  // namespace railyard::tools
