#include "dataplane/port/joined_segments.h"

#include <algorithm>
#include <cstring>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/tcp.h"

namespace railyard {
namespace {

using namespace wire;

constexpr std::size_t kL3 = Ethernet::kOctets;  // tagged frames are not joined
constexpr std::size_t kMostIpOctets = 65535;
constexpr unsigned kFin = 0x01;  // RFC 9293 §3.1
constexpr unsigned kPsh = 0x08;
constexpr unsigned kAck = 0x10;
constexpr unsigned kEce = 0x40;

// A TCP segment with payload that may be joined with others, in a packet.
struct Segment {
  const std::byte* frame = nullptr;
  std::size_t l4 = 0;
  std::size_t headers = 0;
  std::size_t payload = 0;
  bool ipv4 = false;

  const std::byte* ip() const noexcept { return frame + kL3; }
  const std::byte* tcp() const noexcept { return frame + l4; }
  unsigned flags() const noexcept { return read<Tcp::Flags>(tcp()); }
  std::uint32_t sequence() const noexcept { return read<Tcp::SequenceNumber>(tcp()); }
  bool ends() const noexcept { return (flags() & (kPsh | kFin)) != 0; }
  IpAddress source() const noexcept { return ipv4 ? IpAddress(read<Ipv4::Source>(ip())) : read<Ipv6::Source>(ip()); }
  IpAddress destination() const noexcept {
    return ipv4 ? IpAddress(read<Ipv4::Destination>(ip())) : read<Ipv6::Destination>(ip());
  }
  InternetChecksum pseudo_header(std::size_t octets) const noexcept {
    return wire::pseudo_header(source(), destination(), ip_protocol::kTcp, static_cast<std::uint32_t>(octets));
  }
};

// False: it is none. Its checksum is not looked at.
bool describe(const Packet& p, Segment& s) noexcept {
  if (p.l3_offset != kL3 || p.has(Packet::kCorrupted)) return false;
  s.frame = p.header();
  const std::size_t octets = p.header_octets + std::size_t{p.payload_octets};
  std::size_t ip_octets = 0;
  if (p.kind == FrameKind::kIpv4) {
    if (octets < kL3 + Ipv4::kOctets + Tcp::kOctets) return false;
    const std::byte* const ip = s.ip();
    if (read<Ipv4::Protocol>(ip) != ip_protocol::kTcp || read<Ipv4::IHL>(ip) != 5 || read<Ipv4::MF>(ip) != 0 ||
        read<Ipv4::FragmentOffset>(ip) != 0)
      return false;
    s.ipv4 = true;
    s.l4 = kL3 + Ipv4::kOctets;
    ip_octets = read<Ipv4::TotalLength>(ip);
  } else if (p.kind == FrameKind::kIpv6) {
    if (octets < kL3 + Ipv6::kOctets + Tcp::kOctets || read<Ipv6::NextHeader>(s.ip()) != ip_protocol::kTcp) return false;
    s.ipv4 = false;
    s.l4 = kL3 + Ipv6::kOctets;
    ip_octets = Ipv6::kOctets + read<Ipv6::PayloadLength>(s.ip());
  } else {
    return false;
  }
  s.headers = s.l4 + std::size_t{read<Tcp::DataOffset>(s.tcp())} * 4;
  if (s.headers < s.l4 + Tcp::kOctets || s.headers >= octets || kL3 + ip_octets != octets) return false;
  s.payload = octets - s.headers;
  return (s.flags() & ~(kPsh | kFin | kEce)) == kAck;
}

bool has_right_checksum(const Segment& s) noexcept {
  const std::size_t octets = s.headers - s.l4 + s.payload;
  return s.pseudo_header(octets).add({s.tcp(), octets}).value() == 0;
}

// Whether all of two headers is equal that must be.
bool same_headers(const Segment& a, const Segment& b) noexcept {
  if (a.l4 != b.l4 || a.headers != b.headers || std::memcmp(a.frame, b.frame, kL3) != 0) return false;
  const auto equal = [&](std::size_t from, std::size_t to) {
    return std::memcmp(a.frame + from, b.frame + from, to - from) == 0;
  };
  constexpr std::size_t kLengthV4 = kL3 + Ipv4::TotalLength::kFirstOctet;
  constexpr std::size_t kFragmentV4 = kL3 + Ipv4::Reserved::kFirstOctet;
  constexpr std::size_t kChecksumV4 = kL3 + Ipv4::HeaderChecksum::kFirstOctet;
  constexpr std::size_t kLengthV6 = kL3 + Ipv6::PayloadLength::kFirstOctet;
  if (a.ipv4 ? !equal(kL3, kLengthV4) || !equal(kFragmentV4, kChecksumV4) || !equal(kChecksumV4 + 2, a.l4)
             : !equal(kL3, kLengthV6) || !equal(kLengthV6 + 2, a.l4))
    return false;
  constexpr std::size_t kSequence = Tcp::SequenceNumber::kFirstOctet;
  constexpr std::size_t kFlags = Tcp::Flags::kFirstOctet;
  constexpr std::size_t kChecksum = Tcp::Checksum::kFirstOctet;
  return equal(a.l4, a.l4 + kSequence) && equal(a.l4 + kSequence + 4, a.l4 + kFlags) &&
         ((a.flags() ^ b.flags()) & ~(kPsh | kFin)) == 0 && equal(a.l4 + kFlags + 1, a.l4 + kChecksum) &&
         equal(a.l4 + kChecksum + 2, a.headers);
}

// Whether `next` is the `number`th behind `first`, `octets` of payload later.
bool continues(const Segment& first, const Segment& next, std::size_t number, std::size_t octets) noexcept {
  if (next.payload > first.payload || next.sequence() != first.sequence() + static_cast<std::uint32_t>(octets) ||
      next.ipv4 != first.ipv4 || !same_headers(first, next))
    return false;
  if (!first.ipv4) return true;
  // As the kernel numbers them if it takes the super-frame apart again.
  const auto distance = static_cast<std::uint16_t>(read<Ipv4::Identification>(next.ip()) - read<Ipv4::Identification>(first.ip()));
  return distance == number;
}

void write_front(const Segment& first, const Segment& last, std::size_t payload, JoinedSegments& out) noexcept {
  OffloadHeader offload{};
  offload.flags = OffloadHeader::kNeedsChecksum;
  offload.gso_type = first.ipv4 ? OffloadHeader::kGsoTcpV4 : OffloadHeader::kGsoTcpV6;
  offload.hdr_len = static_cast<std::uint16_t>(first.headers);
  offload.gso_size = static_cast<std::uint16_t>(first.payload);
  offload.csum_start = static_cast<std::uint16_t>(first.l4);
  offload.csum_offset = Tcp::Checksum::kFirstOctet;
  std::memcpy(out.front.data(), &offload, sizeof offload);
  std::byte* const frame = out.front.data() + sizeof offload;
  std::memcpy(frame, first.frame, first.headers);
  out.front_octets = sizeof offload + first.headers;
  out.left_out = first.headers;

  std::byte* const ip = frame + kL3;
  if (first.ipv4) {
    write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(first.headers - kL3 + payload));
    write<Ipv4::HeaderChecksum>(ip, 0);
    write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
  } else {
    write<Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(first.headers - kL3 - Ipv6::kOctets + payload));
  }
  std::byte* const tcp = frame + first.l4;
  write<Tcp::Flags>(tcp, static_cast<std::uint8_t>(first.flags() | (last.flags() & (kPsh | kFin))));
  // The sum of the pseudo-header, not its complement: the kernel goes on from there.
  const std::uint16_t sum = first.pseudo_header(first.headers - first.l4 + payload).value();
  write<Tcp::Checksum>(tcp, static_cast<std::uint16_t>(~unsigned{sum}));
}

}  // namespace

void join_segments(std::span<Packet* const> packets, JoinedSegments& out) noexcept {
  out.frames = 1;
  out.left_out = 0;
  const Packet& p = *packets.front();
  OffloadHeader nothing_left{};
  nothing_left.hdr_len = p.header_octets;
  std::memcpy(out.front.data(), &nothing_left, sizeof nothing_left);
  out.front_octets = sizeof nothing_left;

  Segment first;
  if (packets.size() < 2 || !describe(p, first) || first.ends()) return;
  Segment last = first;
  std::size_t payload = first.payload;
  const std::size_t most = std::min(packets.size(), JoinedSegments::kMostFrames);
  // Each is checked when it is joined: a receiver must find the wrong checksum of one that is not.
  while (out.frames < most && last.payload == first.payload && !last.ends()) {
    Segment next;
    if (!describe(*packets[out.frames], next) || !continues(first, next, out.frames, payload) ||
        first.headers - kL3 + payload + next.payload > kMostIpOctets)
      break;
    if (out.frames == 1 && !has_right_checksum(first)) return;
    if (!has_right_checksum(next)) break;
    payload += next.payload;
    last = next;
    ++out.frames;
  }
  if (out.frames > 1) write_front(first, last, payload, out);
}

}  // namespace railyard
