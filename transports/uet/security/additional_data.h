// What the ICV of a secured packet covers beside the encrypted octets (AAD): UET page §11.
//
//   IP source and destination, 8 or 32 octets | the first 4 octets behind IP | TSS header, 12 or 16
//
// DEVIATION: sources differ over UDP. The 4 octets are its two ports, which stand where the entropy header is without
// UDP. A switch that changes TTL, DSCP, ECN or an IP checksum does not change the AAD.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {

class AdditionalData {
 public:
  // `ip`: where the IP header begins; `l4`: UDP or the entropy header; `tss`: the TSS header of `tss_octets`.
  AdditionalData(const std::byte* ip, bool v4, const std::byte* l4, const std::byte* tss,
                 std::size_t tss_octets) noexcept {
    if (v4)
      add(ip + wire::Ipv4::Source::kFirstOctet, 8);
    else
      add(ip + wire::Ipv6::Source::kFirstOctet, 32);
    add(l4, 4);
    add(tss, tss_octets);
  }

  std::span<const std::byte> span() const noexcept { return std::span(octets_).first(size_); }

 private:
  void add(const std::byte* from, std::size_t n) noexcept {
    std::memcpy(octets_.data() + size_, from, n);
    size_ += n;
  }

  std::array<std::byte, 32 + 4 + Tss::kOctets + Tss::kSsiOctets> octets_;
  std::size_t size_ = 0;
};

}  // namespace railyard::uet
