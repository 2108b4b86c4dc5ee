#include "transports/roce/uc_receiver.h"

namespace railyard::roce {

std::optional<Drop> UcReceiver::on_request(const Packet& packet, const PayloadRef& payload) noexcept {
  const Psn psn(packet.bth.psn);
  const Position position = packet.info().position;
  const bool begins = position == Position::kFirst || position == Position::kOnly;
  // Begins anew with any PSN, and also where the last packet of the one before is missing.
  if (message_.open() && (psn != expected_ || begins)) message_.abandon();
  expected_ = psn + 1;
  if (!begins && !message_.open()) return Drop::kBrokenMessage;

  const auto last = message_.take(packet, payload);
  if (last) {
    if (*last) message_.finish(packet);
    return std::nullopt;
  }
  switch (last.error()) {
    case Refusal::kTooLong:
      message_.fail(WcStatus::kLocLenErr);
      failed_ = true;
      return Drop::kRefused;
    case Refusal::kLocalAccess:
      message_.fail(WcStatus::kLocProtErr);
      failed_ = true;
      return Drop::kRefused;
    case Refusal::kNoReceive:
      message_.abandon();
      return Drop::kNoReceive;
    default:
      message_.abandon();
      return Drop::kBrokenMessage;
  }
}

}  // namespace railyard::roce
