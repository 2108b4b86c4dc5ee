// The slot of a NIC: PCI Express by generation and lanes.
#pragma once

#include "control/spec/spec.h"

namespace railyard::spec {

// What it carries in each direction: the line rate less the line coding, PCI Express Base Specification 5.0, section
// 4.2 (8, 16, 32 GT/s of 128b/130b) and 6.0, section 4.2.3 (64 GT/s; 236 of the 256 octets of a flit). Headers of
// transactions are not taken off.
BitRate rate_of(PcieSlot slot) noexcept;
// Of the NICs of a host, if its profile says so.
std::optional<BitRate> pcie_rate(const Lab& lab, const NodeSpec& host);

}  // namespace railyard::spec
