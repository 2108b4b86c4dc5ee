#include "dataplane/wire/parse.h"

#include <gtest/gtest.h>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "dataplane/wire/vlan.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/emit.h"

namespace railyard::wire {
namespace {

static_assert(std::is_trivially_copyable_v<FrameView>);

FrameView view_of(std::string_view name) { return parse_frame(corpus_frame(name)).value(); }

// Why the frame is refused after `change` of it. The IPv4 header checksum is made right again.
template <class Change>
DropReason refused(std::string_view name, Change change) {
  Octets frame = corpus_frame(name);
  change(frame);
  if (frame.size() >= 34 && read<Ethernet::EtherType>(frame.data()) == ether_type::kIpv4) {
    std::byte* const ip = frame.data() + 14;
    write<Ipv4::HeaderChecksum>(ip, 0);
    write<Ipv4::HeaderChecksum>(
        ip, internet_checksum({ip, std::min(frame.size() - 14, std::size_t{4} * read<Ipv4::IHL>(ip))}));
  }
  const auto view = parse_frame(frame);
  return view ? DropReason::kCount : view.error();
}
constexpr DropReason kAccepted = DropReason::kCount;

TEST(Parse, RoceOverIpv4) {
  const FrameView view = view_of("roce_write_only");
  EXPECT_EQ(view.kind, FrameKind::kIpv4);
  EXPECT_FALSE(view.tagged);
  EXPECT_EQ(view.l3_offset, 14);
  EXPECT_EQ(view.l4_offset, 34);
  EXPECT_EQ(view.header_octets, 54);
  EXPECT_EQ(view.ip_octets, 68u);
  EXPECT_EQ(view.traffic_class_octet, 0x6A);
  EXPECT_EQ(view.ttl, 64);
  EXPECT_EQ(view.protocol, ip_protocol::kUdp);
  EXPECT_FALSE(view.is_fragment);
  EXPECT_EQ(to_string(view.source), "10.0.0.1");
  EXPECT_EQ(to_string(view.destination), "10.0.0.2");
  EXPECT_EQ(view.source_port, 0xC123);
  EXPECT_EQ(view.destination_port, 4791);
  EXPECT_TRUE(view.has_bth);
  EXPECT_EQ(view.opcode, roce_opcode::kRcWriteOnly);
  EXPECT_EQ(view.destination_qp, 0x12u);
  EXPECT_EQ(view.psn, 0x100u);
}

TEST(Parse, RoceOverIpv6) {
  const FrameView view = view_of("roce_send_only_imm_ipv6");
  EXPECT_EQ(view.kind, FrameKind::kIpv6);
  EXPECT_EQ(view.l4_offset, 54);
  EXPECT_EQ(view.header_octets, 74);
  EXPECT_EQ(view.ip_octets, 76u);
  EXPECT_EQ(view.traffic_class_octet, 0x6A);
  EXPECT_EQ(view.ttl, 64);
  EXPECT_EQ(to_string(view.source), "2001:db8::1");
  EXPECT_EQ(to_string(view.destination), "2001:db8::2");
  EXPECT_TRUE(view.has_bth);
  EXPECT_EQ(view.psn, 0xFFFFFEu);
}

TEST(Parse, OneTagMovesEverythingByFourOctets) {
  FrameView tagged = view_of("roce_ack_tagged");
  EXPECT_TRUE(tagged.tagged);
  EXPECT_EQ(tagged.pcp, 3);
  EXPECT_EQ(tagged.vid, 100);
  EXPECT_EQ(tagged.l3_offset, 18);
  EXPECT_EQ(tagged.header_octets, 58);
  EXPECT_EQ(meaning(tagged).psn, meaning(view_of("roce_ack")).psn);
}

TEST(Parse, ASecondTagIsNotUnderstood) {
  EXPECT_EQ(refused("ipv4_udp_tagged", [](Octets& f) { f.insert(f.begin() + 14, f.begin() + 12, f.begin() + 16); }),
            DropReason::kUnknownEtherType);
  EXPECT_EQ(refused("ipv4_udp", [](Octets& f) { write<Ethernet::EtherType>(f.data(), 0x88A8); }),
            DropReason::kUnknownEtherType);
  EXPECT_EQ(refused("ipv4_udp", [](Octets& f) { write<Ethernet::EtherType>(f.data(), 0x8915); }),  // RoCEv1
            DropReason::kUnknownEtherType);
}

TEST(Parse, Arp) {
  const FrameView view = view_of("arp_request");
  EXPECT_EQ(view.kind, FrameKind::kArp);
  EXPECT_EQ(to_string(view.source), "10.0.0.1");
  EXPECT_EQ(to_string(view.destination), "10.0.0.2");
  EXPECT_EQ(view.header_octets, 42);
  EXPECT_EQ(view.ip_octets, 0u);
  EXPECT_EQ(view.l4_offset, 0);
  EXPECT_EQ(refused("arp_request", [](Octets& f) { write<Arp::HardwareType>(f.data() + 14, 6); }),
            DropReason::kNotUnderstood);
  EXPECT_EQ(refused("arp_request", [](Octets& f) { write<Arp::ProtocolType>(f.data() + 14, 0x86DD); }),
            DropReason::kNotUnderstood);
  EXPECT_EQ(refused("arp_request", [](Octets& f) { write<Arp::HardwareLength>(f.data() + 14, 8); }),
            DropReason::kNotUnderstood);
  EXPECT_EQ(refused("arp_request", [](Octets& f) { write<Arp::ProtocolLength>(f.data() + 14, 16); }),
            DropReason::kNotUnderstood);
}

TEST(Parse, MacControlIsOnlyRecognised) {
  for (const char* name : {"pfc_xoff", "pause_802_3x"}) {
    const FrameView view = view_of(name);
    EXPECT_EQ(view.kind, FrameKind::kMacControl);
    EXPECT_EQ(view.header_octets, 14);
  }
  EXPECT_EQ(refused("ipv4_udp_tagged", [](Octets& f) { write<Vlan::EtherType>(f.data() + 14, 0x8808); }),
            DropReason::kBadMacControl);
}

TEST(Parse, Ipv4HeaderMustAgreeWithItself) {
  const auto with = [](auto change) { return refused("ipv4_udp", change); };
  EXPECT_EQ(with([](Octets&) {}), kAccepted);
  EXPECT_EQ(with([](Octets& f) { write<Ipv4::Version>(f.data() + 14, 6); }), DropReason::kBadVersion);
  EXPECT_EQ(with([](Octets& f) { write<Ipv4::IHL>(f.data() + 14, 4); }), DropReason::kBadHeaderLength);
  EXPECT_EQ(with([](Octets& f) { write<Ipv4::TotalLength>(f.data() + 14, 19); }), DropReason::kBadHeaderLength);
  EXPECT_EQ(with([](Octets& f) { write<Ipv4::TotalLength>(f.data() + 14, 0); }), DropReason::kBadHeaderLength);
  EXPECT_EQ(with([](Octets& f) { write<Ipv4::TotalLength>(f.data() + 14, 61); }), DropReason::kBadLength);
  EXPECT_EQ(with([](Octets& f) { f.push_back({}), write<Ipv4::TotalLength>(f.data() + 14, 61); }), kAccepted);
}

TEST(Parse, EveryWrongBitOfAnIpv4HeaderIsSeen) {
  const Octets original = corpus_frame("ipv4_udp_options");
  for (std::size_t bit = 8 * 14; bit < 8 * (14 + 24); ++bit) {
    Octets frame = original;
    frame[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(parse_frame(frame)) << "bit " << bit;
  }
}

TEST(Parse, Ipv4OptionsAreSkipped) {
  const FrameView view = view_of("ipv4_udp_options");
  EXPECT_EQ(view.l4_offset, 14 + 24);
  EXPECT_EQ(view.destination_port, 5001);
}

TEST(Parse, EthernetPaddingIsNotPartOfThePacket) {
  const Octets frame = corpus_frame("ipv4_udp_padded");
  ASSERT_EQ(frame.size(), 60u);
  EXPECT_EQ(parse_frame(frame).value().ip_octets, 29u);
}

TEST(Parse, FragmentsHaveNoL4) {
  for (const char* name : {"ipv4_first_fragment", "ipv4_last_fragment", "ipv6_first_fragment", "ipv6_last_fragment"}) {
    const FrameView view = view_of(name);
    EXPECT_TRUE(view.is_fragment) << name;
    EXPECT_EQ(view.protocol, ip_protocol::kUdp) << name;
    EXPECT_EQ(view.l4_offset, 0) << name;
    EXPECT_EQ(view.source_port, 0) << name;
    EXPECT_EQ(view.header_octets, view.kind == FrameKind::kIpv4 ? 34 : 62) << name;
  }
  EXPECT_FALSE(view_of("ipv6_atomic_fragment_udp").is_fragment);
  EXPECT_EQ(view_of("ipv6_atomic_fragment_udp").destination_port, 5001);
}

TEST(Parse, Ipv6ExtensionHeadersAreWalked) {
  FrameView view = view_of("ipv6_hop_by_hop_udp");
  EXPECT_EQ(view.protocol, ip_protocol::kUdp);
  EXPECT_EQ(view.l4_offset, 14 + 40 + 16);
  EXPECT_EQ(view.destination_port, 5001);
  view = view_of("ipv6_routing_destination_tcp");
  EXPECT_EQ(view.protocol, ip_protocol::kTcp);
  EXPECT_EQ(view.l4_offset, 14 + 40 + 16);
  EXPECT_EQ(view.destination_port, 80);
  view = view_of("ipv6_no_next_header");
  EXPECT_EQ(view.protocol, ip_protocol::kNoNextHeader);
  EXPECT_EQ(view.l4_offset, 0);
  EXPECT_EQ(view.header_octets, 54);
}

TEST(Parse, Ipv6HeaderMustAgreeWithItself) {
  const auto with = [](auto change) { return refused("ipv6_hop_by_hop_udp", change); };
  EXPECT_EQ(with([](Octets&) {}), kAccepted);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6::Version>(f.data() + 14, 4); }), DropReason::kBadVersion);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6::PayloadLength>(f.data() + 14, 57); }), DropReason::kBadLength);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6::PayloadLength>(f.data() + 14, 0); }), DropReason::kTooShort);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6Extension::HdrExtLen>(f.data() + 54, 255); }), DropReason::kTooShort);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6::Source>(f.data() + 14, IpAddress(0x0A000001u)); }),
            DropReason::kBadVersion);
  EXPECT_EQ(with([](Octets& f) { write<Ipv6::Destination>(f.data() + 14, IpAddress(0x0A000001u)); }),
            DropReason::kBadVersion);
}

