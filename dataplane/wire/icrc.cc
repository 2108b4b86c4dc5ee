#include "dataplane/wire/icrc.h"

#include <algorithm>
#include <array>

#include "dataplane/base/assert.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard::wire {
namespace {

// The CRC-32 of eight octets of ones, which stand for the masked LRH of native InfiniBand.
constexpr std::uint32_t kMaskedLrh = ~0xDEBB20E3u;

constexpr std::size_t kUdpAndBth = Udp::kOctets + Bth::kOctets;

template <class F>
void mask(std::byte* header) noexcept {
  write<F>(header, F::kMax);
}

// What of an IPv4 or IPv6 header a router may change (everything else, options too, is covered as it was sent).
void mask_ipv4(std::byte* ip) noexcept {
  mask<Ipv4::TrafficClass>(ip);
  mask<Ipv4::TTL>(ip);
  mask<Ipv4::HeaderChecksum>(ip);
}
void mask_ipv6(std::byte* ip) noexcept {
  mask<Ipv6::TrafficClass>(ip);
  mask<Ipv6::FlowLabel>(ip);
  mask<Ipv6::HopLimit>(ip);
}
void mask_udp_and_bth(std::byte* udp) noexcept {
  mask<Udp::Checksum>(udp);
  std::byte* const bth = udp + Udp::kOctets;
  mask<Bth::FECN>(bth);
  mask<Bth::BECN>(bth);
  mask<Bth::Resv6>(bth);
}

bool is_ipv4(std::span<const std::byte> ip) noexcept { return read<Ipv4::Version>(ip.data()) == 4; }

// IP header, UDP header and BTH; `packet` is not empty.
std::size_t header_octets(std::span<const std::byte> packet) noexcept {
  if (!is_ipv4(packet)) return Ipv6::kOctets + kUdpAndBth;
  return std::max(Ipv4::kOctets, std::size_t{4} * read<Ipv4::IHL>(packet.data())) + kUdpAndBth;
}

}  // namespace

Icrc::Icrc(std::span<const std::byte> headers) noexcept {
  RAILYARD_ASSERT(!headers.empty(), "an ICRC begins with an IP header");
  const bool ipv4 = is_ipv4(headers);
  const std::size_t fixed = ipv4 ? Ipv4::kOctets : Ipv6::kOctets;
  RAILYARD_ASSERT(headers.size() >= fixed + kUdpAndBth, "an ICRC begins with IP, UDP and BTH");

  // IP header, then UDP and BTH behind it; IP options and extension headers, which nobody sends, go in between
  // unmasked.
  std::array<std::byte, Ipv6::kOctets + kUdpAndBth> masked;
  std::byte* const udp = std::copy_n(headers.data(), fixed, masked.data());
  std::copy_n(headers.data() + headers.size() - kUdpAndBth, kUdpAndBth, udp);
  ipv4 ? mask_ipv4(masked.data()) : mask_ipv6(masked.data());
  mask_udp_and_bth(udp);

  const auto between = headers.subspan(fixed, headers.size() - fixed - kUdpAndBth);
  if (between.empty()) {
    crc_ = crc32({masked.data(), fixed + kUdpAndBth}, kMaskedLrh);
  } else {
    crc_ = crc32({udp, kUdpAndBth}, crc32(between, crc32({masked.data(), fixed}, kMaskedLrh)));
  }
}

std::uint32_t icrc(std::span<const std::byte> packet) noexcept {
  RAILYARD_ASSERT(!packet.empty() && packet.size() >= header_octets(packet), "an ICRC begins with IP, UDP and BTH");
  Icrc crc(packet.first(header_octets(packet)));
  crc.update(packet.subspan(header_octets(packet)));
  return crc.value();
}

bool icrc_matches(std::span<const std::byte> packet) noexcept {
  if (packet.empty() || packet.size() < header_octets(packet) + kIcrcOctets) return false;
  return icrc(packet) == kCrc32Check;
}

}  // namespace railyard::wire
