// What a NIC answers by itself, without an endpoint.
#include <algorithm>

#include "dataplane/nic/host.h"
#include "dataplane/packet/edge.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/echo.h"
#include "dataplane/wire/nd.h"

namespace railyard {

// Ping, ARP and neighbour solicitations for the NIC's own addresses. False: nothing that is answered.
bool Host::answer(Instant now, PortIndex port, Packet* p) {
  Nic& nic = nics_[port.index()];
  const NicConfig& config = config_.nics[port.index()];
  const std::size_t real = p->header_octets + (p->has(Packet::kElided) ? 0 : std::size_t{p->payload_octets});
  const std::span<std::byte> octets{p->header(), real};
  const auto view = wire::parse_frame(octets, p->header_octets + std::size_t{p->payload_octets});
  if (!view) return false;
  const auto ours = [&](const wire::IpAddress& a) { return a == config.address_v4 || a == config.address_v6; };
  const auto reply_with = [&](Packet* reply, std::size_t n) {
    const auto written = wire::parse_frame({reply->header(), n});
    if (n == 0 || !written) return pool().release(reply);
    const std::uint8_t flags = reply->flags;
    const WorkerId home = reply->home;
    *reply = Packet{};
    reply->flags = flags;
    reply->home = home;
    reply->header_at = kHeaderAt;
    reply->offset = generated_.read();
    reply->frame_octets = std::max(static_cast<std::uint32_t>(n + wire::kFcsOctets), kLeastFrameOctets);
    describe(*reply, *written, *config_.fecs);
    reply->header_octets = static_cast<std::uint16_t>(n);
    generated_.increment();
    enqueue(nic, classify(config.trust, *reply), reply);
  };
  if (p->kind == FrameKind::kArp) {
    const wire::ArpMessage arp = wire::read_arp(p->l3());
    if (arp.operation != wire::arp_operation::kRequest || !ours(arp.target_ip)) return false;
    if (Packet* reply = pool().allocate_elided())
      reply_with(reply, wire::write_arp_reply({reply->header(), kMaxHeaderOctets}, octets, *view, config.mac));
  } else if (const auto message = wire::parse_neighbour(octets, *view)) {
    if (message->advertisement || !ours(message->target)) return false;
    if (Packet* reply = pool().allocate_elided())
      reply_with(reply,
                 wire::write_neighbour_advertisement({reply->header(), kMaxHeaderOctets}, octets, *view, config.mac));
  } else if (ours(view->destination) && wire::is_echo_request(octets, *view)) {
    consumed_.increment();
    wire::make_echo_reply(octets.first(p->header_octets), *view);
    if (const auto reply = wire::parse_frame(octets, p->header_octets + std::size_t{p->payload_octets}))
      describe(*p, *reply, *config_.fecs);
    generated_.increment();
    enqueue(nic, classify(config.trust, *p), p);
    if (!nic.egress.busy()) starts_.add(now, port);
    return true;
  } else {
    return false;
  }
  consumed_.increment();
  pool().release(p);
  if (!nic.egress.busy()) starts_.add(now, port);
  return true;
}

}  // namespace railyard
