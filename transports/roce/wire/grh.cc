#include "transports/roce/wire/grh.h"

#include <algorithm>

#include "dataplane/base/assert.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"

namespace railyard::roce {

using wire::Ipv4;
using wire::Ipv6;
using wire::read;

namespace {

constexpr std::size_t kIpv4At = kGrhOctets - Ipv4::kOctets;

}  // namespace

void write_grh(std::span<std::byte, kGrhOctets> out, std::span<const std::byte> ip) noexcept {
  RAILYARD_ASSERT(ip.size() >= Ipv4::kOctets, "a datagram came in an IP packet");
  if (read<Ipv4::Version>(ip.data()) == 4) {
    std::ranges::fill(out.first<kIpv4At>(), std::byte{0});
    std::ranges::copy(ip.first<Ipv4::kOctets>(), out.begin() + kIpv4At);
  } else {
    RAILYARD_ASSERT(ip.size() >= Ipv6::kOctets, "a datagram came in an IP packet");
    std::ranges::copy(ip.first<Ipv6::kOctets>(), out.begin());
  }
}

std::optional<GrhAddresses> read_grh(std::span<const std::byte, kGrhOctets> grh) noexcept {
  const auto ipv4 = grh.last<Ipv4::kOctets>();
  if (read<Ipv4::Version>(ipv4) == 4 && read<Ipv4::IHL>(ipv4) == 5 && wire::internet_checksum(ipv4) == 0)
    return GrhAddresses{wire::IpAddress(read<Ipv4::Source>(ipv4)), wire::IpAddress(read<Ipv4::Destination>(ipv4))};
  if (read<Ipv6::Version>(grh) == 6) return GrhAddresses{read<Ipv6::Source>(grh), read<Ipv6::Destination>(grh)};
  return std::nullopt;
}

}  // namespace railyard::roce
