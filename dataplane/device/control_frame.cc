#include "dataplane/device/control_frame.h"

namespace railyard {

Packet* make_control_frame(PacketPool& pool) {
  Packet* p = pool.allocate_elided();
  if (p == nullptr) return nullptr;
  p->stream = 0;
  p->offset = 0;
  p->sent = {};
  p->payload_octets = 0;
  p->frame_octets = kLeastFrameOctets;
  p->fec = kNoFec;
  p->address_hash = p->transport_hash = p->entropy = 0;
  p->header_octets = wire::kMinFrameOctets;
  p->l3_offset = wire::Ethernet::kOctets;
  p->kind = FrameKind::kMacControl;
  p->traffic_class_octet = 0;
  p->pcp = 0;
  p->vid = 0;
  p->trimmed = 0;
  p->sampled = 0;
  p->copied = 0;
  p->telemetry = 0;
  return p;
}

}  // namespace railyard
