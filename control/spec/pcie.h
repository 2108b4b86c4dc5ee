// PCI Express between NICs and their host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// What it carries in each direction: the line rate less the line coding, PCI Express Base Specification 5.0, section
// 4.2 (8, 16, 32 GT/s of 128b/130b) and 6.0, section 4.2.3 (64 GT/s; 236 of the 256 octets of a flit). Headers of
// transactions are not taken off.
BitRate rate_of(PcieSlot slot) noexcept;
// Of one NIC of a host while others that share its uplink are idle, if the host's profile says so.
std::optional<BitRate> pcie_rate(const Lab& lab, const NodeSpec& host);

// NICs that share an uplink.
struct PcieGroup {
  std::vector<int> nics;  // by number, from 1; two at least
  BitRate uplink;
};

// Of a host, in the order of its NICs. Hosts outside have PCI Express of their own: their NICs are in no group.
std::vector<PcieGroup> pcie_groups(const Lab& lab, const NodeSpec& host);
// "h1:1-2", as reports call them.
std::string format(const NodeSpec& host, const PcieGroup& group);

}  // namespace railyard::spec
