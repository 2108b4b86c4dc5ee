#include "transports/uet/wire/outer_path.h"

#include "dataplane/base/assert.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/uet_entropy.h"

namespace railyard::uet {
namespace {

using namespace wire;

}  // namespace

OuterPath::OuterPath(const EncapsulationConfig& config, const OuterHeaders& outer) noexcept
    : octets_(static_cast<std::uint8_t>(encode_outer(header_, config, outer, 0))),
      l4_(static_cast<std::uint8_t>(octets_ -
                                    (config.udp ? std::size_t{Udp::kOctets} : std::size_t{UetEntropy::kOctets}))),
      v4_(outer.source.is_v4()),
      udp_(config.udp) {
  if (!v4_) return;
  std::byte* const ip = header_.data() + Ethernet::kOctets;
  wire::write<Ipv4::TotalLength>(ip, 0);
  wire::write<Ipv4::HeaderChecksum>(ip, 0);
  for (std::size_t i = 0; i < Ipv4::kOctets; i += 2) sum_ += read<Field<0, 16>>(ip + i);
}

std::size_t OuterPath::complete(std::byte* out, std::size_t inner_octets, std::uint16_t entropy) const noexcept {
  const std::size_t behind_ip = octets_ - l4_ + inner_octets;
  std::byte* const ip = out + Ethernet::kOctets;
  std::byte* const l4 = out + l4_;
  if (v4_) {
    const std::size_t total = Ipv4::kOctets + behind_ip;
    RAILYARD_EXPENSIVE_ASSERT(total <= 0xFFFF, "IP carries the packet");
    wire::write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(total));
    std::uint32_t sum = sum_ + static_cast<std::uint32_t>(total);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    wire::write<Ipv4::HeaderChecksum>(ip, static_cast<std::uint16_t>(~sum & 0xFFFF));
  } else {
    RAILYARD_EXPENSIVE_ASSERT(behind_ip <= 0xFFFF, "IP carries the packet");
    wire::write<Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(behind_ip));
  }
  if (udp_) {
    wire::write<Udp::SourcePort>(l4, entropy);
    wire::write<Udp::Length>(l4, static_cast<std::uint16_t>(behind_ip));
  } else {
    wire::write<UetEntropy::Entropy>(l4, entropy);
  }
  return octets_;
}

}  // namespace railyard::uet
