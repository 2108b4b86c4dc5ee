#include "dataplane/wire/nd.h"

#include <array>

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kHost1{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kRouter{{2, 0, 0, 0, 0, 0xFE}};
const IpAddress kIp1 = IpAddress::parse("2001:db8::1").value();
const IpAddress kIp2 = IpAddress::parse("2001:db8::2").value();

std::expected<NeighbourMessage, DropReason> neighbour(std::span<const std::byte> frame) {
  return parse_neighbour(frame, parse_frame(frame).value());
}

// The frame after `change` of it, with the ICMPv6 checksum made right again.
template <class Change>
Octets changed(std::string_view name, Change change) {
  Octets frame = corpus_frame(name);
  change(frame);
  write<Icmpv6::Checksum>(frame.data() + 54, 0);
  const auto ip = frame.data() + 14;
  write<Icmpv6::Checksum>(frame.data() + 54, transport_checksum(read<Ipv6::Source>(ip), read<Ipv6::Destination>(ip),
                                                                ip_protocol::kIcmpv6, std::span(frame).subspan(54)));
  return frame;
}

TEST(NeighbourDiscovery, GroupsOfAnAddress) {
  EXPECT_EQ(to_string(solicited_node(IpAddress::parse("2001:db8::1:2:345:6789").value())), "ff02::1:ff45:6789");
  EXPECT_EQ(to_string(multicast_mac(IpAddress::parse("ff02::1:ff45:6789").value())), "33:33:ff:45:67:89");
}

TEST(NeighbourDiscovery, SolicitationIsWrittenAndReadAsTheCorpusHasIt) {
  const Octets expected = corpus_frame("neighbour_solicitation");
  EXPECT_EQ(neighbour(expected).value(), (NeighbourMessage{.target = kIp2, .link_layer = kHost1}));

  std::array<std::byte, 128> out{};
  const std::size_t n = write_neighbour_solicitation(out, {.destination = {}, .source = kHost1}, kIp1, kIp2);
  // The corpus has a flow label and a traffic class of its own.
  const auto written = std::span(out).first(n);
  ASSERT_EQ(n, expected.size());
  EXPECT_EQ(to_hex(written.first(14)), to_hex(std::span(expected).first(14)));
  EXPECT_EQ(to_hex(written.subspan(18)), to_hex(std::span(expected).subspan(18)));
}

TEST(NeighbourDiscovery, AdvertisementIsRead) {
  EXPECT_EQ(neighbour(corpus_frame("neighbour_advertisement")).value(), (NeighbourMessage{.advertisement = true,
                                                                                          .router = false,
                                                                                          .solicited = true,
                                                                                          .override_cache = true,
                                                                                          .target = kIp1,
                                                                                          .link_layer = kHost1}));
}

TEST(NeighbourDiscovery, SolicitationIsAnsweredToTheOneWhoAsked) {
  const Octets solicitation = corpus_frame("neighbour_solicitation");
  std::array<std::byte, 128> out{};
  const std::size_t n = write_neighbour_advertisement(out, solicitation, parse_frame(solicitation).value(), kRouter);
  const auto frame = std::span(out).first(n);
  EXPECT_EQ(read<Ethernet::Destination>(frame.data()), kHost1);
  EXPECT_EQ(read<Ethernet::Source>(frame.data()), kRouter);
  const FrameView view = parse_frame(frame).value();
  EXPECT_EQ(view.source, kIp2);
  EXPECT_EQ(view.destination, kIp1);
  EXPECT_EQ(view.ttl, 255);
  EXPECT_EQ(neighbour(frame).value(), (NeighbourMessage{.advertisement = true,
                                                        .router = true,
                                                        .solicited = true,
                                                        .override_cache = true,
                                                        .target = kIp2,
                                                        .link_layer = kRouter}));
}

TEST(NeighbourDiscovery, SearchForADuplicateIsAnsweredToAll) {
  Octets solicitation = changed("neighbour_solicitation", [](Octets& frame) {
    frame.resize(14 + 40 + Neighbour::kOctets);  // no option
    write<Ipv6::PayloadLength>(frame.data() + 14, Neighbour::kOctets);
    write<Ipv6::Source>(frame.data() + 14, IpAddress{});
  });
  EXPECT_EQ(neighbour(solicitation).value(), (NeighbourMessage{.target = kIp2, .link_layer = {}}));

  std::array<std::byte, 128> out{};
  const std::size_t n = write_neighbour_advertisement(out, solicitation, parse_frame(solicitation).value(), kRouter);
  const auto frame = std::span(out).first(n);
  EXPECT_EQ(to_string(read<Ethernet::Destination>(frame.data())), "33:33:00:00:00:01");
  EXPECT_EQ(to_string(parse_frame(frame).value().destination), "ff02::1");
  EXPECT_FALSE(neighbour(frame).value().solicited);
}

// RFC 4861 §7.1.
TEST(NeighbourDiscovery, RefusesWhatBreaksTheRules) {
  const auto refused = [](auto change, std::string_view name = "neighbour_solicitation") {
    return neighbour(changed(name, change)).error();
  };
  EXPECT_EQ(refused([](Octets& f) { write<Ipv6::HopLimit>(f.data() + 14, 254); }), DropReason::kNotUnderstood);
  EXPECT_EQ(refused([](Octets& f) { write<Neighbour::Code>(f.data() + 54, 1); }), DropReason::kNotUnderstood);
  EXPECT_EQ(refused([](Octets& f) { write<Neighbour::Target>(f.data() + 54, IpAddress::parse("ff02::1").value()); }),
            DropReason::kNotUnderstood);
  EXPECT_EQ(refused([](Octets& f) { write<Neighbour::Target>(f.data() + 54, IpAddress(0x0A000001u)); }),
            DropReason::kNotUnderstood);
  EXPECT_EQ(refused([](Octets& f) { write<LinkLayerOption::Length>(f.data() + 78, 0); }), DropReason::kBadLength);
  EXPECT_EQ(refused([](Octets& f) { write<LinkLayerOption::Length>(f.data() + 78, 2); }), DropReason::kBadLength);
  EXPECT_EQ(refused([](Octets& f) { write<Ipv6::Source>(f.data() + 14, IpAddress{}); }), DropReason::kNotUnderstood);
  EXPECT_EQ(refused([](Octets& f) { write<Ipv6::Destination>(f.data() + 14, IpAddress::parse("ff02::1").value()); },
                    "neighbour_advertisement"),
            DropReason::kNotUnderstood);
  EXPECT_EQ(neighbour(corpus_frame("icmpv6_echo_request")).error(), DropReason::kNotUnderstood);
  EXPECT_EQ(neighbour(corpus_frame("ipv6_udp")).error(), DropReason::kNotUnderstood);
}

TEST(NeighbourDiscovery, RefusesAWrongChecksum) {
  Octets frame = corpus_frame("neighbour_solicitation");
  frame.back() ^= std::byte{1};
  EXPECT_EQ(neighbour(frame).error(), DropReason::kBadChecksum);
}

TEST(NeighbourDiscovery, RefusesAMessageThatIsCutShort) {
  const Octets frame = corpus_frame("neighbour_solicitation");
  const FrameView view = parse_frame(frame).value();
  for (std::size_t n = view.header_octets; n < frame.size(); ++n) {
    EXPECT_EQ(parse_neighbour(first(frame.data(), n), view).error(), DropReason::kTooShort) << n;
  }
  for (std::size_t message = 8; message < 32; ++message) {
    const Octets cut = changed("neighbour_solicitation", [&](Octets& f) {
      f.resize(54 + message);
      write<Ipv6::PayloadLength>(f.data() + 14, static_cast<std::uint16_t>(message));
    });
    EXPECT_EQ(neighbour(cut).has_value(), message == Neighbour::kOctets) << message;
  }
}

TEST(NeighbourDiscovery, NothingIsWrittenWithoutRoom) {
  std::array<std::byte, 85> out{};
  EXPECT_EQ(write_neighbour_solicitation(out, {.destination = {}, .source = kHost1}, kIp1, kIp2), 0u);
}

}  // namespace
}  // namespace railyard::wire
