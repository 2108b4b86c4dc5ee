#include "dataplane/wire/icmpv6_message.h"

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv6.h"

namespace railyard::wire {

std::byte* begin_icmpv6(std::span<std::byte> out, const LinkHeader& link, const Icmpv6Envelope& envelope,
                        std::size_t message_octets) noexcept {
  if (out.size() < link.octets() + Ipv6::kOctets + message_octets) return nullptr;
  std::byte* const ip = write_link_header(out.data(), link, ether_type::kIpv6);
  write<Ipv6::Version>(ip, 6);
  write<Ipv6::TrafficClass>(ip, envelope.traffic_class_octet);
  write<Ipv6::FlowLabel>(ip, 0);
  write<Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(message_octets));
  write<Ipv6::NextHeader>(ip, ip_protocol::kIcmpv6);
  write<Ipv6::HopLimit>(ip, envelope.hop_limit);
  write<Ipv6::Source>(ip, envelope.source);
  write<Ipv6::Destination>(ip, envelope.destination);
  return ip + Ipv6::kOctets;
}

void finish_icmpv6(std::span<std::byte> message, const Icmpv6Envelope& envelope) noexcept {
  write<Icmpv6::Checksum>(message.data(), 0);
  write<Icmpv6::Checksum>(message.data(),
                          transport_checksum(envelope.source, envelope.destination, ip_protocol::kIcmpv6, message));
}

}  // namespace railyard::wire
