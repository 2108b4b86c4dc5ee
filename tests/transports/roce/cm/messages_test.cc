// The octets of connection management, against a second opinion: tests/fuzz/make_corpus.py puts every field where the
// tables of roce-and-lossless §6.2 and §6.3 have it.
#include "transports/roce/cm/messages.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "transports/roce/cm/ip_service.h"

namespace railyard::roce::cm {
namespace {

std::vector<std::byte> file(const std::string& name) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/cm_mad/" + name + ".bin", std::ios::binary);
  std::ostringstream read;
  read << in.rdbuf();
  const std::string text = read.str();
  const auto octets = std::as_bytes(std::span(text));
  return {octets.begin(), octets.end()};
}
Datagram message(const std::string& name) {
  const auto octets = file(name);
  const auto datagram = decode(octets);
  EXPECT_TRUE(datagram) << name;
  if (!datagram) return {};
  std::array<std::byte, kMadOctets> again;
  encode(again, *datagram);
  EXPECT_TRUE(std::ranges::equal(again, octets)) << name << " encodes to the same octets";
  return *datagram;
}
constexpr wire::IpAddress kOne(0x0A000001u), kTwo(0x0A000002u);

TEST(CmMessages, AReq) {
  const Datagram d = message("req");
  EXPECT_EQ(d.transaction_id, 0x0102030405060708u);
  const Req& r = std::get<Req>(d.message);
  EXPECT_EQ(r.local_comm_id, 0x11223344u);
  EXPECT_EQ(r.service_id, 0x01061D2Fu);
  EXPECT_EQ(r.local_ca_guid, 0xA1A2A3A4A5A6A7A8u);
  EXPECT_EQ(r.local_q_key, 0x51525354u);
  EXPECT_EQ(r.local_qpn, 0x000118u);
  EXPECT_EQ(r.responder_resources, 7);
  EXPECT_EQ(r.local_eecn, 0x616263u);
  EXPECT_EQ(r.initiator_depth, 9);
  EXPECT_EQ(r.remote_eecn, 0x717273u);
  EXPECT_EQ(r.remote_cm_response_timeout, 20);
  EXPECT_EQ(r.transport, 1);
  EXPECT_TRUE(r.end_to_end_flow_control);
  EXPECT_EQ(r.starting_psn, 0xABCDEFu);
  EXPECT_EQ(r.local_cm_response_timeout, 21);
  EXPECT_EQ(r.retry_count, 6);
  EXPECT_EQ(r.p_key, 0xFFFF);
  EXPECT_EQ(r.path_mtu, 5);
  EXPECT_TRUE(r.rdc_exists);
  EXPECT_EQ(r.rnr_retry_count, 5);
  EXPECT_EQ(r.max_cm_retries, 15);
  EXPECT_TRUE(r.srq);
  EXPECT_EQ(r.extended_transport, 2);
  const PathRecord& p = r.primary;
  EXPECT_EQ(p.local_lid, 0xFFFF);
  EXPECT_EQ(p.remote_lid, 0xFFFE);
  EXPECT_EQ(p.local_gid, kOne);
  EXPECT_EQ(p.remote_gid, kTwo);
  EXPECT_EQ(p.flow_label, 0x12345u);
  EXPECT_EQ(p.packet_rate, 0x2A);
  EXPECT_EQ(p.traffic_class, 0x68);
  EXPECT_EQ(p.hop_limit, 64);
  EXPECT_EQ(p.sl, 3);
  EXPECT_TRUE(p.subnet_local);
  EXPECT_EQ(p.local_ack_timeout, 17);
  EXPECT_EQ(r.alternate, (PathRecord{.local_lid = 0, .remote_lid = 0}));
  const auto ip = read_ip_service(r.private_data.octets.data());
  ASSERT_TRUE(ip);
  EXPECT_EQ(*ip, (IpServiceValues{0xC001, kOne, kTwo}));
  EXPECT_EQ(r.private_data.octets[36], std::byte{'h'});
}

TEST(CmMessages, ARep) {
  const Rep r = std::get<Rep>(message("rep").message);
  EXPECT_EQ(r, (Rep{.local_comm_id = 0x55667788,
                    .remote_comm_id = 0x11223344,
                    .local_q_key = 0x51525354,
                    .local_qpn = 0x0000D2,
                    .local_eecn = 0x616263,
                    .starting_psn = 0x123456,
                    .responder_resources = 9,
                    .initiator_depth = 7,
                    .target_ack_delay = 15,
                    .failover_accepted = 2,
                    .end_to_end_flow_control = true,
                    .rnr_retry_count = 5,
                    .srq = true,
                    .local_ca_guid = 0xA1A2A3A4A5A6A7A8,
                    .private_data = r.private_data}));
  EXPECT_EQ(r.private_data.octets.front(), std::byte{0xE0});
  EXPECT_EQ(r.private_data.octets.back(), std::byte{0xE1});
}

TEST(CmMessages, TheShortOnes) {
  const Rtu rtu = std::get<Rtu>(message("rtu").message);
  EXPECT_EQ(rtu.local_comm_id, 0x11223344u);
  EXPECT_EQ(rtu.remote_comm_id, 0x55667788u);
  EXPECT_EQ(rtu.private_data.octets.back(), std::byte{0xE1});
  EXPECT_EQ(std::get<Dreq>(message("dreq").message).remote_qpn, 0x0000D2u);
  EXPECT_EQ(std::get<Drep>(message("drep").message).private_data.octets.front(), std::byte{0xE0});
  const Mra mra = std::get<Mra>(message("mra").message);
  EXPECT_EQ(mra.message, 1);
  EXPECT_EQ(mra.service_timeout, 19);
  const Rej rej = std::get<Rej>(message("rej").message);
  EXPECT_EQ(rej.message, 1);
  EXPECT_EQ(rej.info_length, 72);
  EXPECT_EQ(static_cast<RejReason>(rej.reason), RejReason::kConsumer);
  EXPECT_EQ(rej.ari.octets.back(), std::byte{0xE1});
  EXPECT_EQ(rej.private_data.octets.front(), std::byte{0xE0});
}

// Offsets behind the MAD header: roce-and-lossless §6.3.
TEST(CmMessages, ThoseOfServiceIdResolution) {
  SidrReq req{.request_id = 0x11223344, .p_key = 0x8001, .service_id = 0x01111C06};
  req.private_data.octets.front() = std::byte{0xE0};
  req.private_data.octets.back() = std::byte{0xE1};
  std::array<std::byte, kMadOctets> octets{};
  encode(octets, {.transaction_id = 7, .message = req});
  EXPECT_EQ(octets[17], std::byte{0x17});
  EXPECT_EQ(octets[24 + 3], std::byte{0x44});
  EXPECT_EQ(octets[24 + 4], std::byte{0x80});
  EXPECT_EQ(octets[24 + 15], std::byte{0x06});
  EXPECT_EQ(octets[24 + 16], std::byte{0xE0});
  EXPECT_EQ(octets.back(), std::byte{0xE1});
  EXPECT_EQ(std::get<SidrReq>(decode(octets)->message), req);
  SidrRep rep{.request_id = 0x11223344,
              .status = 1,
              .info_length = 4,
              .qpn = 0xABCDEF,
              .service_id = 0x01111C06,
              .q_key = 0x01234567};
  rep.info.octets.back() = std::byte{0xE2};
  rep.private_data.octets.back() = std::byte{0xE1};
  encode(octets, {.transaction_id = 7, .message = rep});
  EXPECT_EQ(octets[17], std::byte{0x18});
  EXPECT_EQ(octets[24 + 4], std::byte{1});
  EXPECT_EQ(octets[24 + 5], std::byte{4});
  EXPECT_EQ(octets[24 + 8], std::byte{0xAB});
  EXPECT_EQ(octets[24 + 19], std::byte{0x06});
  EXPECT_EQ(octets[24 + 20], std::byte{0x01});
  EXPECT_EQ(octets[24 + 95], std::byte{0xE2});
  EXPECT_EQ(octets.back(), std::byte{0xE1});
  EXPECT_EQ(std::get<SidrRep>(decode(octets)->message), rep);
}

TEST(CmMessages, WhatIsNoneIsDroppedForAReason) {
  const auto good = file("rtu");
  const auto reason = [&](std::size_t octet, unsigned value) {
    auto bad = good;
    bad[octet] = static_cast<std::byte>(value);
    return std::string(name(decode(bad).error()));
  };
  EXPECT_EQ(reason(0, 2), "version");
  EXPECT_EQ(reason(1, 0x03), "class");
  EXPECT_EQ(reason(2, 1), "version");
  EXPECT_EQ(reason(3, 0x83), "method");
  EXPECT_EQ(reason(4, 1), "status");
  EXPECT_EQ(reason(17, 0x19), "attribute");  // LAP
  EXPECT_EQ(reason(17, 0x0F), "attribute");
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_EQ(decode(std::span(good).first(n)).error(), Malformed::kLength);
  auto more = good;
  more.push_back({});
  EXPECT_EQ(decode(more).error(), Malformed::kLength);
}

TEST(IpService, AddressesOfBothFamilies) {
  std::array<std::byte, IpServiceHeader::kOctets> octets;
  write_ip_service(octets.data(), {.source_port = 0x1234, .source = kOne, .destination = kTwo});
  EXPECT_EQ(octets[1], std::byte{0x40});
  EXPECT_EQ(octets[14], std::byte{0}) << "not a mapped address";
  EXPECT_EQ(octets[16], std::byte{10});
  const IpServiceValues six{.source_port = 1,
                            .source = *wire::IpAddress::parse("2001:db8::1"),
                            .destination = *wire::IpAddress::parse("2001:db8::2")};
  write_ip_service(octets.data(), six);
  EXPECT_EQ(octets[1], std::byte{0x60});
  EXPECT_EQ(read_ip_service(octets.data()), six);
  octets[1] = std::byte{0x50};
  EXPECT_EQ(read_ip_service(octets.data()), std::nullopt);
  EXPECT_EQ(service_id(PortSpace::kTcp, 7471), 0x0000000001061D2Fu);
  EXPECT_EQ(service_id(PortSpace::kUdp, 1), 0x0000000001110001u);
}

}  // namespace
}  // namespace railyard::roce::cm
