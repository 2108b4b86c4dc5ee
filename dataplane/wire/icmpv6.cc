#include "dataplane/wire/icmpv6.h"

#include <algorithm>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmpv6_message.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"

namespace railyard::wire {

bool icmpv6_error_allowed(const Icmpv6Error& error, std::span<const std::byte> frame, const FrameView& view) noexcept {
  const bool to_many = view.destination.is_multicast() || read<Ethernet::Destination>(frame.data()).is_multicast();
  if (to_many && error.type != icmpv6_type::kPacketTooBig) return false;
  if (view.source.is_unspecified() || view.source.is_multicast()) return false;
  if (view.protocol != ip_protocol::kIcmpv6) return true;
  if (view.l4_offset == 0) return false;  // a fragment of who knows which type
  const std::uint8_t type = read<Icmpv6::Type>(frame.data() + view.l4_offset);
  return type >= 128 && type != icmpv6_type::kRedirect;
}

std::size_t write_icmpv6_error(std::span<std::byte> out, const LinkHeader& link, const IpAddress& source,
                               const Icmpv6Error& error, std::span<const std::byte> original,
                               const FrameView& view) noexcept {
  if (!icmpv6_error_allowed(error, original, view)) return 0;
  const auto packet = original.subspan(view.l3_offset);
  const std::size_t quoted = std::min({packet.size(), static_cast<std::size_t>(view.ip_octets),
                                       kIcmpv6ErrorMaxIpOctets - Ipv6::kOctets - Icmpv6::kOctets});
  const std::size_t message_octets = Icmpv6::kOctets + quoted;

  const Icmpv6Envelope envelope{.source = source, .destination = view.source};
  std::byte* const message = begin_icmpv6(out, link, envelope, message_octets);
  if (message == nullptr) return 0;
  write<Icmpv6::Type>(message, error.type);
  write<Icmpv6::Code>(message, error.code);
  write<Icmpv6::Rest>(message, error.rest);
  std::copy_n(packet.data(), quoted, message + Icmpv6::kOctets);
  finish_icmpv6({message, message_octets}, envelope);
  return link.octets() + Ipv6::kOctets + message_octets;
}

}  // namespace railyard::wire
