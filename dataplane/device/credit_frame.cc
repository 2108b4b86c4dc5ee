#include "dataplane/device/credit_frame.h"

#include "dataplane/device/control_frame.h"

namespace railyard {

Packet* make_credit_frame(PacketPool& pool, wire::MacAddress source, const wire::CreditMessage& message) {
  Packet* const p = make_control_frame(pool);
  if (p != nullptr) wire::write_credit_message(control_octets(*p), source, message);
  return p;
}

bool is_credit_frame(const Packet& packet) noexcept { return wire::is_credit_message(packet.header_span()); }

std::expected<wire::CreditMessage, DropReason> read_credit_frame(const Packet& packet) noexcept {
  if (packet.has(Packet::kFcsBad)) [[unlikely]]
    return std::unexpected(DropReason::kFcsError);
  return wire::parse_credit_message(packet.header_span());
}

}  // namespace railyard
