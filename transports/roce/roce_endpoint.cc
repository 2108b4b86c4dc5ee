#include "transports/roce/roce_endpoint.h"

#include <algorithm>

#include "dataplane/wire/ecn.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"

namespace railyard::roce {

std::size_t RoceEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  engine_.begin_burst();
  std::size_t n = 0;
  OutPacket out;
  while (n < frames.size() && engine_.send(now, priority, out)) {
    TxFrame& frame = frames[n++];
    const std::size_t front = out.path->write(frame.header, out.packet.octets());
    const std::size_t behind = encode_headers({frame.header + front, kMaxHeaderOctets - front}, out.packet);
    frame.header_octets = static_cast<std::uint16_t>(front + behind);
    frame.trailer_octets = static_cast<std::uint8_t>(out.packet.bth.pad_cnt + wire::kIcrcOctets);
    frame.flow = out.path->flow();
    frame.tag = out.path->tag();
    frame.payload = out.payload;
    frame.telemetry = out.telemetry;
  }
  return n;
}

bool RoceEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames) {
    InPacket in;
    receive_one(frame, in);
  }
  return !frames.empty();
}

std::optional<Drop> RoceEndpoint::receive_one(const RxFrame& frame, InPacket& in) {
  std::span<const std::byte> octets = frame.header;
  PayloadRef rest = frame.payload;
  // Real octets mostly lie behind the header; then all is one piece.
  if (rest.bytes != nullptr && rest.octets > 0) {
    if (rest.bytes == octets.data() + octets.size()) {
      octets = {octets.data(), octets.size() + rest.octets};
    } else {
      whole_.assign(octets.begin(), octets.end());
      whole_.insert(whole_.end(), rest.bytes, rest.bytes + rest.octets);
      octets = whole_;
    }
    rest = {.stream = rest.stream, .offset = rest.offset + rest.octets};
  }
  const std::size_t frame_octets =
      octets.size() + rest.octets + (frame.icrc_pending ? std::size_t{wire::kIcrcOctets} : 0);
  const auto view = wire::parse_frame(octets, frame_octets);
  if (frame.trimmed) {
    if (view) in.packet.bth.dest_qp = view->destination_qp;
    return dropped(Drop::kTrimmed);
  }
  if (!view || view->l4_offset == 0 || view->destination_port != wire::kRoceV2Port) return dropped(Drop::kNotRoce);

  const std::size_t udp_octets = wire::read<wire::Udp::Length>(octets.data() + view->l4_offset);
  const std::size_t ip_end = view->l3_offset + std::size_t{view->ip_octets};
  if (udp_octets < wire::Udp::kOctets || view->l4_offset + udp_octets != ip_end) return dropped(Drop::kNotRoce);
  const std::size_t begin = view->l4_offset + std::size_t{wire::Udp::kOctets};
  const auto packet = decode(octets.subspan(begin, std::min(octets.size(), ip_end) - begin), ip_end - begin);
  if (!packet) {
    engine_.on_malformed(packet.error());
    return Drop::kMalformed;
  }
  if (!frame.icrc_pending) {
    if (octets.size() < ip_end || !wire::icrc_matches(octets.subspan(view->l3_offset, view->ip_octets)))
      return dropped(Drop::kIcrc);
  }
  const std::size_t payload_at = begin + packet->header_octets();
  in = {.packet = *packet,
        .source = view->source,
        .destination = view->destination,
        .ce = wire::ecn_of(view->traffic_class_octet) == wire::Ecn::kCe,
        .ip = octets.subspan(view->l3_offset, view->l4_offset - view->l3_offset)};
  in.payload.octets = packet->payload_octets;
  if (payload_at < octets.size()) {
    if (octets.size() < payload_at + packet->payload_octets) return dropped(Drop::kNotRoce);
    in.payload.bytes = octets.data() + payload_at;
  } else {
    in.payload.stream = rest.stream;
    in.payload.offset = rest.offset;
  }
  if (frame.telemetry) [[unlikely]] {
    telemetry_ = frame.path_telemetry();
    in.telemetry = &telemetry_;
  }
  return engine_.on_packet(frame.at, in);
}

}  // namespace railyard::roce
