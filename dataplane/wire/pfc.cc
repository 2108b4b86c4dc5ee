#include "dataplane/wire/pfc.h"

#include <algorithm>
#include <utility>

namespace railyard::wire {

void write_pfc(std::span<std::byte, kMinFrameOctets> out, MacAddress source, const PfcFrame& pfc) noexcept {
  std::ranges::fill(out, std::byte{0});
  write<Ethernet::Destination>(out, kMacControlGroup);
  write<Ethernet::Source>(out, source);
  write<Ethernet::EtherType>(out, ether_type::kMacControl);
  std::byte* const control = out.data() + Ethernet::kOctets;
  write<MacControl::Opcode>(control, mac_control_opcode::kPfc);
  write<MacControl::PriorityEnable>(control, pfc.enable);
  [&]<std::size_t... n>(std::index_sequence<n...>) { (..., write<MacControl::Time<n>>(control, pfc.quanta[n])); }
  (std::make_index_sequence<kPriorities>{});
}

std::expected<PfcFrame, DropReason> parse_pfc(std::span<const std::byte> frame) noexcept {
  if (frame.size() < Ethernet::kOctets + MacControl::kOctets) return std::unexpected(DropReason::kTooShort);
  const std::byte* const control = frame.data() + Ethernet::kOctets;
  if (read<Ethernet::Destination>(frame.data()) != kMacControlGroup ||
      read<Ethernet::EtherType>(frame.data()) != ether_type::kMacControl ||
      read<MacControl::Opcode>(control) != mac_control_opcode::kPfc) {
    return std::unexpected(DropReason::kBadMacControl);
  }
  PfcFrame pfc{.enable = read<MacControl::PriorityEnable>(control), .quanta = {}};
  [&]<std::size_t... n>(std::index_sequence<n...>) { (..., (pfc.quanta[n] = read<MacControl::Time<n>>(control))); }
  (std::make_index_sequence<kPriorities>{});
  return pfc;
}

}  // namespace railyard::wire