TEST(Parse, AnIpv6PacketOfNothingButExtensionHeadersEnds) {
  Octets frame = corpus_frame("ipv6_no_next_header");
  write<Ipv6::NextHeader>(frame.data() + 14, ip_protocol::kHopByHop);
  frame.resize(14 + 40 + 65528);  // each says that another like it follows
  write<Ipv6::PayloadLength>(frame.data() + 14, 65528);
  EXPECT_EQ(parse_frame(frame).error(), DropReason::kTooShort);
}

TEST(Parse, Tcp) {
  const FrameView view = view_of("ipv4_tcp_options");
  EXPECT_EQ(view.protocol, ip_protocol::kTcp);
  EXPECT_EQ(view.source_port, 40000);
  EXPECT_EQ(view.destination_port, 80);
  EXPECT_EQ(view.header_octets, 14 + 20 + 28);
  EXPECT_EQ(refused("ipv4_tcp", [](Octets& f) { write<Tcp::DataOffset>(f.data() + 34, 4); }),
            DropReason::kBadHeaderLength);
  EXPECT_EQ(refused("ipv4_tcp_options", [](Octets& f) { write<Tcp::DataOffset>(f.data() + 34, 8); }),
            DropReason::kBadHeaderLength);
}

TEST(Parse, AUdpLengthBeyondTheIpPacketSaysThatItWasTrimmed) {
  const auto with_length = [](std::uint16_t length) {
    return refused("ipv4_udp", [length](Octets& f) { write<Udp::Length>(f.data() + 34, length); });
  };
  EXPECT_EQ(with_length(40), kAccepted);
  EXPECT_EQ(with_length(41), kAccepted);
  EXPECT_FALSE(view_of("ipv4_udp").trimmed);
  Octets cut = corpus_frame("ipv4_udp");
  write<Udp::Length>(cut.data() + 34, 41);
  EXPECT_TRUE(parse_frame(cut).value().trimmed);
  EXPECT_EQ(with_length(39), kAccepted);  // octets behind the datagram: odd, but every receiver takes it
  EXPECT_EQ(with_length(7), DropReason::kBadLength);
  EXPECT_EQ(with_length(0), DropReason::kBadLength);
}

