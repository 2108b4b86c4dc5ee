#include "dataplane/wire/echo.h"

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"

namespace railyard::wire {
namespace {

constexpr std::uint8_t kEchoTtl = 64;

// Two fields of one header change places. A checksum that covers both stays right.
template <class A, class B>
void swap_fields(std::byte* header) noexcept {
  const auto a = read<A>(header);
  write<A>(header, read<B>(header));
  write<B>(header, a);
}

// ICMP and ICMPv6 begin alike, and the code of both messages is 0.
static_assert(Icmp::Checksum::kFirstBit == Icmpv6::Checksum::kFirstBit);
void set_type(std::byte* icmp, std::uint8_t type) noexcept {
  using TypeAndCode = Field<0, 16>;
  const std::uint16_t m = read<TypeAndCode>(icmp);
  write<Icmp::Type>(icmp, type);
  write<Icmp::Checksum>(icmp, updated_checksum(read<Icmp::Checksum>(icmp), m, read<TypeAndCode>(icmp)));
}

void set_ttl_v4(std::byte* ip) noexcept {
  using TtlAndProtocol = Field<64, 16>;
  const std::uint16_t m = read<TtlAndProtocol>(ip);
  write<Ipv4::TTL>(ip, kEchoTtl);
  write<Ipv4::HeaderChecksum>(ip, updated_checksum(read<Ipv4::HeaderChecksum>(ip), m, read<TtlAndProtocol>(ip)));
}

}  // namespace

bool is_echo_request(std::span<const std::byte> frame, const FrameView& view) noexcept {
  if (view.l4_offset == 0 || view.destination.is_multicast() || view.destination.is_broadcast()) return false;
  if (read<Ethernet::Destination>(frame.data()).is_multicast()) return false;
  const std::byte* const icmp = frame.data() + view.l4_offset;
  if (read<Icmp::Code>(icmp) != 0) return false;
  return (view.protocol == ip_protocol::kIcmp && read<Icmp::Type>(icmp) == icmp_type::kEchoRequest) ||
         (view.protocol == ip_protocol::kIcmpv6 && read<Icmpv6::Type>(icmp) == icmpv6_type::kEchoRequest);
}

void make_echo_reply(std::span<std::byte> frame, const FrameView& view) noexcept {
  swap_fields<Ethernet::Destination, Ethernet::Source>(frame.data());
  std::byte* const ip = frame.data() + view.l3_offset;
  std::byte* const icmp = frame.data() + view.l4_offset;
  if (view.kind == FrameKind::kIpv4) {
    swap_fields<Ipv4::Source, Ipv4::Destination>(ip);
    set_ttl_v4(ip);
    set_type(icmp, icmp_type::kEchoReply);
  } else {
    swap_fields<Ipv6::Source, Ipv6::Destination>(ip);
    write<Ipv6::HopLimit>(ip, kEchoTtl);
    set_type(icmp, icmpv6_type::kEchoReply);
  }
}

}  // namespace railyard::wire
