// Packets of an endpoint with a security domain (TSS, UET page §11): UDP or entropy header | TSS header | ciphertext | ICV.
//
// DEVIATION: in runs with elided payload no octets of payload exist. Then only the PDS and SES headers are encrypted and
// authenticated, and the ICV follows them, in front of the promise of payload; the frame is as long as a real one.
#include <algorithm>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "transports/uet/security/additional_data.h"
#include "transports/uet/uet_endpoint.h"

namespace railyard::uet {
namespace {

// A NIC asks for fewer frames at once, and copies their payload before it asks again (Endpoint::send).
constexpr std::size_t kMostFramesAtOnce = 64;
// UDP's ports, or the entropy header.
constexpr std::size_t l4_octets(const EncapsulationConfig& config) noexcept {
  return config.udp ? std::size_t{wire::Udp::kOctets} : std::size_t{wire::UetEntropy::kOctets};
}

}  // namespace

void UetEndpoint::secure(const SecurityConfig& config) {
  security_ = std::make_unique<Security>(config, real_payload_ ? kMostFramesAtOnce : 0);
}

void UetEndpoint::fill_secured(Instant now, const OutPacket& out, TxFrame& frame) {
  const std::span<std::byte> header(frame.header, kMaxHeaderOctets);
  const std::size_t to = way(out);
  const OuterPath& front = path(out, to);
  front.begin(frame.header);
  const AddressVector& address = engine_.address(out.to);
  const bool v4 = address.source.is_v4();
  const TssValues tss = security_->sealer.next(now, v4);
  const std::size_t tss_at = front.octets();
  const std::size_t packet_at = tss_at + encode_tss(header.subspan(tss_at), tss);
  std::size_t end = packet_at + encode_headers(header.subspan(packet_at), out.packet, dialect_);
  RAILYARD_ASSERT(end > packet_at && end + kIcvOctets <= kMaxHeaderOctets, "headers and ICV have room in front of payload");
  front.complete(frame.header, end - tss_at + out.packet.payload_octets + kIcvOctets, out.entropy);
  frame.payload = out.payload;
  if (out.payload.bytes != nullptr && out.payload.octets <= kMostAckData &&
      end + out.payload.octets + kIcvOctets <= kMaxHeaderOctets) {
    std::copy_n(out.payload.bytes, out.payload.octets, frame.header + end);
    end += out.payload.octets;
    frame.payload = {};
  }

  const AdditionalData additional(frame.header + wire::Ethernet::kOctets, v4,
                                  frame.header + tss_at - l4_octets(encapsulation_), frame.header + tss_at,
                                  packet_at - tss_at);
  AesGcm& cipher = security_->sealer.begin(tss, address.source, address.destination, additional.span());
  cipher.transform(header.subspan(packet_at, end - packet_at), frame.header + packet_at);
  if (frame.payload.octets > 0 && real_payload_) {
    std::vector<std::byte>& sealed = security_->sealed[security_->next];
    security_->next = (security_->next + 1) % security_->sealed.size();
    const std::uint32_t octets = frame.payload.octets;
    sealed.resize(octets + kIcvOctets);
    if (frame.payload.bytes != nullptr) {
      cipher.transform(frame.payload.real(), sealed.data());
    } else {
      fill_payload(frame.payload.stream, frame.payload.offset, std::span(sealed).first(octets));
      cipher.transform(std::span(sealed).first(octets), sealed.data());
    }
    cipher.finish(std::span(sealed).last<kIcvOctets>());
    frame.payload = {.octets = static_cast<std::uint32_t>(sealed.size()), .bytes = sealed.data()};
  } else {
    cipher.finish(header.subspan(end).first<kIcvOctets>());
    end += kIcvOctets;
  }
  frame.header_octets = static_cast<std::uint16_t>(end);
  frame.trailer_octets = 0;
  frame.flow = known_to_fabric_ ? static_cast<std::uint32_t>(to) : TxFrame::kNoFlow;
  engine_.note_secured_sent();
}

// Takes the TSS header off: `inner` is then the packet as it was before it was sealed.
std::optional<SecurityDrop> UetEndpoint::open_secured(const Around& around, const InPacket& in, bool trimmed,
                                                      bool corrupted, Inner& inner) {
  using enum SecurityDrop;
  if (!is_secured(inner.octets)) return kNotSecured;
  // DEVIATION: no source says what a receiver can do about a trimmed packet that it cannot authenticate. It sends no
  // NACK, so the sender's own loss recovery finds the loss.
  if (trimmed) return kTrimmed;
  const auto tss = decode_tss(inner.octets);
  if (!tss) return kAuthenticationFailed;
  // Up to the end of the IP packet, or to where the promise of payload begins: the ICV is the end of it in both cases.
  const auto begin = static_cast<std::size_t>(inner.octets.data() - around.frame.data());
  const auto there = around.frame.subspan(begin);
  if (there.size() < tss->octets() + kIcvOctets) return kAuthenticationFailed;
  const bool whole = there.size() == inner.packet_octets + kIcvOctets;
  if (corrupted && !whole) return kAuthenticationFailed;  // the ICV would cover the payload, if there was one
  const std::size_t octets = there.size() - tss->octets() - kIcvOctets;
  const AdditionalData additional(around.frame.data() + around.l3, around.v4,
                                  inner.octets.data() - l4_octets(encapsulation_), inner.octets.data(), tss->octets());
  std::vector<std::byte>& opened = security_->opened;
  if (opened.size() < octets) opened.resize(octets);
  if (const auto drop = security_->opener.open({.tss = *tss,
                                                .source = in.source,
                                                .destination = in.destination,
                                                .additional = additional.span(),
                                                .octets = there.subspan(tss->octets(), octets),
                                                .icv = there.last<kIcvOctets>()},
                                               opened.data()))
    return drop;
  engine_.note_secured_received();
  inner.octets = std::span<const std::byte>(opened).first(octets);
  inner.packet_octets -= tss->octets();
  return std::nullopt;
}

}  // namespace railyard::uet
