// Work that an interface leaves to its hardware: checksums, cutting large packets, joining small ones.
#pragma once

#include <string>
#include <vector>

namespace railyard::hosts {

// Which of these are on at `interface` of the namespace that the calling thread is in, by their names in `ethtool -k`.
// Throws HostsError.
std::vector<std::string> offloads(const std::string& interface);

// Switches all of them off, so that what leaves the interface is what goes over a cable: whole checksums, no packet
// above the MTU. Throws HostsError if one stays on.
void switch_offloads_off(const std::string& interface);

}  // namespace railyard::hosts
