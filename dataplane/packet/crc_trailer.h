// The CRC at the end of packets that built-in NICs send, where it is made real: RoCEv2's ICRC, or the CRC-32C of Ultra
// Ethernet.
#pragma once

#include <cstddef>
#include <span>

#include "dataplane/wire/field.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard {

// Of packets with a CRC to be made: whether it is RoCEv2's. They have neither IP options nor extension headers; `ip`
// begins with the IP header and reaches beyond the UDP header, if there is one.
inline bool is_rocev2(std::span<const std::byte> ip) noexcept {
  const bool v4 = (ip[0] >> 4) == std::byte{4};
  const std::size_t l4 = v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
  if (ip.size() < l4 + wire::Udp::kOctets) return false;
  const auto protocol = v4 ? wire::read<wire::Ipv4::Protocol>(ip.data()) : wire::read<wire::Ipv6::NextHeader>(ip.data());
  return protocol == wire::ip_protocol::kUdp &&
         wire::read<wire::Udp::DestinationPort>(ip.data() + l4) == wire::kRoceV2Port;
}

// Writes the CRC of `ip`, from the IP header to the last octet in front of the CRC, at `at`: four octets.
void write_crc_trailer(std::span<const std::byte> ip, std::byte* at) noexcept;

}  // namespace railyard
