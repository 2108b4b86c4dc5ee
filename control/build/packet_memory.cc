#include "control/build/packet_memory.h"

#include <algorithm>
#include <variant>

namespace railyard::build {
namespace {

constexpr std::uint32_t kSmallestFrame = 64;
constexpr std::uint32_t kHeaders = 62;  // Ethernet, IPv4, UDP, BTH, FCS
constexpr std::uint64_t kRealPacket = 9728 + 384;  // a buffer for the longest frame, and metadata
constexpr std::uint64_t kElidedPacket = 512;       // headers and metadata

bool has_attached_host(const spec::Lab& lab) {
  return std::ranges::any_of(lab.nodes, [](const spec::NodeSpec& n) {
    return std::ranges::any_of(n.nics, [](const spec::NicSpec& nic) {
      return !std::holds_alternative<std::monostate>(nic.attach);
    });
  });
}

std::uint32_t smallest_frame(const BuiltLab& lab, bool attached) {
  if (attached || (lab.flows().empty() && lab.collectives().empty()) || !lab.service_nics().empty()) return kSmallestFrame;
  std::uint32_t least = 9238;
  for (const Collective& c : lab.collectives())
    least = std::min(least, static_cast<std::uint32_t>(lab.spec().collectives[c.spec].path_mtu) + kHeaders);
  for (const Flow& f : lab.flows()) {
    const spec::TrafficSpec& t = lab.spec().traffic[f.plan.traffic];
    if (f.is_generated())
      least = std::min(least, t.payload + kHeaders);
    else
      least = std::min(least, std::min(t.roce.message, static_cast<std::uint32_t>(t.roce.path_mtu)) + kHeaders);
  }
  return least;
}

}  // namespace

PacketMemory packet_memory(BuiltLab& lab) {
  const bool attached = has_attached_host(lab.spec());
  PacketMemory most;
  most.frame_octets = smallest_frame(lab, attached);
  most.packet_octets = lab.spec().run.payload == spec::Payload::kReal || attached ? kRealPacket : kElidedPacket;
  for (const spec::NodeSpec& n : lab.spec().nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) {
      most.packets += n.nics.size() * 64;
      continue;
    }
    const Mmu& mmu = lab.switch_named(n.name).mmu();
    most.packets += mmu.total() / std::max<std::uint32_t>(mmu.cells(most.frame_octets), 1);
  }
  for (const Channel& c : lab.fabric().channels()) {
    const PortRef port{c.receiver, c.receiver_port};
    most.packets += static_cast<std::uint64_t>((lab.rate(port) * (c.propagation + c.data_latency)).n) /
                        c.framing.slot(most.frame_octets) +
                    2;
  }
  return most;
}

}  // namespace railyard::build
