// FRR in the namespace of a switch: from Debian's package, unmodified.
#pragma once

#include <string>
#include <vector>

#include "control/hosts/journal.h"
#include "control/hosts/thing.h"
#include "control/speakers/speaker.h"

namespace railyard::speakers {

// Throws hosts::HostsError if FRR is not installed, with what to install; or if it refuses the configuration `text` of
// `speaker`, with the line and what FRR says.
void check_frr(const Speaker& speaker, const std::string& text);

// Starts FRR's daemons in the namespace `netns` with the configuration `text`. Their sockets, files and logs are in
// /run/frr/NETNS, as with FRR's own option -N; all is recorded in `journal` first. They end with the namespace. Throws
// hosts::HostsError.
void start_frr(const Speaker& speaker, const std::string& text, const std::string& netns, hosts::Journal& journal);

// "/run/frr/NETNS".
std::string frr_folder(const std::string& netns);

// The words that run FRR's shell for `netns`: what the user gives it comes behind them.
std::vector<std::string> vtysh(const std::string& netns);

}  // namespace railyard::speakers
