#include "dataplane/packet/crc_trailer.h"

#include "dataplane/wire/crc32.h"
#include "dataplane/wire/crc32c.h"
#include "dataplane/wire/icrc.h"

namespace railyard {

// UET page §1.6: from the source address on, most significant octet first.
void write_crc_trailer(std::span<const std::byte> ip, std::byte* at) noexcept {
  if (is_rocev2(ip)) return wire::write_crc32(at, wire::icrc(ip));
  const bool v4 = (ip[0] >> 4) == std::byte{4};
  const std::size_t source = v4 ? wire::Ipv4::Source::kFirstOctet : wire::Ipv6::Source::kFirstOctet;
  wire::write<wire::Field<0, 32>>(at, wire::crc32c(ip.subspan(source)));
}

}  // namespace railyard
