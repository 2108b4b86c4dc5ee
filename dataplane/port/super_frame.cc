#include "dataplane/port/super_frame.h"

#include <algorithm>
#include <cstring>

#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"

namespace railyard {

using namespace wire;

bool SuperFrame::start(std::span<const std::byte> frame, const OffloadHeader& offload) noexcept {
  frame_ = {};
  next_ = 0;
  const auto view = parse_frame(frame);
  const unsigned type = offload.gso_type & ~unsigned{OffloadHeader::kGsoEcn};
  if (!view || view->l4_offset == 0 || view->l4_offset != offload.csum_start || offload.gso_size == 0) return false;
  tcp_ = type == OffloadHeader::kGsoTcpV4 || type == OffloadHeader::kGsoTcpV6;
  if (!tcp_ && type != OffloadHeader::kGsoUdp) return false;
  if (view->protocol != (tcp_ ? ip_protocol::kTcp : ip_protocol::kUdp)) return false;
  l3_ = view->l3_offset;
  l4_ = view->l4_offset;
  ipv4_ = view->kind == FrameKind::kIpv4;
  headers_ = l4_ + (tcp_ ? std::size_t{read<Tcp::DataOffset>(frame.data() + l4_)} * 4 : Udp::kOctets);
  if (headers_ >= frame.size()) return false;
  segment_ = offload.gso_size;
  frame_ = frame;
  next_ = headers_;
  return true;
}

std::size_t SuperFrame::cut(std::byte* room) noexcept {
  const std::size_t payload = std::min(segment_, frame_.size() - next_);
  const std::size_t octets = headers_ + payload;
  const bool first = next_ == headers_;
  const bool last = next_ + payload == frame_.size();
  std::memcpy(room, frame_.data(), headers_);
  std::memcpy(room + headers_, frame_.data() + next_, payload);

  std::byte* const ip = room + l3_;
  IpAddress source;
  IpAddress destination;
  if (ipv4_) {
    write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(octets - l3_));
    const std::size_t number = (next_ - headers_) / segment_;
    write<Ipv4::Identification>(ip, static_cast<std::uint16_t>(read<Ipv4::Identification>(ip) + number));
    write<Ipv4::HeaderChecksum>(ip, 0);
    write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, std::size_t{read<Ipv4::IHL>(ip)} * 4}));
    source = IpAddress(read<Ipv4::Source>(ip));
    destination = IpAddress(read<Ipv4::Destination>(ip));
  } else {
    write<Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(octets - l3_ - Ipv6::kOctets));
    source = read<Ipv6::Source>(ip);
    destination = read<Ipv6::Destination>(ip);
  }

  std::byte* const l4 = room + l4_;
  const std::span<const std::byte> segment(l4, octets - l4_);
  if (tcp_) {
    constexpr unsigned kFin = 0x01;  // RFC 9293 §3.1
    constexpr unsigned kPsh = 0x08;
    constexpr unsigned kCwr = 0x80;
    unsigned flags = read<Tcp::Flags>(l4);
    if (!first) flags &= ~kCwr;
    if (!last) flags &= ~(kFin | kPsh);
    write<Tcp::Flags>(l4, static_cast<std::uint8_t>(flags));
    write<Tcp::SequenceNumber>(l4, read<Tcp::SequenceNumber>(l4) + static_cast<std::uint32_t>(next_ - headers_));
    write<Tcp::Checksum>(l4, 0);
    write<Tcp::Checksum>(l4, transport_checksum(source, destination, ip_protocol::kTcp, segment));
  } else {
    write<Udp::Length>(l4, static_cast<std::uint16_t>(segment.size()));
    write<Udp::Checksum>(l4, 0);
    write<Udp::Checksum>(l4, udp_checksum(source, destination, segment));
  }
  next_ += payload;
  return octets;
}

}  // namespace railyard
