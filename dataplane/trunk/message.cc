#include "dataplane/trunk/message.h"

#include "dataplane/wire/fcs.h"
#include "dataplane/wire/icrc.h"

namespace railyard {
namespace {

using wire::read;
using wire::write;

constexpr std::uint64_t kLastInstant = std::uint64_t{1} << 62;

void write_head(std::byte* out, TrunkMessageType type, const TrunkHead& head) noexcept {
  write<TrunkHeader::Magic>(out, TrunkHeader::kMagic);
  write<TrunkHeader::Version>(out, TrunkHeader::kVersion);
  write<TrunkHeader::Type>(out, static_cast<std::uint8_t>(type));
  write<TrunkHeader::Reserved>(out, 0);
  write<TrunkHeader::Session>(out, head.session);
  write<TrunkHeader::PeerSession>(out, head.peer_session);
  write<TrunkHeader::Sequence>(out, head.sequence);
}

template <class F>
void write_instant(std::byte* out, Instant at) noexcept {
  write<F>(out, static_cast<std::uint64_t>(at.ps));
}

// False: it cannot be.
template <class F>
bool read_instant(const std::byte* body, Instant& into) noexcept {
  const std::uint64_t ps = read<F>(body);
  into = Instant{static_cast<std::int64_t>(ps)};
  return ps <= kLastInstant;
}

std::expected<TrunkPing, TrunkError> read_ping(std::span<const std::byte> octets) noexcept {
  if (octets.size() != TrunkPingBody::kOctets) return std::unexpected(TrunkError::kMalformed);
  const std::byte* body = octets.data();
  TrunkPing p;
  if (!read_instant<TrunkPingBody::Sent>(body, p.sent) || !read_instant<TrunkPingBody::EchoSent>(body, p.echo_sent) ||
      !read_instant<TrunkPingBody::EchoReceived>(body, p.echo_received))
    return std::unexpected(TrunkError::kMalformed);
  p.received = read<TrunkPingBody::Received>(body);
  p.begins = read<TrunkPingBody::Begins>(body);
  const std::uint64_t rate = read<TrunkPingBody::Rate>(body);
  const std::uint64_t delay = read<TrunkPingBody::Delay>(body);
  if (rate > kLastInstant || delay > kLastInstant) return std::unexpected(TrunkError::kMalformed);
  p.terms = {BitRate{static_cast<std::int64_t>(rate)}, Duration{static_cast<std::int64_t>(delay)},
             read<TrunkPingBody::Mtu>(body), read<TrunkPingBody::ScaleNumerator>(body),
             read<TrunkPingBody::ScaleDenominator>(body)};
  p.link_up = read<TrunkPingBody::LinkUp>(body) != 0;
  return p;
}

std::expected<TrunkFrame, TrunkError> read_frame(std::span<const std::byte> octets) noexcept {
  constexpr std::unexpected kBad(TrunkError::kMalformed);
  if (octets.size() < TrunkFrameBody::kOctets) return kBad;
  const std::byte* body = octets.data();
  TrunkFrame f;
  if (!read_instant<TrunkFrameBody::Start>(body, f.start) ||
      !read_instant<TrunkFrameBody::FirstSent>(body, f.first_sent))
    return kBad;
  f.stream = read<TrunkFrameBody::Stream>(body);
  f.offset = read<TrunkFrameBody::Offset>(body);
  f.frame_octets = read<TrunkFrameBody::FrameOctets>(body);
  f.payload_octets = read<TrunkFrameBody::PayloadOctets>(body);
  f.flags = static_cast<std::uint8_t>(read<TrunkFrameBody::Flags>(body) & TrunkFrame::kFlags);
  const std::size_t header = read<TrunkFrameBody::HeaderOctets>(body);
  if (f.frame_octets > kMostTrunkFrameOctets || f.payload_octets > f.frame_octets || header == 0 ||
      header > kMostTrunkHeaderOctets)
    return kBad;
  const bool elided = (f.flags & Packet::kElided) != 0;
  const bool icrc = (f.flags & Packet::kIcrcPending) != 0;
  const std::size_t whole =
      header + f.payload_octets + (icrc ? std::size_t{wire::kIcrcOctets} : 0) + std::size_t{wire::kFcsOctets};
  // Short frames are padded by the MAC, and tags come and go.
  if (f.frame_octets < whole || f.frame_octets > whole + kLeastFrameOctets) return kBad;
  const auto own = octets.subspan(TrunkFrameBody::kOctets);
  if (own.size() != header + (elided ? 0 : std::size_t{f.payload_octets})) return kBad;
  f.header = own.first(header);
  f.payload = own.subspan(header);
  return f;
}

template <class Body>
std::expected<TrunkMessage, TrunkError> whole(const TrunkHead& head, std::expected<Body, TrunkError> body) noexcept {
  if (!body) return std::unexpected(body.error());
  return TrunkMessage{head, *body};
}

}  // namespace

void write_ping(std::span<std::byte, kTrunkPingOctets> out, const TrunkHead& head, const TrunkPing& ping) noexcept {
  write_head(out.data(), TrunkMessageType::kPing, head);
  std::byte* body = out.data() + TrunkHeader::kOctets;
  write_instant<TrunkPingBody::Sent>(body, ping.sent);
  write_instant<TrunkPingBody::EchoSent>(body, ping.echo_sent);
  write_instant<TrunkPingBody::EchoReceived>(body, ping.echo_received);
  write<TrunkPingBody::Received>(body, ping.received);
  write<TrunkPingBody::Begins>(body, ping.begins);
  write<TrunkPingBody::Rate>(body, static_cast<std::uint64_t>(ping.terms.rate.bps));
  write<TrunkPingBody::Delay>(body, static_cast<std::uint64_t>(ping.terms.delay.ps));
  write<TrunkPingBody::ScaleNumerator>(body, ping.terms.scale_numerator);
  write<TrunkPingBody::ScaleDenominator>(body, ping.terms.scale_denominator);
  write<TrunkPingBody::Mtu>(body, ping.terms.mtu);
  write<TrunkPingBody::LinkUp>(body, ping.link_up ? 1 : 0);
  write<TrunkPingBody::Reserved>(body, 0);
}

void write_frame(std::span<std::byte, kTrunkFrameOctets> out, const TrunkHead& head, const TrunkFrame& frame) noexcept {
  write_head(out.data(), TrunkMessageType::kFrame, head);
  std::byte* body = out.data() + TrunkHeader::kOctets;
  write_instant<TrunkFrameBody::Start>(body, frame.start);
  write_instant<TrunkFrameBody::FirstSent>(body, frame.first_sent);
  write<TrunkFrameBody::Stream>(body, frame.stream);
  write<TrunkFrameBody::Offset>(body, frame.offset);
  write<TrunkFrameBody::FrameOctets>(body, frame.frame_octets);
  write<TrunkFrameBody::PayloadOctets>(body, frame.payload_octets);
  write<TrunkFrameBody::HeaderOctets>(body, static_cast<std::uint16_t>(frame.header.size()));
  write<TrunkFrameBody::Flags>(body, static_cast<std::uint8_t>(frame.flags & TrunkFrame::kFlags));
  write<TrunkFrameBody::Reserved>(body, 0);
}

std::expected<TrunkMessage, TrunkError> parse_trunk_message(std::span<const std::byte> octets) noexcept {
  if (octets.size() < TrunkHeader::kOctets || read<TrunkHeader::Magic>(octets.data()) != TrunkHeader::kMagic)
    return std::unexpected(TrunkError::kForeign);
  const std::byte* h = octets.data();
  if (read<TrunkHeader::Version>(h) != TrunkHeader::kVersion) return std::unexpected(TrunkError::kVersion);
  const TrunkHead head{read<TrunkHeader::Session>(h), read<TrunkHeader::PeerSession>(h),
                       read<TrunkHeader::Sequence>(h)};
  if (head.session == 0) return std::unexpected(TrunkError::kMalformed);
  const auto body = octets.subspan(TrunkHeader::kOctets);
  switch (static_cast<TrunkMessageType>(read<TrunkHeader::Type>(h))) {
    case TrunkMessageType::kPing:
      return whole(head, read_ping(body));
    case TrunkMessageType::kFrame:
      return whole(head, read_frame(body));
  }
  return std::unexpected(TrunkError::kMalformed);
}

}  // namespace railyard