TEST(Parse, BthOnlyBehindPort4791) {
  EXPECT_FALSE(view_of("ipv4_udp").has_bth);
  EXPECT_EQ(view_of("ipv4_udp").header_octets, 42);
  const auto with = [](auto change) { return refused("roce_ack", change); };
  EXPECT_EQ(with([](Octets& f) { write<Bth::TVer>(f.data() + 42, 1); }), DropReason::kBadVersion);
  EXPECT_EQ(with([](Octets& f) { write<Udp::Length>(f.data() + 34, 19); }), DropReason::kTooShort);
  EXPECT_EQ(with([](Octets& f) { write<Udp::Length>(f.data() + 34, 20); }), kAccepted);
  EXPECT_EQ(with([](Octets& f) { write<Bth::OpCode>(f.data() + 42, 0xFF); }), kAccepted);  // the receiver's business
}

TEST(Parse, TheEntropyOfUetIsInTheSourcePortOrAHeaderOfItsOwn) {
  EXPECT_EQ(view_of("ipv4_udp").uet_entropy, std::nullopt);
  EXPECT_EQ(view_of("ipv4_gre").uet_entropy, std::nullopt);
  Octets over_udp = corpus_frame("ipv4_udp");
  write<Udp::DestinationPort>(over_udp.data() + 34, kUetPort);
  EXPECT_EQ(parse_frame(over_udp).value().uet_entropy, read<Udp::SourcePort>(over_udp.data() + 34));

  Octets native = corpus_frame("ipv4_gre");
  std::byte* const ip = native.data() + 14;
  const std::size_t l4 = 14 + std::size_t{4} * read<Ipv4::IHL>(ip);
  write<Ipv4::Protocol>(ip, ip_protocol::kUetNative);
  write<Ipv4::HeaderChecksum>(ip, 0);
  write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, l4 - 14}));
  ASSERT_GE(native.size(), l4 + UetEntropy::kOctets);
  write<UetEntropy::Entropy>(native.data() + l4, 0x4242);
  EXPECT_EQ(parse_frame(native).value().uet_entropy, 0x4242);
}

