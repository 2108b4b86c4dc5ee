#include "dataplane/wire/checksum.h"

#include <random>

#include <gtest/gtest.h>

#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

// One word after the other, as RFC 1071 §1 puts it.
std::uint16_t checksum_by_words(const Octets& octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    const auto low = i + 1 < octets.size() ? static_cast<unsigned>(octets[i + 1]) : 0u;
    sum += static_cast<unsigned>(octets[i]) << 8 | low;
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

TEST(Checksum, TheExampleOfRfc1071) {
  // §3: the words 0001 F203 F4F5 F6F7 sum up to DDF2.
  EXPECT_EQ(internet_checksum(hex("0001 f203 f4f5 f6f7")), 0xFFFF - 0xDDF2);
  EXPECT_EQ(internet_checksum({}), 0xFFFF);
}

TEST(Checksum, OverOctetsWithTheRightChecksumIsZero) {
  const Octets frame = corpus_frame("roce_cnp_connectx4");
  EXPECT_EQ(internet_checksum({frame.data() + 14, 20}), 0);
}

TEST(Checksum, OfAnIpv4HeaderIsRightOrNot) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::array<std::byte, 20> ip{};
    for (std::byte& octet : ip) octet = static_cast<std::byte>(i < 10 ? (i % 2 == 0 ? 0 : 0xFF) : random() & 0xFF);
    ip[10] = ip[11] = std::byte{0};
    const std::uint16_t right = internet_checksum(ip);
    ip[10] = static_cast<std::byte>(right >> 8);
    ip[11] = static_cast<std::byte>(right & 0xFF);
    EXPECT_TRUE(has_right_checksum(ip));
    const std::size_t bit = random() % 160;
    ip[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(has_right_checksum(ip), internet_checksum(ip) == 0);
    EXPECT_FALSE(has_right_checksum(ip)) << "a bit more or less changes the sum";
  }
}

TEST(Checksum, OfAnyLengthAndInAnyEvenPieces) {
  std::mt19937 random(1);
  for (std::size_t n = 0; n < 200; ++n) {
    Octets octets(n);
    for (std::byte& octet : octets) octet = static_cast<std::byte>(random() % 3 == 0 ? 0xFF : random() & 0xFF);
    ASSERT_EQ(internet_checksum(octets), checksum_by_words(octets)) << n;
    const std::size_t cut = random() % (n + 1) & ~std::size_t{1};
    ASSERT_EQ(InternetChecksum().add(std::span(octets).first(cut)).add(std::span(octets).subspan(cut)).value(),
              checksum_by_words(octets));
  }
}

TEST(Checksum, OfManyOnesDoesNotOverflow) {
  const Octets ones(65535 - 1, std::byte{0xFF});
  EXPECT_EQ(internet_checksum(ones), 0);
}

TEST(ChecksumUpdate, TheExampleOfRfc1624) {
  // §4: HC = DD2F, m = 5555, m' = 3285 gives 0000; eqn. 2 of RFC 1141 would give FFFF.
  EXPECT_EQ(updated_checksum(0xDD2F, 0x5555, 0x3285), 0x0000);
}

TEST(ChecksumUpdate, CeMark) {
  EXPECT_EQ(updated_checksum(0x1409, 0x456A, 0x456B), 0x1408);
  EXPECT_EQ(updated_checksum(0x0000, 0x456A, 0x456B), 0xFFFE);
}

TEST(ChecksumUpdate, AgreesWithSummingAgain) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    Octets words(6);
    for (std::byte& octet : words) octet = static_cast<std::byte>(random() & 0xFF);
    words[0] |= std::byte{0x40};  // not all zero, as in any IP header: there FFFF and 0000 differ
    const auto before = internet_checksum(words);
    const auto m = read<Field<16, 16>>(words.data());
    const auto m_new = static_cast<std::uint16_t>(random() & 0xFFFF);
    write<Field<16, 16>>(words.data(), m_new);
    const auto after = updated_checksum(before, m, m_new);
    write<Field<32, 16>>(words.data(), read<Field<32, 16>>(words.data()));
    ASSERT_EQ(after, internet_checksum(words));
  }
}

TEST(TransportChecksum, IsRightInEveryFrameOfTheCorpus) {
  for (const char* name : {"ipv4_udp", "ipv6_udp", "ipv4_tcp", "ipv4_tcp_options", "ipv6_tcp", "ipv6_hop_by_hop_udp",
                           "icmpv6_echo_request", "neighbour_solicitation", "roce_uc_send_only"}) {
    Octets frame = corpus_frame(name);
    const FrameView view = parse_frame(frame).value();
    const auto segment = std::span(frame).subspan(view.l4_offset);
    EXPECT_EQ(transport_checksum(view.source, view.destination, view.protocol, segment), 0) << name;
    frame.back() ^= std::byte{1};
    EXPECT_NE(transport_checksum(view.source, view.destination, view.protocol, segment), 0) << name;
  }
}

TEST(TransportChecksum, IsMadeAsTheCorpusHasIt) {
  Octets frame = corpus_frame("ipv4_udp");
  FrameView view = parse_frame(frame).value();
  const std::uint16_t udp = read<Udp::Checksum>(frame.data() + view.l4_offset);
  write<Udp::Checksum>(frame.data() + view.l4_offset, 0);
  EXPECT_EQ(udp_checksum(view.source, view.destination, std::span(frame).subspan(view.l4_offset)), udp);

  frame = corpus_frame("ipv6_tcp");
  view = parse_frame(frame).value();
  const std::uint16_t tcp = read<Tcp::Checksum>(frame.data() + view.l4_offset);
  write<Tcp::Checksum>(frame.data() + view.l4_offset, 0);
  EXPECT_EQ(transport_checksum(view.source, view.destination, view.protocol, std::span(frame).subspan(view.l4_offset)),
            tcp);
}

TEST(TransportChecksum, OfUdpIsNeverZero) {
  // A payload word that brings the sum to FFFF.
  Octets datagram = hex("0001 0002 000a 0000 0000");
  const IpAddress a(0x0A000001u);
  const IpAddress b(0x0A000002u);
  write<Field<64, 16>>(datagram.data(), transport_checksum(a, b, ip_protocol::kUdp, datagram));
  ASSERT_EQ(transport_checksum(a, b, ip_protocol::kUdp, datagram), 0);
  EXPECT_EQ(udp_checksum(a, b, datagram), 0xFFFF);
}

}  // namespace
}  // namespace railyard::wire
