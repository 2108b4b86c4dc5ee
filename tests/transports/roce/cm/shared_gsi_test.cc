// QP 1 of a NIC that several processes share.
#include "transports/roce/cm/shared_gsi.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "transports/roce/path.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce::cm {
namespace {

constexpr SharedGsi::Owner kA = 3, kB = 4;
constexpr std::uint32_t kPeersId = 0x12345678;

constexpr wire::MacAddress mac(std::uint8_t n) { return {{2, 0, 0, 0, 0, n}}; }

// From a peer to QP 1 of the NIC. With its ICRC.
std::vector<std::byte> frame_of(const Message& message, std::uint32_t q_key = kGsiQKey) {
  AddressVector av;
  av.source_mac = mac(9);
  av.next_hop_mac = mac(1);
  av.source = wire::IpAddress(0x0A000009u);
  av.destination = wire::IpAddress(0x0A000001u);
  Packet packet;
  packet.bth.opcode = opcode::kUdSendOnly;
  packet.bth.dest_qp = 1;
  packet.deth = {.q_key = q_key, .source_qp = 1};
  packet.payload_octets = kMadOctets;
  std::array<std::byte, kMadOctets> mad;
  encode(std::span(mad), {77, message});
  std::vector<std::byte> frame(600);
  const std::size_t front = Path(av).write(frame.data(), packet.octets());
  frame.resize(front + encode(std::span(frame).subspan(front), packet, mad));
  const std::uint32_t crc = wire::icrc(std::span(frame).subspan(wire::Ethernet::kOctets));
  frame.resize(frame.size() + wire::kIcrcOctets);
  wire::write_crc32(frame.data() + frame.size() - wire::kIcrcOctets, crc);
  return frame;
}
// From the NIC to that peer, as a process writes it: without ICRC.
std::vector<std::byte> frame_to_peer(const Message& message) {
  std::vector<std::byte> frame = frame_of(message);
  frame.resize(frame.size() - wire::kIcrcOctets);
  AddressVector av;
  av.source = wire::IpAddress(0x0A000001u);
  av.destination = wire::IpAddress(0x0A000009u);
  std::array<std::byte, Path::kMostOctets> headers{};
  const std::size_t octets = Path(av).header_octets();
  Path(av).write(headers.data(), frame.size() - octets + wire::kIcrcOctets);
  std::copy_n(headers.begin(), octets, frame.begin());
  return frame;
}
Req request(std::uint16_t port) {
  return {.local_comm_id = kPeersId, .service_id = service_id(PortSpace::kTcp, port)};
}

// What an answer says; it goes back to the peer.
std::optional<Message> answer_in(const SharedGsi::Verdict& verdict, bool to_a_question = true) {
  const auto view = wire::parse_frame(verdict.answer, verdict.answer.size() + wire::kIcrcOctets);
  if (!view) return std::nullopt;
  EXPECT_EQ(view->source, wire::IpAddress(0x0A000001u));
  EXPECT_EQ(view->destination, wire::IpAddress(0x0A000009u));
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(verdict.answer.data()), mac(9));
  EXPECT_EQ(wire::read<wire::Ethernet::Source>(verdict.answer.data()), mac(1));
  EXPECT_EQ(view->destination_qp, 1u);
  const auto datagram = std::span(verdict.answer).subspan(view->l4_offset + std::size_t{wire::Udp::kOctets});
  const auto packet = roce::decode(datagram, datagram.size() + wire::kIcrcOctets);
  if (!packet) return std::nullopt;
  const auto mad = decode(datagram.subspan(packet->header_octets(), kMadOctets));
  if (to_a_question) {
    EXPECT_EQ(mad->transaction_id, 77u);
  }
  return mad->message;
}

class SharedGsiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gsi.join(kA);
    gsi.join(kB);
  }
  SharedGsi::Verdict verdict(const Message& message) { return gsi.for_frame(frame_of(message), false); }

  SharedGsi gsi;
};

TEST_F(SharedGsiTest, ARequestGoesToWhoHasThePort) {
  EXPECT_EQ(gsi.claim(kA, PortSpace::kTcp, 7), 7);
  EXPECT_EQ(gsi.claim(kB, PortSpace::kTcp, 8), 8);
  EXPECT_EQ(gsi.claim(kB, PortSpace::kUdp, 7), 7) << "another port space";
  EXPECT_EQ(verdict(request(7)).owner, kA);
  EXPECT_EQ(verdict(request(8)).owner, kB);
  EXPECT_EQ(verdict(SidrReq{.service_id = service_id(PortSpace::kUdp, 7)}).owner, kB);
}

TEST_F(SharedGsiTest, APortHasOneOwner) {
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
  EXPECT_EQ(gsi.claim(kB, PortSpace::kTcp, 7).error(), SharedGsi::ClaimError::kTaken);
  EXPECT_EQ(gsi.claim(kA, PortSpace::kTcp, 7).error(), SharedGsi::ClaimError::kTaken);
  gsi.release(kB, PortSpace::kTcp, 7);
  EXPECT_EQ(verdict(request(7)).owner, kA) << "it was not B's to give back";
  gsi.release(kA, PortSpace::kTcp, 7);
  EXPECT_TRUE(gsi.claim(kB, PortSpace::kTcp, 7));
  gsi.leave(kB);
  EXPECT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
}

