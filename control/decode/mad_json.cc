#include "control/decode/mad_json.h"

#include <variant>

#include <fmt/format.h>

#include "transports/roce/cm/messages.h"

namespace railyard::decode {

namespace cm = roce::cm;

void add_mad(Json& out, std::span<const std::byte> octets) {
  if (octets.size() < cm::kMadOctets) return;
  const auto datagram = cm::decode(octets.first<cm::kMadOctets>());
  if (!datagram) {
    out["mad"] = {{"error", cm::name(datagram.error())}};
    return;
  }
  Json& mad = out["mad"] = {{"message", cm::name(datagram->message)},
                            {"transaction_id", fmt::format("0x{:016x}", datagram->transaction_id)}};
  if (const auto* const rej = std::get_if<cm::Rej>(&datagram->message)) {
    mad["reason"] = rej->reason;
    mad["reason_name"] = cm::name(static_cast<cm::RejReason>(rej->reason));
  }
}

}  // namespace railyard::decode
