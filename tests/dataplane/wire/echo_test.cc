#include "dataplane/wire/echo.h"

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

bool l4_checksum_is_right(std::span<const std::byte> frame, const FrameView& view) {
  const auto message = frame.subspan(view.l4_offset, view.l3_offset + view.ip_octets - view.l4_offset);
  return view.kind == FrameKind::kIpv4 ? internet_checksum(message) == 0
                                       : transport_checksum(view.source, view.destination, view.protocol, message) == 0;
}

class Echo : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Echo,
                         testing::Values("icmp_echo_request", "icmp_echo_request_tagged", "icmpv6_echo_request"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(Echo, RequestBecomesItsReply) {
  Octets frame = corpus_frame(GetParam());
  if (GetParam() == std::string_view("icmp_echo_request")) {  // as it looks after some hops
    std::byte* const ip = frame.data() + 14;
    write<Ipv4::HeaderChecksum>(ip, updated_checksum(read<Ipv4::HeaderChecksum>(ip), 0x4001, 0x0301));
    write<Ipv4::TTL>(ip, 3);
  }
  const Octets request = frame;
  const FrameView before = parse_frame(request).value();
  ASSERT_TRUE(is_echo_request(request, before));
  make_echo_reply(frame, before);

  const FrameView after = parse_frame(frame).value();  // which checks the IPv4 checksum
  EXPECT_EQ(after.source, before.destination);
  EXPECT_EQ(after.destination, before.source);
  EXPECT_EQ(after.ttl, 64);
  EXPECT_EQ(after.vid, before.vid);
  EXPECT_EQ(read<Ethernet::Destination>(frame.data()), read<Ethernet::Source>(request.data()));
  EXPECT_EQ(read<Ethernet::Source>(frame.data()), read<Ethernet::Destination>(request.data()));
  EXPECT_EQ(read<Icmp::Type>(frame.data() + after.l4_offset),
            after.kind == FrameKind::kIpv4 ? icmp_type::kEchoReply : icmpv6_type::kEchoReply);
  EXPECT_EQ(read<Icmp::Rest>(frame.data() + after.l4_offset), 0x00070001u);  // identifier, sequence number
  EXPECT_TRUE(l4_checksum_is_right(frame, after));
  EXPECT_TRUE(std::ranges::equal(std::span(frame).subspan(after.header_octets),
                                 std::span(request).subspan(before.header_octets)));
  EXPECT_FALSE(is_echo_request(frame, after));
}

TEST_P(Echo, RequestWhosePayloadIsElsewhereIsAnsweredAlike) {
  const Octets request = corpus_frame(GetParam());
  Octets whole = request;
  make_echo_reply(whole, parse_frame(whole).value());
  Octets headers = request;
  const FrameView view = parse_frame(request).value();
  headers.resize(view.header_octets);
  make_echo_reply(headers, parse_frame(headers, request.size()).value());
  EXPECT_EQ(to_hex(headers), to_hex(first(whole.data(), headers.size())));
}

TEST_P(Echo, DamagedRequestMakesADamagedReply) {
  Octets frame = corpus_frame(GetParam());
  frame.back() ^= std::byte{1};
  const FrameView view = parse_frame(frame).value();
  make_echo_reply(frame, view);
  EXPECT_FALSE(l4_checksum_is_right(frame, parse_frame(frame).value()));
}

TEST(EchoRequest, IsNothingElseAndToOneHostOnly) {
  for (const CorpusFrame& frame : read_corpus()) {
    EXPECT_EQ(is_echo_request(frame.octets, parse_frame(frame.octets).value()),
              frame.name.find("echo_request") != std::string::npos)
        << frame.name;
  }
  Octets to_all = corpus_frame("icmp_echo_request");
  write<Ethernet::Destination>(to_all.data(), kBroadcastMac);
  EXPECT_FALSE(is_echo_request(to_all, parse_frame(to_all).value()));
}

}  // namespace
}  // namespace railyard::wire
