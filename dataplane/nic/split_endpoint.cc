#include "dataplane/nic/split_endpoint.h"

#include <algorithm>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard {
namespace {

constexpr std::uint32_t kGeneralServices = 1;  // QP 1, where connections are asked for

}  // namespace

Readiness SplitEndpoint::ready(Instant now) {
  const Readiness a = first_->ready(now);
  const Readiness b = second_->ready(now);
  return {static_cast<PriorityMask>(a.classes | b.classes), std::min(a.until, b.until)};
}

std::size_t SplitEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  const std::size_t half = (frames.size() + 1) / 2;
  second_begins_ = !second_begins_;
  std::size_t n =
      second_begins_ ? send_second(now, priority, frames.first(half)) : first_->send(now, priority, frames.first(half));
  n += second_begins_ ? first_->send(now, priority, frames.subspan(n)) : send_second(now, priority, frames.subspan(n));
  // What the other one has left over.
  if (n < frames.size())
    n +=
        second_begins_ ? send_second(now, priority, frames.subspan(n)) : first_->send(now, priority, frames.subspan(n));
  return n;
}

std::size_t SplitEndpoint::send_second(Instant now, Priority priority, std::span<TxFrame> frames) {
  const std::size_t n = second_->send(now, priority, frames);
  for (TxFrame& frame : frames.first(n))
    if (frame.flow != TxFrame::kNoFlow) frame.flow += flows_;
  return n;
}

// In runs, so that both see their frames in bursts and in order.
bool SplitEndpoint::receive(std::span<const RxFrame> frames) {
  bool changed = false;
  while (!frames.empty()) {
    const bool first = is_of_first(frames.front());
    std::size_t n = 1;
    while (n < frames.size() && is_of_first(frames[n]) == first) ++n;
    changed |= first ? first_->receive(frames.first(n)) : second_->receive(frames.first(n));
    frames = frames.subspan(n);
  }
  return changed;
}

// Extension headers of IPv6 nobody here sends.
bool SplitEndpoint::is_uet(const RxFrame& frame) const noexcept {
  constexpr std::size_t kL3 = wire::Ethernet::kOctets;
  if (frame.header.size() < kL3 + wire::Ipv4::kOctets) return false;
  const std::byte* const ip = frame.header.data() + kL3;
  const bool v4 = (ip[0] >> 4) == std::byte{4};
  const std::size_t l4 = kL3 + (v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets});
  if (frame.header.size() < l4 + wire::Udp::kOctets) return false;
  const auto protocol = v4 ? wire::read<wire::Ipv4::Protocol>(ip) : wire::read<wire::Ipv6::NextHeader>(ip);
  if (!uet_->udp) return protocol == uet_->protocol;
  return protocol == wire::ip_protocol::kUdp &&
         wire::read<wire::Udp::DestinationPort>(frame.header.data() + l4) == uet_->port;
}

// Of what has no BTH the second one knows what to make.
bool SplitEndpoint::is_of_first(const RxFrame& frame) const noexcept {
  if (uet_) return !is_uet(frame);
  constexpr std::size_t kL3 = wire::Ethernet::kOctets;
  if (frame.header.size() <= kL3) return false;
  const bool v4 = (frame.header[kL3] >> 4) == std::byte{4};
  const std::size_t bth =
      kL3 + (v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets}) + wire::Udp::kOctets;
  if (frame.header.size() < bth + wire::Bth::kOctets) return false;
  const auto qp = wire::read<wire::Bth::DestQP>(frame.header.data() + bth);
  return qp < first_qp_ && qp != kGeneralServices;
}

}  // namespace railyard