TEST(Parse, OtherProtocolsHaveNoL4) {
  const FrameView view = view_of("ipv4_gre");
  EXPECT_EQ(view.protocol, 47);
  EXPECT_EQ(view.l4_offset, 0);
  EXPECT_EQ(view.header_octets, 34);
}

class ParseCorpus : public testing::TestWithParam<CorpusFrame> {};
INSTANTIATE_TEST_SUITE_P(, ParseCorpus, testing::ValuesIn(read_corpus()),
                         [](const auto& frame) { return frame.param.name; });

// Past the parser no offset is out of bounds.
void expect_in_bounds(const FrameView& view, std::size_t octets, std::size_t frame_octets) {
  EXPECT_LE(view.header_octets, octets);
  EXPECT_LE(view.l3_offset, view.header_octets);
  EXPECT_TRUE(view.l4_offset == 0 || (view.l4_offset > view.l3_offset && view.l4_offset < view.header_octets));
  if (view.ip_octets > 0) {
    EXPECT_LE(view.header_octets, view.l3_offset + view.ip_octets);
    EXPECT_LE(view.l3_offset + view.ip_octets, frame_octets);
  }
}

TEST_P(ParseCorpus, IsAccepted) {
  const auto view = parse_frame(GetParam().octets);
  ASSERT_TRUE(view) << name(view.error());
  expect_in_bounds(*view, GetParam().octets.size(), GetParam().octets.size());
}

// roce-and-lossless.md §18 item 5, for every kind of packet. Each cut is a block of its own, so that a sanitizer sees
// the first octet read beyond it.
TEST_P(ParseCorpus, CutAnywhereIsRefusedOrInBounds) {
  const Octets& whole = GetParam().octets;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Octets cut = first(whole.data(), n);
    if (const auto view = parse_frame(cut)) expect_in_bounds(*view, n, n);
  }
}

TEST_P(ParseCorpus, NeedsItsHeadersInOnePieceAndNoMore) {
  const Octets& whole = GetParam().octets;
  const FrameView view = parse_frame(whole).value();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto from_first = parse_frame(first(whole.data(), n), whole.size());
    if (n >= view.header_octets) {
      EXPECT_EQ(from_first, view) << n;
    } else {
      EXPECT_EQ(from_first.error(), DropReason::kTooShort) << n;
    }
  }
}

TEST_P(ParseCorpus, WithAnyOctetChangedIsRefusedOrInBounds) {
  for (std::size_t i = 0; i < GetParam().octets.size(); ++i) {
    for (const unsigned change : {0x01u, 0x10u, 0x80u, 0xFFu}) {
      Octets frame = GetParam().octets;
      frame[i] ^= static_cast<std::byte>(change);
      if (const auto view = parse_frame(frame)) expect_in_bounds(*view, frame.size(), frame.size());
    }
  }
}

TEST_P(ParseCorpus, EmittedAgainSaysTheSame) {
  const FrameView view = parse_frame(GetParam().octets).value();
  const auto again = parse_frame(emit(view));
  ASSERT_TRUE(again) << name(again.error());
  EXPECT_EQ(meaning(*again), meaning(view));
  EXPECT_EQ(emit(*again), emit(view));
}

}  // namespace
}  // namespace railyard::wire
