// Work that an interface leaves to its hardware: checksums, cutting large packets, joining small ones.
#pragma once

#include <string>
#include <vector>

namespace railyard::hosts {

// Which of these are on at `interface` of the namespace that the calling thread is in, by their names in `ethtool -k`.
// Throws HostsError.
std::vector<std::string> offloads(const std::string& interface);

// Leaves on what the fabric's port does as frames come in: checksums that are sums, the segmentation of TCP and UDP. The
// host's kernel then hands over up to 64 KiB at once. Switches all others off (SCTP, tunnels): without them, what leaves
// the interface is what goes over a cable. Throws HostsError if one stays on.
void leave_offloads(const std::string& interface);

}  // namespace railyard::hosts
