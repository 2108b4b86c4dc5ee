#include "dataplane/nic/probe_endpoint.h"

#include <algorithm>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"

namespace railyard {
namespace {

// A frame that some probe's sender has written.
bool is_probe(const RxFrame& frame) noexcept {
  constexpr std::size_t kL3 = wire::Ethernet::kOctets;
  const auto& header = frame.header;
  if (header.size() < kL3 + wire::Ipv4::kOctets + wire::Udp::kOctets + wire::Bth::kOctets) return false;
  const std::byte* const ip = header.data() + kL3;
  const bool v4 = (ip[0] >> 4) == std::byte{4};
  const std::size_t udp = kL3 + (v4 ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets});
  const std::size_t bth = udp + wire::Udp::kOctets;
  if (header.size() < bth + wire::Bth::kOctets) return false;
  const auto protocol = v4 ? wire::read<wire::Ipv4::Protocol>(ip) : wire::read<wire::Ipv6::NextHeader>(ip);
  return protocol == wire::ip_protocol::kUdp &&
         wire::read<wire::Udp::DestinationPort>(header.data() + udp) == wire::kRoceV2Port &&
         wire::read<wire::Bth::OpCode>(header.data() + bth) == wire::roce_opcode::kUcSendOnly &&
         wire::read<wire::Bth::DestQP>(header.data() + bth) >= ProbeEndpoint::kFirstQp;
}

}  // namespace

Readiness ProbeEndpoint::ready(Instant now) {
  Readiness r = probes_.ready(now);
  if (own_ == nullptr) return r;
  const Readiness own = own_->ready(now);
  return {static_cast<PriorityMask>(r.classes | own.classes), std::min(r.until, own.until), own.control};
}

std::size_t ProbeEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  if (own_ == nullptr) return send_probes(now, priority, frames);
  own_first_ = !own_first_;
  const std::size_t half = (frames.size() + 1) / 2;
  std::size_t n =
      own_first_ ? own_->send(now, priority, frames.first(half)) : send_probes(now, priority, frames.first(half));
  n += own_first_ ? send_probes(now, priority, frames.subspan(n)) : own_->send(now, priority, frames.subspan(n));
  // What the other one has left over.
  if (n < frames.size())
    n += own_first_ ? own_->send(now, priority, frames.subspan(n)) : send_probes(now, priority, frames.subspan(n));
  return n;
}

// The NIC remembers flows by numbers, which are the other endpoint's.
std::size_t ProbeEndpoint::send_probes(Instant now, Priority priority, std::span<TxFrame> frames) {
  const std::size_t n = probes_.send(now, priority, frames);
  for (TxFrame& frame : frames.first(n)) frame.flow = TxFrame::kNoFlow;
  return n;
}

// In runs, so that both see their frames in bursts and in order.
bool ProbeEndpoint::receive(std::span<const RxFrame> frames) {
  bool changed = false;
  while (!frames.empty()) {
    const bool probe = is_probe(frames.front());
    std::size_t n = 1;
    while (n < frames.size() && is_probe(frames[n]) == probe) ++n;
    if (probe)
      changed |= probes_.receive(frames.first(n));
    else if (own_ != nullptr)
      changed |= own_->receive(frames.first(n));
    frames = frames.subspan(n);
  }
  return changed;
}

}  // namespace railyard
