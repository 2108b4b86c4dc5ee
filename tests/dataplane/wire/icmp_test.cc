#include "dataplane/wire/icmp.h"

#include <array>

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/emit.h"

namespace railyard::wire {
namespace {

constexpr IpAddress kRouter(0x0A0000FEu);
constexpr LinkHeader kLink{.destination = {{2, 0, 0, 0, 0, 1}}, .source = {{2, 0, 0, 0, 0, 0xFE}}};

// A UDP packet of `ip_octets` from 10.0.0.1 to 10.0.0.2.
Octets udp_frame(std::uint32_t ip_octets) {
  FrameView view = parse_frame(corpus_frame("ipv4_udp")).value();
  view.ip_octets = ip_octets;
  return emit(view);
}

Octets error_about(const Octets& original, const IcmpError& error, const LinkHeader& link = kLink) {
  Octets out(2000);
  out.resize(write_icmp_error(out, link, kRouter, error, original, parse_frame(original).value()));
  return out;
}

TEST(Icmp, HeadersOfTheCorpus) {
  const Octets echo = corpus_frame("icmp_echo_request");
  EXPECT_EQ(read<Icmp::Type>(echo.data() + 34), icmp_type::kEchoRequest);
  EXPECT_EQ(read<Icmp::Identifier>(echo.data() + 34), 7);
  EXPECT_EQ(read<Icmp::SequenceNumber>(echo.data() + 34), 1);
  const Octets needed = corpus_frame("icmp_fragmentation_needed");
  EXPECT_EQ(read<Icmp::Code>(needed.data() + 34), icmp_unreachable::kFragmentationNeeded);
  EXPECT_EQ(read<Icmp::NextHopMtu>(needed.data() + 34), 1500);
}

TEST(IcmpError, TimeExceededGoesToTheSourceAndQuotesThePacket) {
  const Octets original = udp_frame(60);
  const Octets frame = error_about(original, IcmpError::time_exceeded());
  const FrameView view = parse_frame(frame).value();
  EXPECT_EQ(view.source, kRouter);
  EXPECT_EQ(to_string(view.destination), "10.0.0.1");
  EXPECT_EQ(view.ttl, 64);
  EXPECT_EQ(view.traffic_class_octet, 0xC0);
  EXPECT_EQ(view.protocol, ip_protocol::kIcmp);
  EXPECT_EQ(view.ip_octets, 20u + 8 + 60);
  EXPECT_EQ(frame.size(), 14u + view.ip_octets);
  const std::byte* const icmp = frame.data() + view.l4_offset;
  EXPECT_EQ(read<Icmp::Type>(icmp), icmp_type::kTimeExceeded);
  EXPECT_EQ(read<Icmp::Code>(icmp), 0);
  EXPECT_EQ(internet_checksum(std::span(frame).subspan(view.l4_offset)), 0);
  EXPECT_EQ(to_hex(std::span(frame).subspan(view.header_octets)), to_hex(std::span(original).subspan(14)));
}

TEST(IcmpError, FragmentationNeededSaysTheMtu) {
  const Octets frame = error_about(udp_frame(1500), IcmpError::fragmentation_needed(1024));
  const FrameView view = parse_frame(frame).value();
  const std::byte* const icmp = frame.data() + view.l4_offset;
  EXPECT_EQ(read<Icmp::Type>(icmp), icmp_type::kDestinationUnreachable);
  EXPECT_EQ(read<Icmp::Code>(icmp), icmp_unreachable::kFragmentationNeeded);
  EXPECT_EQ(read<Icmp::NextHopMtu>(icmp), 1024);
  EXPECT_EQ(internet_checksum(std::span(frame).subspan(view.l4_offset)), 0);
}

TEST(IcmpError, IsAtMost576OctetsOfIp) {
  EXPECT_EQ(error_about(udp_frame(548), IcmpError::time_exceeded()).size(), 14u + 576);
  EXPECT_EQ(error_about(udp_frame(549), IcmpError::time_exceeded()).size(), 14u + 576);
  EXPECT_EQ(error_about(udp_frame(9000), IcmpError::time_exceeded()).size(), 14u + 576);
}

TEST(IcmpError, QuotesNeitherEthernetPaddingNorWhatLiesElsewhere) {
  const Octets padded = corpus_frame("ipv4_udp_padded");
  EXPECT_EQ(error_about(padded, IcmpError::time_exceeded()).size(), 14u + 20 + 8 + 29);

  const Octets original = udp_frame(1500);
  const FrameView view = parse_frame(std::span(original).first(42), original.size()).value();
  Octets out(2000);
  EXPECT_EQ(write_icmp_error(out, kLink, kRouter, IcmpError::time_exceeded(), std::span(original).first(42), view),
            14u + 20 + 8 + 28);
}

TEST(IcmpError, MayBeTagged) {
  LinkHeader link = kLink;
  link.tagged = true;
  link.vid = 100;
  const Octets frame = error_about(udp_frame(60), IcmpError::time_exceeded(), link);
  EXPECT_EQ(frame.size(), 18u + 88);
  EXPECT_EQ(parse_frame(frame).value().vid, 100);
}

TEST(IcmpError, IsNotWrittenWithoutRoom) {
  const Octets original = udp_frame(60);
  const FrameView view = parse_frame(original).value();
  Octets out(14 + 88 - 1);
  EXPECT_EQ(write_icmp_error(out, kLink, kRouter, IcmpError::time_exceeded(), original, view), 0u);
}

// RFC 1812 §4.3.2.7.
TEST(IcmpError, IsNotReportedAboutErrorsFragmentsAndGroups) {
  const auto reported = [](const Octets& about) { return !error_about(about, IcmpError::time_exceeded()).empty(); };
  EXPECT_TRUE(reported(corpus_frame("ipv4_udp")));
  EXPECT_TRUE(reported(corpus_frame("icmp_echo_request")));
  EXPECT_TRUE(reported(corpus_frame("ipv4_first_fragment")));
  EXPECT_FALSE(reported(corpus_frame("ipv4_last_fragment")));
  EXPECT_FALSE(reported(corpus_frame("icmp_time_exceeded")));
  EXPECT_FALSE(reported(corpus_frame("icmp_fragmentation_needed")));

  Octets broadcast = corpus_frame("ipv4_udp");
  write<Ethernet::Destination>(broadcast.data(), kBroadcastMac);
  EXPECT_FALSE(reported(broadcast));

  const auto reported_between = [&](std::uint32_t source, std::uint32_t destination) {
    FrameView view = parse_frame(corpus_frame("ipv4_udp")).value();
    view.source = IpAddress(source);
    view.destination = IpAddress(destination);
    return reported(emit(view));
  };
  EXPECT_TRUE(reported_between(0x0A000001, 0x0A000002));
  EXPECT_FALSE(reported_between(0x0A000001, 0xE0000001));
  EXPECT_FALSE(reported_between(0x0A000001, 0xFFFFFFFF));
  EXPECT_FALSE(reported_between(0x00000000, 0x0A000002));
  EXPECT_FALSE(reported_between(0x7F000001, 0x0A000002));
  EXPECT_FALSE(reported_between(0xE0000001, 0x0A000002));
  EXPECT_FALSE(reported_between(0xFFFFFFFF, 0x0A000002));
}

}  // namespace
}  // namespace railyard::wire