TEST_F(SharedGsiTest, PortsThatNobodyNamesAreDifferentAndRunOut) {
  std::set<std::uint16_t> given;
  for (std::size_t i = 0; i < SharedGsi::kMostPorts; ++i) {
    const auto port = gsi.claim(kA, PortSpace::kTcp, 0);
    ASSERT_TRUE(port);
    EXPECT_GE(*port, SharedGsi::kFirstEphemeralPort);
    EXPECT_LE(*port, SharedGsi::kLastEphemeralPort);
    EXPECT_TRUE(given.insert(*port).second);
  }
  EXPECT_EQ(gsi.claim(kA, PortSpace::kTcp, 0).error(), SharedGsi::ClaimError::kTooMany);
  EXPECT_TRUE(gsi.claim(kB, PortSpace::kTcp, 0)) << "others have theirs";
}

TEST_F(SharedGsiTest, OtherMessagesGoByTheReceiversCommunicationId) {
  const std::uint32_t id = SharedGsi::first_comm_id(kB) + 42;
  for (const Message& m : {Message(Rep{.remote_comm_id = id}), Message(Rtu{.remote_comm_id = id}),
                           Message(Rej{.remote_comm_id = id}), Message(Mra{.remote_comm_id = id}),
                           Message(Dreq{.remote_comm_id = id}), Message(Drep{.remote_comm_id = id}),
                           Message(SidrRep{.request_id = id})})
    EXPECT_EQ(verdict(m).owner, kB) << name(m);
}

TEST_F(SharedGsiTest, WhereNobodyListensThePeerIsTold) {
  const auto rej = answer_in(verdict(request(7)));
  ASSERT_TRUE(rej && std::holds_alternative<Rej>(*rej));
  EXPECT_EQ(std::get<Rej>(*rej).reason, static_cast<std::uint16_t>(RejReason::kInvalidServiceId));
  EXPECT_EQ(std::get<Rej>(*rej).remote_comm_id, kPeersId);
  const auto sidr = answer_in(verdict(SidrReq{.request_id = 5, .service_id = service_id(PortSpace::kUdp, 9)}));
  ASSERT_TRUE(sidr && std::holds_alternative<SidrRep>(*sidr));
  EXPECT_EQ(std::get<SidrRep>(*sidr).request_id, 5u);
  EXPECT_EQ(std::get<SidrRep>(*sidr).status, static_cast<std::uint8_t>(SidrStatus::kUnsupportedServiceId));
}

TEST_F(SharedGsiTest, OfWhoHasGoneThePeerIsTold) {
  const std::uint32_t id = SharedGsi::first_comm_id(kB) + 42;
  gsi.leave(kB);
  const auto drep = answer_in(verdict(Dreq{.local_comm_id = kPeersId, .remote_comm_id = id, .remote_qpn = 3}));
  ASSERT_TRUE(drep && std::holds_alternative<Drep>(*drep));
  EXPECT_EQ(std::get<Drep>(*drep).local_comm_id, id);
  EXPECT_EQ(std::get<Drep>(*drep).remote_comm_id, kPeersId);
  const auto rej = answer_in(verdict(Rep{.local_comm_id = kPeersId, .remote_comm_id = id}));
  ASSERT_TRUE(rej && std::holds_alternative<Rej>(*rej));
  EXPECT_EQ(std::get<Rej>(*rej).message, 1u);
  for (const Message& m : {Message(Rtu{.remote_comm_id = id}), Message(Rej{.remote_comm_id = id}),
                           Message(Drep{.remote_comm_id = id}), Message(SidrRep{.request_id = id})}) {
    EXPECT_TRUE(verdict(m).answer.empty()) << "an answer to " << name(m) << " would be answered";
    EXPECT_FALSE(verdict(m).owner);
  }
}

