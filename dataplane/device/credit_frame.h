// Messages of credit-based flow control as packets.
#pragma once

#include <cstdint>
#include <expected>

#include "dataplane/packet/pool.h"
#include "dataplane/wire/credit_message.h"

namespace railyard {

// nullptr if the pool is empty.
Packet* make_credit_frame(PacketPool& pool, wire::MacAddress source, const wire::CreditMessage& message);

// Whether a MAC control packet is one; what it says, or why nothing is done about it.
bool is_credit_frame(const Packet& packet) noexcept;
std::expected<wire::CreditMessage, DropReason> read_credit_frame(const Packet& packet) noexcept;

}  // namespace railyard
