// Equal-cost multipath by hash (RFC 2992): all packets of a flow take one path.
#pragma once

#include <cstdint>

#include "dataplane/base/hash.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/packet/packet.h"
#include "dataplane/switch/path/policy.h"

namespace railyard {

// What of a packet is hashed. UDP source port and DestQP carry all the entropy between two hosts.
struct EcmpFields {
  bool addresses = true;        // source, destination, protocol
  bool ports = true;            // source and destination port
  bool destination_qp = false;  // BTH DestQP
  bool uet_entropy = false;     // entropy value of a UET packet, whichever form it has
  bool ingress_port = false;

  bool operator==(const EcmpFields&) const = default;
};

// The hash is not linear in the seed (as a CRC would be), so switches with different seeds decide independently and
// switches with equal ones alike: the latter polarises traffic over two tiers.
class Ecmp {
 public:
  Ecmp() = default;
  Ecmp(std::uint64_t seed, EcmpFields fields) noexcept
      : seed_(mix64(seed + 0x9E3779B97F4A7C15ull)),
        address_mask_(fields.addresses ? ~0u : 0u),
        port_mask_(fields.ports ? ~0u : 0u),
        entropy_mask_{fields.destination_qp ? ~0u : 0u, fields.uet_entropy ? ~0u : 0u},
        ingress_mask_(fields.ingress_port ? ~0u : 0u) {}

  // A uniform fraction of 2^32, the same for all packets of a flow.
  std::uint32_t hash(const Packet& packet, PortIndex in) const noexcept {
    const std::uint64_t flow =
        std::uint64_t{packet.address_hash & address_mask_} << 32 | (packet.transport_hash & port_mask_);
    // Packet::kUetEntropy is the top bit.
    const std::uint64_t entropy = packet.entropy & entropy_mask_[packet.entropy >> 31];
    const std::uint64_t of_packet = planted(PlantedBug::kUnstableHash) ? packet.offset : 0;
    const std::uint64_t h =
        mix64(flow ^ seed_ ^ of_packet) ^ (entropy << 32 | (in.value & ingress_mask_)) * 0x9E3779B97F4A7C15ull;
    return static_cast<std::uint32_t>(mix64(h) >> 32);
  }
  // Which of `n` (> 0) equal paths a packet with that hash takes.
  static std::uint32_t choose(std::uint32_t hash, std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{hash} * n) >> 32);
  }
  std::uint32_t choose(const Packet& packet, PortIndex in, std::uint32_t n) const noexcept {
    return choose(hash(packet, in), n);
  }
  // An independent hash of the same flow: where it goes when its member is lost.
  static std::uint32_t again(std::uint32_t hash) noexcept {
    return static_cast<std::uint32_t>(mix64(hash + 0x9E3779B97F4A7C15ull) >> 32);
  }

 private:
  std::uint64_t seed_ = 0;
  std::uint32_t address_mask_ = ~0u;
  std::uint32_t port_mask_ = ~0u;
  std::uint32_t entropy_mask_[2] = {0, 0};
  std::uint32_t ingress_mask_ = 0;
};

namespace ecmp_policy {
inline constexpr PathPolicyInfo kInfo{.policy = PathPolicy::kEcmp,
                                      .name = "ecmp",
                                      .help = "by hash of the flow",
                                      .parameters = {},
                                      .basis = always<PathBasis::kPackets>,
                                      .unit = always<PathUnit::kFlow>};
}  // namespace ecmp_policy

}  // namespace railyard
