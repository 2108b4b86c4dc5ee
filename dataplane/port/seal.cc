#include "dataplane/port/seal.h"

#include <cstring>

#include <rte_mbuf.h>

#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/corruption.h"
#include "dataplane/packet/crc_trailer.h"
#include "dataplane/packet/synthetic_payload.h"
#include "dataplane/wire/icrc.h"

namespace railyard {

Packet* make_whole(Packet* packet, PacketPool& pool) {
  Packet* p = packet;
  if (packet->telemetry != 0) [[unlikely]]
    drop_telemetry(*packet);  // hosts outside know nothing of it
  const bool corrupted = packet->has(Packet::kCorrupted);
  const bool real = !packet->has(Packet::kElided);
  if (!real) {
    p = pool.allocate_real();
    if (p == nullptr) return nullptr;
    const std::uint16_t header_at = p->header_at;
    const std::uint8_t flags = p->flags;
    const WorkerId home = p->home;
    *p = *packet;
    p->header_at = header_at;
    p->home = home;
    p->flags = static_cast<std::uint8_t>(flags | (packet->flags & Packet::kIcrcPending));
    std::memcpy(p->header(), packet->header(), packet->header_octets);
    make_payload(p->header_span(), p->l3_offset, p->has(Packet::kIcrcPending), p->stream, p->offset,
                 {p->header() + p->header_octets, p->payload_octets});
    pool.release(packet);
  }
  const std::span<std::byte> payload(p->header() + p->header_octets, p->payload_octets);
  // The ICRC is that of what was sent.
  const bool pending = p->has(Packet::kIcrcPending);
  if (corrupted && real && pending) [[unlikely]]
    flip_corrupted_bit(payload);
  if (pending) {
    const std::size_t octets = p->header_octets + std::size_t{p->payload_octets};
    write_crc_trailer({p->l3(), octets - p->l3_offset}, p->header() + octets);
    p->payload_octets += std::uint32_t{wire::kIcrcOctets};
    p->flags = static_cast<std::uint8_t>(p->flags & ~unsigned{Packet::kIcrcPending});
  }
  if (corrupted && (!real || pending)) [[unlikely]]
    flip_corrupted_bit(payload);
  return p;
}

rte_mbuf* seal(Packet* packet, PacketPool& pool) {
  Packet* p = make_whole(packet, pool);
  if (p == nullptr) return nullptr;
  const std::uint32_t octets = p->header_octets + p->payload_octets;
  rte_mbuf* m = mbuf_of(p);
  rte_pktmbuf_reset(m);
  m->data_off = static_cast<std::uint16_t>(p->header() - static_cast<std::byte*>(m->buf_addr));
  m->data_len = static_cast<std::uint16_t>(octets);
  m->pkt_len = octets;
  return m;
}

}  // namespace railyard