TEST_F(SharedGsiTest, PeersOfWhoGoesWithoutAWordAreTold) {
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
  const std::uint32_t a = SharedGsi::first_comm_id(kA) + 1;
  const auto went = [&](const Message& m) { EXPECT_TRUE(gsi.may_send(kA, frame_to_peer(m), true)) << name(m); };
  const auto told = [&](SharedGsi::Owner owner) {
    auto frames = gsi.leave(owner);
    gsi.join(owner);
    EXPECT_TRUE(gsi.claim(owner, PortSpace::kTcp, 7));
    return frames;
  };
  Req req = request(7);
  req.local_qpn = 0x99;
  // Asked by a peer: accepted.
  EXPECT_EQ(verdict(req).owner, kA);
  EXPECT_TRUE(told(kA).empty()) << "it had not answered";
  EXPECT_EQ(verdict(req).owner, kA);
  went(Rep{.local_comm_id = a, .remote_comm_id = kPeersId});
  auto frames = told(kA);
  ASSERT_EQ(frames.size(), 1u);
  const auto dreq = std::get<Dreq>(*answer_in({.owner = std::nullopt, .answer = frames[0]}, false));
  EXPECT_EQ(dreq.local_comm_id, a);
  EXPECT_EQ(dreq.remote_comm_id, kPeersId);
  EXPECT_EQ(dreq.remote_qpn, 0x99u);
  // It asked, and was accepted.
  EXPECT_EQ(verdict(Rep{.local_comm_id = kPeersId, .remote_comm_id = a, .local_qpn = 0x77}).owner, kA);
  frames = told(kA);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(std::get<Dreq>(*answer_in({.owner = std::nullopt, .answer = frames[0]}, false)).remote_qpn, 0x77u);
  // What has ended is not told of again.
  for (const bool by_peer : {false, true}) {
    EXPECT_EQ(verdict(Rep{.local_comm_id = kPeersId, .remote_comm_id = a}).owner, kA);
    if (by_peer)
      EXPECT_EQ(verdict(Drep{.local_comm_id = kPeersId, .remote_comm_id = a}).owner, kA);
    else
      went(Drep{.local_comm_id = a, .remote_comm_id = kPeersId});
    EXPECT_TRUE(told(kA).empty());
  }
}

TEST_F(SharedGsiTest, WhatIsNoManagementDatagramIsNobodys) {
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
  auto frame = frame_of(request(7));
  EXPECT_EQ(gsi.for_frame(frame, false).owner, kA);
  EXPECT_FALSE(gsi.for_frame(frame_of(request(7), 1), false).owner) << "another Q_Key";
  for (const std::size_t octets : {0u, 10u, 40u, 61u, 300u}) {
    const auto v = gsi.for_frame(std::span(frame).first(octets), false);
    EXPECT_FALSE(v.owner || !v.answer.empty());
  }
  frame[110] ^= std::byte{1};
  EXPECT_FALSE(gsi.for_frame(frame, false).owner) << "the ICRC is wrong";
  frame.resize(frame.size() - wire::kIcrcOctets);
  EXPECT_EQ(gsi.for_frame(frame, true).owner, kA) << "it is not computed yet";
}

TEST_F(SharedGsiTest, RandomDamageHarmsNobody) {
  RngStream rng({1}, "damage");
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
  const auto whole = frame_of(request(7));
  for (int i = 0; i < 20'000; ++i) {
    auto frame = whole;
    for (int n = 0; n < 4; ++n) frame[rng.next32() % frame.size()] = static_cast<std::byte>(rng.next32());
    frame.resize(rng.next32() % (frame.size() + 1));
    static_cast<void>(gsi.for_frame(frame, (i & 1) != 0));
    static_cast<void>(gsi.may_send(kA, frame, (i & 1) != 0));
  }
}

TEST_F(SharedGsiTest, AProcessSpeaksForItselfAlone) {
  const std::uint32_t a = SharedGsi::first_comm_id(kA) + 1;
  const auto may = [&](SharedGsi::Owner owner, const Message& m) { return gsi.may_send(owner, frame_to_peer(m), true); };
  for (const Message& m :
       {Message(Req{.local_comm_id = a}), Message(Rep{.local_comm_id = a}), Message(Rtu{.local_comm_id = a}),
        Message(Dreq{.local_comm_id = a}), Message(Drep{.local_comm_id = a}), Message(Mra{.local_comm_id = a}),
        Message(Rej{.local_comm_id = a}), Message(SidrReq{.request_id = a})}) {
    EXPECT_TRUE(may(kA, m)) << name(m);
    EXPECT_FALSE(may(kB, m)) << name(m);
  }
  EXPECT_FALSE(gsi.may_send(kA, std::vector<std::byte>(300), false));
}

TEST_F(SharedGsiTest, WhoWasAskedMayAnswerAndNobodyElse) {
  const auto may = [&](SharedGsi::Owner owner, const Message& m) { return gsi.may_send(owner, frame_to_peer(m), true); };
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kTcp, 7));
  ASSERT_TRUE(gsi.claim(kA, PortSpace::kUdp, 9));
  const Rej rej{.remote_comm_id = kPeersId};
  const SidrRep found{.request_id = kPeersId + 1};
  EXPECT_FALSE(may(kA, rej) || may(kA, found)) << "nothing has come";
  EXPECT_EQ(verdict(request(7)).owner, kA);
  EXPECT_EQ(verdict(SidrReq{.request_id = kPeersId + 1, .service_id = service_id(PortSpace::kUdp, 9)}).owner, kA);
  gsi.release(kA, PortSpace::kTcp, 7);  // before the answer is seen here
  gsi.release(kA, PortSpace::kUdp, 9);
  EXPECT_FALSE(may(kB, rej) || may(kB, found));
  EXPECT_TRUE(may(kA, rej) && may(kA, found));
  EXPECT_FALSE(may(kA, rej) || may(kA, found)) << "it has answered";
}

}  // namespace
}  // namespace railyard::roce::cm
