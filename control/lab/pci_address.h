// PCI devices by their addresses.
#pragma once

#include <regex>
#include <string>

namespace railyard::lab {

// Whether DPDK knows it as a PCI device, by [domain:]bus:device.function; driver arguments may follow.
inline bool is_pci_address(const std::string& device) {
  static const std::regex kAddress("([0-9a-fA-F]{1,4}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}\\.[0-7](,.*)?");
  return std::regex_match(device, kAddress);
}

}  // namespace railyard::lab
