#include "dataplane/device/pfc_frame.h"

#include "dataplane/device/control_frame.h"

namespace railyard {

Packet* make_pfc_frame(PacketPool& pool, wire::MacAddress source, PriorityMask enable,
                       const std::array<std::uint16_t, kPriorities>& quanta) {
  Packet* const p = make_control_frame(pool);
  if (p != nullptr) wire::write_pfc(control_octets(*p), source, wire::PfcFrame{enable, quanta});
  return p;
}

std::expected<wire::PfcFrame, DropReason> read_pfc_frame(const Packet& packet) noexcept {
  if (packet.has(Packet::kFcsBad)) [[unlikely]]
    return std::unexpected(DropReason::kFcsError);
  return wire::parse_pfc(packet.header_span());
}

}  // namespace railyard
