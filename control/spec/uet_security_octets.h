// Octets of a packet of Ultra Ethernet that the transport security sublayer adds: TSS header and ICV. There is no CRC.
#pragma once

namespace railyard::spec {

// Over IPv6 the header has a source identifier.
constexpr int uet_security_octets(int ip_version) noexcept { return (ip_version == 4 ? 12 : 16) + 16; }

}  // namespace railyard::spec
