#include "dataplane/wire/rewrite.h"

#include <random>

#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

// The IP packet of a frame of the corpus.
Octets packet(std::string_view name) {
  const Octets frame = corpus_frame(name);
  return {frame.begin() + 14, frame.end()};
}

bool checksum_is_right(const Octets& ip) { return internet_checksum({ip.data(), Ipv4::kOctets}) == 0; }

TEST(Rewrite, CeMarkOfVector3) {
  Octets ip = packet("roce_write_only");
  ASSERT_EQ(read<Ipv4::HeaderChecksum>(ip.data()), 0x1409);
  set_ce_v4(ip.data());
  EXPECT_EQ(read<Ipv4::TrafficClass>(ip.data()), 0x6B);
  EXPECT_EQ(read<Ipv4::HeaderChecksum>(ip.data()), 0x1408);
  set_ce_v4(ip.data());  // CE stays, and so does the checksum
  EXPECT_EQ(read<Ipv4::HeaderChecksum>(ip.data()), 0x1408);
}

TEST(Rewrite, CeMarkBorrowsFromAZeroChecksum) {
  Octets ip = packet("roce_write_only");
  write<Ipv4::Identification>(ip.data(), 0x1234 + 0x1409);  // what the checksum loses, another word gains
  write<Ipv4::HeaderChecksum>(ip.data(), 0);
  ASSERT_TRUE(checksum_is_right(ip));
  set_ce_v4(ip.data());
  EXPECT_EQ(read<Ipv4::HeaderChecksum>(ip.data()), 0xFFFE);
  EXPECT_TRUE(checksum_is_right(ip));
}

TEST(Rewrite, WhatARouterChangesLeavesChecksumAndIcrcValid) {
  Octets ip = packet("roce_write_only");
  for (int hop = 64; hop > 0; --hop) {
    ASSERT_EQ(read<Ipv4::TTL>(ip.data()), hop);
    decrement_ttl_v4(ip.data());
    set_dscp_v4(ip.data(), static_cast<std::uint8_t>(hop - 1));
    if (hop == 32) set_ce_v4(ip.data());
    ASSERT_TRUE(checksum_is_right(ip)) << "TTL " << hop;
    ASSERT_TRUE(icrc_matches(ip));
  }
  EXPECT_EQ(read<Ipv4::ECN>(ip.data()), 3);
  EXPECT_EQ(read<Ipv4::DSCP>(ip.data()), 0);
}

TEST(Rewrite, Ipv6) {
  Octets ip = packet("roce_send_only_imm_ipv6");
  decrement_ttl_v6(ip.data());
  set_ce_v6(ip.data());
  EXPECT_EQ(read<Ipv6::HopLimit>(ip.data()), 63);
  EXPECT_EQ(read<Ipv6::TrafficClass>(ip.data()), 0x6B);
  set_dscp_v6(ip.data(), 48);
  EXPECT_EQ(read<Ipv6::TrafficClass>(ip.data()), 0xC3);
  set_traffic_class_v6(ip.data(), 0x02);
  EXPECT_EQ(read<Ipv6::TrafficClass>(ip.data()), 0x02);
  EXPECT_EQ(read<Ipv6::Version>(ip.data()), 6);
  EXPECT_EQ(read<Ipv6::FlowLabel>(ip.data()), 0x12345u);
  EXPECT_TRUE(icrc_matches(ip));
}

TEST(Rewrite, OfAnyHeaderAgreesWithSummingAgain) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    Octets ip(Ipv4::kOctets);
    for (std::byte& octet : ip) octet = static_cast<std::byte>(random() & 0xFF);
    write<Ipv4::Version>(ip.data(), 4);
    write<Ipv4::HeaderChecksum>(ip.data(), 0);
    write<Ipv4::HeaderChecksum>(ip.data(), internet_checksum(ip));
    const std::uint8_t ttl = read<Ipv4::TTL>(ip.data());
    const std::uint8_t tos = read<Ipv4::TrafficClass>(ip.data());

    if (ttl > 0) decrement_ttl_v4(ip.data());
    ASSERT_TRUE(checksum_is_right(ip)) << to_hex(ip);
    set_ce_v4(ip.data());
    ASSERT_TRUE(checksum_is_right(ip)) << to_hex(ip);
    const auto dscp = static_cast<std::uint8_t>(random() % 64);
    set_dscp_v4(ip.data(), dscp);
    ASSERT_TRUE(checksum_is_right(ip)) << to_hex(ip);
    ASSERT_EQ(read<Ipv4::TrafficClass>(ip.data()), dscp << 2 | 3);
    set_traffic_class_v4(ip.data(), tos);
    ASSERT_TRUE(checksum_is_right(ip)) << to_hex(ip);
    ASSERT_EQ(read<Ipv4::TrafficClass>(ip.data()), tos);
  }
}

}  // namespace
}  // namespace railyard::wire
