// Any octets as a frame: what the parser promises, and what the code behind it may rely on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/echo.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/nd.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/rewrite.h"
#include "dataplane/wire/vlan.h"
#include "tests/dataplane/wire/emit.h"
#include "tests/fuzz/expect.h"

using namespace railyard::wire;

namespace {

using Octets = std::vector<std::byte>;
constexpr MacAddress kOwnMac{{2, 0, 0, 0, 0, 0xFE}};

void expect_in_bounds(const FrameView& view, std::size_t octets) {
  FUZZ_EXPECT(view.header_octets <= octets);
  FUZZ_EXPECT(view.l3_offset <= view.header_octets);
  FUZZ_EXPECT(view.l4_offset == 0 || (view.l4_offset > view.l3_offset && view.l4_offset < view.header_octets));
  FUZZ_EXPECT(view.ip_octets == 0 || view.header_octets <= view.l3_offset + view.ip_octets);
  FUZZ_EXPECT(view.l3_offset + view.ip_octets <= octets);
}

// The headers are all that is looked at. Each cut is a block of its own: one octet too far is an error of the
// sanitizer.
void expect_headers_suffice(std::span<const std::byte> frame, const FrameView& view) {
  const Octets headers(frame.begin(), frame.begin() + view.header_octets);
  FUZZ_EXPECT(parse_frame(headers, frame.size()) == view);
  const Octets less(frame.begin(), frame.begin() + view.header_octets - 1);
  const auto refused = parse_frame(less, frame.size());
  FUZZ_EXPECT(!refused && refused.error() == railyard::DropReason::kTooShort);
}

void expect_emitted_again_says_the_same(const FrameView& view) {
  const Octets once = emit(view);
  const auto again = parse_frame(once);
  FUZZ_EXPECT(again.has_value());
  FUZZ_EXPECT(meaning(*again) == meaning(view));
  FUZZ_EXPECT(emit(*again) == once);
}

void expect_rewrites_keep_the_checksum(Octets frame, const FrameView& view) {
  std::byte* const ip = frame.data() + view.l3_offset;
  const bool v4 = view.kind == FrameKind::kIpv4;
  const auto parsed = [&] {  // which verifies the checksum
    const auto now = parse_frame(frame);
    FUZZ_EXPECT(now.has_value());
    return *now;
  };
  if (view.ttl > 0) {
    v4 ? decrement_ttl_v4(ip) : decrement_ttl_v6(ip);
    FUZZ_EXPECT(parsed().ttl == view.ttl - 1);
  }
  v4 ? set_ce_v4(ip) : set_ce_v6(ip);
  FUZZ_EXPECT(parsed().traffic_class_octet == (view.traffic_class_octet | 3));
  v4 ? set_dscp_v4(ip, view.ttl / 4) : set_dscp_v6(ip, view.ttl / 4);
  FUZZ_EXPECT(parsed().traffic_class_octet == (view.ttl / 4 << 2 | 3));
  v4 ? set_traffic_class_v4(ip, view.traffic_class_octet) : set_traffic_class_v6(ip, view.traffic_class_octet);
  FrameView expected = view;
  if (view.ttl > 0) --expected.ttl;
  FUZZ_EXPECT(parsed() == expected);
}

// What a router writes about the frame is a frame.
void expect_answers_are_frames(const Octets& frame, const FrameView& view) {
  Octets out(1500);
  const auto expect_frame = [&out](std::size_t octets) {
    FUZZ_EXPECT(octets == 0 || parse_frame(std::span(out).first(octets)).has_value());
  };
  const LinkHeader link = reply_link(frame, view, kOwnMac);
  if (view.kind == FrameKind::kArp) expect_frame(write_arp_reply(out, frame, view, kOwnMac));
  if (view.kind == FrameKind::kIpv4) {
    expect_frame(write_icmp_error(out, link, IpAddress(0x0A0000FEu), IcmpError::time_exceeded(), frame, view));
    std::vector<std::byte> headers(frame.begin(), frame.begin() + view.header_octets);
    expect_frame(
        write_icmp_error(out, link, IpAddress(0x0A0000FEu), IcmpError::fragmentation_needed(1500), headers, view));
  }
  if (view.kind == FrameKind::kIpv6) {
    expect_frame(write_icmpv6_error(out, link, view.destination, Icmpv6Error::packet_too_big(1500), frame, view));
    const auto neighbour = parse_neighbour(frame, view);
    if (neighbour && !neighbour->advertisement) {
      expect_frame(write_neighbour_advertisement(out, frame, view, kOwnMac));
    }
  }
  if (is_echo_request(frame, view)) {
    Octets reply = frame;
    make_echo_reply(reply, view);
    const auto back = parse_frame(reply);
    FUZZ_EXPECT(back && back->source == view.destination && back->destination == view.source && back->ttl == 64);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// As libFuzzer mutates, but three times in four the IPv4 header checksum is made right again: it would keep nearly
// every mutant out.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  const auto frame = std::as_writable_bytes(std::span(data, size));
  std::size_t at = Ethernet::kOctets;
  if (size < at + Vlan::kOctets || seed % 4 == 0) return size;
  std::uint16_t type = read<Ethernet::EtherType>(frame.data());
  if (type == ether_type::kVlan) {
    type = read<Vlan::EtherType>(frame.data() + at);
    at += Vlan::kOctets;
  }
  if (type != ether_type::kIpv4 || size < at + Ipv4::kOctets) return size;
  const std::size_t octets = std::size_t{4} * read<Ipv4::IHL>(frame.data() + at);
  if (octets < Ipv4::kOctets || size < at + octets) return size;
  write<Ipv4::HeaderChecksum>(frame.data() + at, 0);
  write<Ipv4::HeaderChecksum>(frame.data() + at, internet_checksum(frame.subspan(at, octets)));
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto octets = std::as_bytes(std::span(data, size));
  const Octets frame(octets.begin(), octets.end());
  if (icrc_matches(frame)) FUZZ_EXPECT(size >= 44);  // not only behind the parser
  const auto view = parse_frame(octets);
  if (!view) return 0;
  expect_in_bounds(*view, size);
  expect_headers_suffice(octets, *view);
  expect_emitted_again_says_the_same(*view);
  expect_answers_are_frames(frame, *view);
  if (view->ip_octets > 0) {
    expect_rewrites_keep_the_checksum(frame, *view);
    (void)icrc_matches(octets.subspan(view->l3_offset, view->ip_octets));
  }
  return 0;
}
