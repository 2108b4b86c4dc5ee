#include "dataplane/wire/icmpv6.h"

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/emit.h"

namespace railyard::wire {
namespace {

const IpAddress kRouter = IpAddress::parse("2001:db8::fe").value();
constexpr LinkHeader kLink{.destination = {{2, 0, 0, 0, 0, 1}}, .source = {{2, 0, 0, 0, 0, 0xFE}}};

// A UDP packet of `ip_octets` from 2001:db8::1 to 2001:db8::2.
Octets udp_frame(std::uint32_t ip_octets) {
  FrameView view = parse_frame(corpus_frame("ipv6_udp")).value();
  view.ip_octets = ip_octets;
  return emit(view);
}

Octets error_about(const Octets& original, const Icmpv6Error& error) {
  Octets out(2000);
  out.resize(write_icmpv6_error(out, kLink, kRouter, error, original, parse_frame(original).value()));
  return out;
}

bool checksum_is_right(const Octets& frame) {
  const FrameView view = parse_frame(frame).value();
  return transport_checksum(view.source, view.destination, view.protocol, std::span(frame).subspan(view.l4_offset)) ==
         0;
}

TEST(Icmpv6, HeadersOfTheCorpus) {
  const Octets echo = corpus_frame("icmpv6_echo_request");
  EXPECT_EQ(read<Icmpv6::Type>(echo.data() + 54), icmpv6_type::kEchoRequest);
  EXPECT_EQ(read<Icmpv6::Identifier>(echo.data() + 54), 7);
  const Octets too_big = corpus_frame("icmpv6_packet_too_big");
  EXPECT_EQ(read<Icmpv6::Type>(too_big.data() + 54), icmpv6_type::kPacketTooBig);
  EXPECT_EQ(read<Icmpv6::Mtu>(too_big.data() + 54), 1500u);
}

TEST(Icmpv6Error, TimeExceededGoesToTheSourceAndQuotesThePacket) {
  const Octets original = udp_frame(100);
  const Octets frame = error_about(original, Icmpv6Error::time_exceeded());
  const FrameView view = parse_frame(frame).value();
  EXPECT_EQ(view.source, kRouter);
  EXPECT_EQ(to_string(view.destination), "2001:db8::1");
  EXPECT_EQ(view.ttl, 64);
  EXPECT_EQ(view.protocol, ip_protocol::kIcmpv6);
  EXPECT_EQ(view.ip_octets, 40u + 8 + 100);
  EXPECT_EQ(read<Icmpv6::Type>(frame.data() + view.l4_offset), icmpv6_type::kTimeExceeded);
  EXPECT_TRUE(checksum_is_right(frame));
  EXPECT_EQ(to_hex(std::span(frame).subspan(view.header_octets)), to_hex(std::span(original).subspan(14)));
}

TEST(Icmpv6Error, PacketTooBigSaysTheMtuAndIsAtMost1280OctetsOfIp) {
  const Octets frame = error_about(udp_frame(9000), Icmpv6Error::packet_too_big(4096));
  const FrameView view = parse_frame(frame).value();
  EXPECT_EQ(view.ip_octets, 1280u);
  EXPECT_EQ(frame.size(), 14u + 1280);
  EXPECT_EQ(read<Icmpv6::Mtu>(frame.data() + view.l4_offset), 4096u);
  EXPECT_TRUE(checksum_is_right(frame));
  EXPECT_EQ(error_about(udp_frame(1232), Icmpv6Error::packet_too_big(4096)).size(), 14u + 1280);
  EXPECT_EQ(error_about(udp_frame(1231), Icmpv6Error::packet_too_big(4096)).size(), 14u + 1279);
}

TEST(Icmpv6Error, IsNotWrittenWithoutRoom) {
  const Octets original = udp_frame(100);
  Octets out(14 + 148 - 1);
  EXPECT_EQ(
      write_icmpv6_error(out, kLink, kRouter, Icmpv6Error::time_exceeded(), original, parse_frame(original).value()),
      0u);
}

// RFC 4443 §2.4(e).
TEST(Icmpv6Error, IsNotReportedAboutErrorsNorToNobodyNorToMany) {
  const auto reported = [](const Octets& about, const Icmpv6Error& error = Icmpv6Error::time_exceeded()) {
    return !error_about(about, error).empty();
  };
  EXPECT_TRUE(reported(corpus_frame("ipv6_udp")));
  EXPECT_TRUE(reported(corpus_frame("icmpv6_echo_request")));
  EXPECT_FALSE(reported(corpus_frame("icmpv6_time_exceeded")));
  EXPECT_FALSE(reported(corpus_frame("icmpv6_packet_too_big")));

  FrameView view = parse_frame(corpus_frame("ipv6_udp")).value();
  view.source = IpAddress{};
  EXPECT_FALSE(reported(emit(view)));

  view = parse_frame(corpus_frame("ipv6_udp")).value();
  view.destination = IpAddress::parse("ff02::1").value();
  EXPECT_FALSE(reported(emit(view)));
  EXPECT_TRUE(reported(emit(view), Icmpv6Error::packet_too_big(1500)));
}

}  // namespace
}  // namespace railyard::wire
