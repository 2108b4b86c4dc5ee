#include "dataplane/wire/credit_message.h"

#include <algorithm>

#include "dataplane/wire/quality_report.h"

namespace railyard::wire {
namespace {

using Count = Field<0, 32>;
constexpr std::size_t kCountsAt = Ethernet::kOctets + CreditMessageHeader::kOctets;
constexpr std::size_t kOctets = kCountsAt + kPriorities * Count::kOctets;
static_assert(kOctets <= kMinFrameOctets);

}  // namespace

void write_credit_message(std::span<std::byte, kMinFrameOctets> out, MacAddress source,
                          const CreditMessage& message) noexcept {
  using H = CreditMessageHeader;
  std::ranges::fill(out, std::byte{0});
  write<Ethernet::Destination>(out, kNearestBridgeGroup);
  write<Ethernet::Source>(out, source);
  write<Ethernet::EtherType>(out, kCreditMessageEtherType);
  std::byte* const header = out.data() + Ethernet::kOctets;
  write<H::Subtype>(header, kCreditMessageSubtype);
  write<H::Version>(header, kCreditMessageVersion);
  write<H::Type>(header, static_cast<std::uint8_t>(message.type));
  write<H::Epoch>(header, message.epoch);
  write<H::Classes>(header, message.classes);
  for (std::size_t c = 0; c < kPriorities; ++c)
    write<Count>(out.data() + kCountsAt + 4 * c, (message.classes >> c & 1) != 0 ? message.count[c] : 0);
}

bool is_credit_message(std::span<const std::byte> frame) noexcept {
  return frame.size() > Ethernet::kOctets && read<Ethernet::EtherType>(frame.data()) == kCreditMessageEtherType &&
         read<CreditMessageHeader::Subtype>(frame.data() + Ethernet::kOctets) == kCreditMessageSubtype;
}

std::expected<CreditMessage, DropReason> parse_credit_message(std::span<const std::byte> frame) noexcept {
  using H = CreditMessageHeader;
  if (frame.size() < kOctets) return std::unexpected(DropReason::kTooShort);
  const std::byte* const header = frame.data() + Ethernet::kOctets;
  if (!is_credit_message(frame) || read<Ethernet::Destination>(frame.data()) != kNearestBridgeGroup)
    return std::unexpected(DropReason::kNotUnderstood);
  if (read<H::Version>(header) != kCreditMessageVersion) return std::unexpected(DropReason::kBadVersion);
  CreditMessage message;
  message.type = static_cast<CreditMessageType>(read<H::Type>(header));
  if (message.type != CreditMessageType::kFreed && message.type != CreditMessageType::kConsumed)
    return std::unexpected(DropReason::kNotUnderstood);
  message.epoch = read<H::Epoch>(header);
  if (message.epoch >= kCreditEpochs) return std::unexpected(DropReason::kBadLength);
  message.classes = read<H::Classes>(header);
  for (std::size_t c = 0; c < kPriorities; ++c)
    if ((message.classes >> c & 1) != 0) message.count[c] = read<Count>(frame.data() + kCountsAt + 4 * c);
  return message;
}

}  // namespace railyard::wire
